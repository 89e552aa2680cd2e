import { basename } from 'node:path';
import { errorIssue, hasErrors, Issue, warningIssue } from '../../base/issue.ts';
import { cmd, msg } from '../../base/message.ts';
import { asFoundDigest } from '../../find/as-found.ts';
import type { FindElements } from '../../find/fields.ts';
import type { Find } from '../../find/find.ts';
import { NEW_PERSON } from '../../find/resolve-reference.ts';
import { NOT_HARVESTED } from '../../find/rule.ts';
import type { ValidatedFind } from '../../find/validate-find.ts';
import { sha512Of } from '../../http/digest.ts';
import {
  addImport,
  entriesOfFind,
  type ImportContent,
  importOfFind,
  isDropped,
  replaceImport,
  type Target,
} from '../../outbox/entries.ts';
import type { ImportEntry, PhotoEntry } from '../../outbox/entry.ts';
import { latestNumber } from '../../outbox/numbers.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findByLocalId, insertFind, type StoredElements, type StoredFind, updateFind } from '../../outbox/stored-finds.ts';
import { STATE_WORDS } from '../finds/entry-words.ts';
import { addOrReplacePhoto, photographsLike, replaceCounterpart } from './enqueue-change.ts';
import type { Kept, PhotographKeeping } from './kept-photographs.ts';

export type EnqueueContext = PhotographKeeping & {
  readonly outbox: Outbox;
  readonly validate: (find: Find) => ValidatedFind;
  /** Say what would happen, and change nothing. */
  readonly dryRun: boolean;
  readonly onProgress?: (done: number) => void;
  /** Takes what is wrong in place of the report. */
  readonly onIssue?: (issue: Issue) => void;
};

export type Enqueued = {
  readonly find: string;
  /** `kept`: nothing new. `sent`: the table differs from what was sent, which stays as it is. */
  readonly change: 'added' | 'updated' | 'kept' | 'sent';
  /** Complete for its target state, and so queued for sending. */
  readonly ready: boolean;
  readonly photosAdded: number;
};

export type EnqueueReport = {
  readonly finds: readonly Enqueued[];
  /** Without those that a vocabulary was not harvested: a table has more of them than rows. */
  readonly issues: readonly Issue[];
  /** How many identifiers could not be checked for that. */
  readonly unchecked: number;
};

/** Finds committed together: enough to be quick, and few enough that a push beside it does not wait for long. */
const BATCH = 200;

/**
 * Finds → documents → validated → outbox rows. Idempotent by local id: a find that is there and the same is kept, one
 * that was not sent yet is replaced, one that was sent is never changed. Finds are taken as they are needed, so that they
 * need not all be held.
 */
export async function enqueueFinds(finds: Iterable<Find>, context: EnqueueContext): Promise<EnqueueReport> {
  const report: { finds: Enqueued[]; issues: Issue[]; unchecked: number } = { finds: [], issues: [], unchecked: 0 };
  const { onIssue = (issue) => report.issues.push(issue) } = context;
  for (const batch of batchesOf(finds)) {
    const prepared: PreparedFind[] = [];
    for (const find of batch) prepared.push(await prepare(find, context));
    context.outbox.change(() => {
      for (const each of prepared) {
        const { enqueued, issues } = store(each, context);
        report.finds.push(enqueued);
        for (const issue of issues) {
          if (issue.rule === NOT_HARVESTED) report.unchecked += 1;
          else onIssue(issue);
        }
      }
    });
    context.onProgress?.(report.finds.length);
  }
  return report;
}

function* batchesOf(finds: Iterable<Find>): Generator<readonly Find[]> {
  let batch: Find[] = [];
  for (const find of finds) {
    batch.push(find);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

type PreparedFind = {
  readonly find: Find;
  readonly content: ImportContent;
  readonly photographs: readonly Kept[];
  readonly issues: readonly Issue[];
};

async function prepare(find: Find, context: EnqueueContext): Promise<PreparedFind> {
  const validated = context.validate(find);
  const photographs: Kept[] = [];
  const photoIssues: Issue[] = [];
  for (const path of find.photos) {
    const { photograph, issues } = await context.inspectPhotograph(path);
    photoIssues.push(...issues.map((issue) => issue.with({ find: find.localId, ...find.source })));
    if (photograph === undefined || hasErrors(issues)) continue;
    photographs.push(
      context.dryRun
        ? {
            ...photograph,
            name: path,
            mediaType: photograph.mimeType,
            sha512: Buffer.from(photograph.sha512Hex, 'hex'),
            sizeBytes: photograph.sizeBytes,
          }
        : await context.keepPhotograph(photograph),
    );
  }
  return { find, content: contentOf(find, validated), photographs, issues: [...validated.issues, ...photoIssues] };
}

/** The find layer's view of a stored find. Its photographs are entries of their own by now. */
export function asFind(stored: StoredFind): Find {
  return {
    localId: stored.localId,
    elements: stored.elements as FindElements,
    photos: [],
    ...(stored.sourceFile === null || stored.sourceRow === null
      ? {}
      : { source: { file: stored.sourceFile, row: stored.sourceRow } }),
  };
}

/** A find with errors is a draft: it is kept, and has no document that could be sent. */
export function contentOf(find: Find, { document, issues }: ValidatedFind): ImportContent {
  const sendable = !hasErrors(issues);
  return {
    document: sendable ? document : null,
    documentSha512: sendable ? sha512Of(document) : null,
    digest: sendable ? asFoundDigest(find.elements, 'full') : null,
    project: find.elements.projekt?.id ?? null,
    issues,
  };
}

function store(prepared: PreparedFind, context: EnqueueContext): { enqueued: Enqueued; issues: readonly Issue[] } {
  const { find, content } = prepared;
  const stored = findByLocalId(context.outbox, find.localId);
  const entry = stored === undefined ? undefined : importOfFind(context.outbox, stored.id);
  const isGivenUp = stored !== undefined && (stored.isHidden || isDropped(context.outbox, stored.id));
  const wanted = isGivenUp ? 'kept' : changeOf(prepared, context, stored, entry);
  const otherWalk = wanted === 'updated' ? sourceOfNamesake(find, stored) : undefined;
  const change = otherWalk === undefined ? wanted : 'kept';
  const findId = context.dryRun ? stored?.id : write(prepared, context, change, stored, entry);
  // A photograph is a write of its own: also one of a find that was sent, and so stays as it is.
  const { photosAdded, sentBefore } = isGivenUp ? NO_PHOTOGRAPHS : addPhotographs(prepared, context, findId);
  const ofFind = isGivenUp
    ? [givenUp(find)]
    : otherWalk !== undefined
      ? [namesake(find, otherWalk)]
      : change === 'sent'
        ? [alreadySent(find, entry)]
        : prepared.issues.map((issue) => new Issue({ find: find.localId, ...find.source, ...issue }));
  const issues = [...ofFind, ...sentBefore.map((name) => sentUnderName(find, name))];
  return { enqueued: { find: find.localId, change, ready: content.document !== null, photosAdded }, issues };
}

/**
 * The file that a find of this name came from, where that is another than the waypoint's: devices number waypoints anew for each
 * walk, and what was completed in a table since must not be replaced by the little that a waypoint says.
 */
function sourceOfNamesake({ source }: Find, stored: StoredFind | undefined): string | undefined {
  if (source?.unit !== 'waypoint' || stored?.sourceFile == null) return undefined;
  return basename(stored.sourceFile) === basename(source.file) ? undefined : stored.sourceFile;
}

function namesake(find: Find, sourceFile: string): Issue {
  const message = msg`A find called ${find.localId} came from ${sourceFile} and differs; it was left as it is. If the waypoint is another find, rename it.`;
  return errorIssue('waypoint-namesake', message, { find: find.localId, ...find.source });
}

function changeOf(
  { find, content }: PreparedFind,
  { outbox }: EnqueueContext,
  stored: StoredFind | undefined,
  entry: ImportEntry | undefined,
): Enqueued['change'] {
  if (stored === undefined || entry === undefined) return 'added';
  const number = latestNumber(entriesOfFind(outbox, stored.id));
  // A table that was exported has the number that was set since.
  if (number !== undefined && isSame({ ...stored.elements, evidencni_cislo: number }, find.elements)) return 'kept';
  const same = isSame(stored.elements, find.elements);
  switch (entry.state) {
    case 'draft':
    case 'queued':
    case 'refused': {
      const sameDocument =
        (content.document === null) === (entry.document === null) &&
        (content.document?.equals(entry.document ?? Buffer.alloc(0)) ?? true);
      return same && (sameDocument || entry.state === 'refused') ? 'kept' : 'updated';
    }
    default:
      return same ? 'kept' : 'sent';
  }
}

function isSame(stored: StoredElements, elements: StoredElements): boolean {
  return meaningOf(withFinderOf(elements as FindElements, stored)) === meaningOf(elements);
}

/** A person by name and the same one by identifier, which was harvested in between, are one finder. */
function withFinderOf({ nalezce: now }: FindElements, stored: StoredElements): StoredElements {
  const { nalezce: before } = stored as FindElements;
  const isEither = before?.id === NEW_PERSON || now?.id === NEW_PERSON;
  return isEither && before?.text === now?.text ? { ...stored, nalezce: now } : stored;
}

/** Of what refers to something only the identifier counts, but for a person whom the service may not know. */
function meaningOf(elements: StoredElements): string {
  const meanings = Object.entries(elements).map(([name, value]) => {
    const isReference = typeof value === 'object' && value !== null && 'id' in value;
    return [name, isReference && value.id !== NEW_PERSON ? value.id : value] as const;
  });
  return JSON.stringify(meanings.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** @returns the id of the find's row */
function write(
  { find, content }: PreparedFind,
  { outbox }: EnqueueContext,
  change: Enqueued['change'],
  stored: StoredFind | undefined,
  entry: ImportEntry | undefined,
): number | undefined {
  if (change === 'kept' || change === 'sent') return stored?.id;
  if (stored === undefined) {
    const inserted = insertFind(outbox, find);
    addImport(outbox, inserted, content);
    return inserted;
  }
  updateFind(outbox, find, stored.version);
  if (entry === undefined) addImport(outbox, stored.id, content);
  else replaceImport(outbox, entry, content);
  return stored.id;
}

type AddedPhotographs = {
  readonly photosAdded: number;
  /** Names under which other content was sent before. */
  readonly sentBefore: readonly string[];
};

const NO_PHOTOGRAPHS: AddedPhotographs = { photosAdded: 0, sentBefore: [] };

/** A dropped photograph stays dropped: the table still names it, but a person decided otherwise. */
function addPhotographs(
  { photographs }: PreparedFind,
  { outbox, dryRun }: EnqueueContext,
  findId: number | undefined,
): AddedPhotographs {
  if (photographs.length === 0) return NO_PHOTOGRAPHS;
  const identCely = findId === undefined ? null : (importOfFind(outbox, findId)?.identCely ?? null);
  const target: Target | undefined = findId === undefined ? undefined : { findId, identCely };
  const ofRow = new Set(photographs.flatMap(digestsOf));
  const seen = new Set<string>();
  const sentBefore: string[] = [];
  let photosAdded = 0;
  for (const photograph of photographs) {
    const isTwice = digestsOf(photograph).some((digest) => seen.has(digest));
    for (const digest of digestsOf(photograph)) seen.add(digest);
    const same = target === undefined ? [] : photographsLike(outbox, target, photograph);
    if (same.length > 0 && !dryRun) replaceCounterpart(outbox, same, photograph);
    if (same.length > 0 || isTwice) continue;
    photosAdded += 1;
    if (dryRun || target === undefined) continue;
    const isWanted = (entry: PhotoEntry): boolean => ofRow.has(entry.photograph.sha512.toString('hex'));
    if (addOrReplacePhoto(outbox, target, photograph, isWanted).sameFile === 'sent') sentBefore.push(photograph.name);
  }
  return { photosAdded, sentBefore };
}

function digestsOf({ sha512, counterpartSha512Hex }: Kept): string[] {
  return [sha512.toString('hex'), ...(counterpartSha512Hex === undefined ? [] : [counterpartSha512Hex])];
}

function sentUnderName({ localId, source }: Find, name: string): Issue {
  const message = msg`Another photograph was sent as ${name} before; this one is queued beside it.`;
  return warningIssue('photo-name-sent', message, { find: localId, ...source });
}

function givenUp({ localId, source }: Find): Issue {
  const message = msg`The find was given up and is not queued again. To take it back: ${cmd`pas resolve ${localId} --resend`}`;
  return warningIssue('given-up', message, { find: localId, ...source });
}

function alreadySent(find: Find, entry: ImportEntry | undefined): Issue {
  const word = entry === undefined ? msg`sent` : STATE_WORDS[entry.state];
  const identCely = entry?.identCely ?? null;
  const message =
    identCely === null
      ? msg`The row differs from the find that is ${word}; the find was not changed. Correct it at the service.`
      : msg`The row differs from the find that was sent as ${identCely}; the find was not changed. Correct it at the service.`;
  return warningIssue('already-sent', message, { find: find.localId, ...find.source });
}
