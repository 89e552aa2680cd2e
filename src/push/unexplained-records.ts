import { UsageError } from '../base/errors.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import { type ElementName, FIELDS } from '../finds/fields.ts';
import {
  formatValue,
  type HarvestedFile,
  type HarvestedFind,
  listDifferingElements,
} from '../finds/harvested-find.ts';
import type { ListedFind, RecordSource } from '../harvest/look-up-records.ts';
import type { Entry, ImportEntry, PhotoEntry } from '../outbox/entry.ts';
import { findImportOfRecord, getProject, listEntriesOfRecord } from '../outbox/entry-queries.ts';
import { type Outbox, updateHeader } from '../outbox/open-outbox.ts';
import { KIND_WORDS } from '../outbox/views/entry-words.ts';
import {
  deleteUnexplained,
  listUnexplained,
  recordSearch,
  storeUnexplained,
} from '../outbox/views/records-at-service.ts';
import { assignFiles, fetchListedFind, makeSentPhoto } from './judge-change.ts';
import { findCreation, getAttemptWindow, parseSentElements } from './judge-import.ts';

/** Records that searches have shown, and identifiers of records that were listed but not shown. */
type Unexplained = {
  readonly records: readonly HarvestedFind[];
  readonly hidden: readonly string[];
};

export type IsUnexplained = (identCely: string, listed: ListedFind) => boolean;

/**
 * Stores shown records that no fact explains: later searches show only changes, and an equal find
 * may be queued later.
 */
export function keepUnexplained(
  outbox: Outbox,
  listed: readonly (readonly [string, ListedFind])[],
  isUnexplained: IsUnexplained,
): void {
  outbox.change(() => {
    for (const [identCely, lookup] of listed) {
      if (isUnexplained(identCely, lookup))
        storeUnexplained(
          outbox,
          identCely,
          lookup.kind === 'shown' ? JSON.stringify(lookup.record) : null,
        );
      // A record that was shown before still exists where it is no longer shown.
      else if (lookup.kind !== 'withheld') deleteUnexplained(outbox, identCely);
    }
  });
}

/** Returns the unexplained records; `hidden` has those without a stored state. */
export function readUnexplained(outbox: Outbox): Unexplained {
  const rows = listUnexplained(outbox);
  return {
    records: rows.flatMap(({ record }) => (record === null ? [] : [JSON.parse(record)])),
    hidden: rows.flatMap(({ identCely, record }) => (record === null ? [identCely] : [])),
  };
}

/**
 * Records the search of each project. While an entry is held, the next search includes the period
 * of this one.
 */
export function recordSearches(
  outbox: Outbox,
  projects: ReadonlySet<string>,
  held: readonly Entry[],
  at: { beganMs: number; endedMs: number },
): void {
  const open = new Set(held.map((entry) => getProject(entry)));
  for (const project of projects) {
    const isOpen = open.has(project);
    recordSearch(outbox, project, isOpen ? at.beganMs : at.endedMs, isOpen);
  }
  if (held.length === 0) updateHeader(outbox, { mustLook: false });
}

/**
 * Returns files that no photograph from here explains and that equal a queued one by digest, or by
 * name.
 */
export function findEqualFiles(
  outbox: Outbox,
  queued: readonly Entry[],
  shown: ReadonlyMap<string, HarvestedFind>,
): Map<string, readonly string[]> {
  const photographs = queued.filter((entry) => entry.kind === 'photo');
  const free = new Map(
    [...new Set(photographs.map(({ identCely }) => identCely ?? ''))].map((identCely) => {
      const find = shown.get(identCely);
      return [identCely, find === undefined ? [] : findUnexplainedFiles(outbox, find)] as const;
    }),
  );
  return new Map(
    photographs.map((entry) => {
      const files = free.get(entry.identCely ?? '') ?? [];
      return [entry.key, files.filter((file) => isStoredAs(entry, file)).map(({ name }) => name)];
    }),
  );
}

/**
 * Returns the files without a photograph from here. Each sent photograph explains one file, since
 * cameras reuse names.
 */
export function findUnexplainedFiles(
  outbox: Outbox,
  { identCely, files }: HarvestedFind,
): HarvestedFile[] {
  const sent = listEntriesOfRecord(outbox, identCely).flatMap((entry) =>
    entry.kind === 'photo' && entry.attempts > 0 ? [makeSentPhoto(outbox, entry)] : [],
  );
  const owners = assignFiles(files, sent);
  return files.filter((file) => !owners.has(file));
}

function isStoredAs({ photograph }: PhotoEntry, file: HarvestedFile): boolean {
  const digests = [photograph.sha512, photograph.originalSha512].flatMap(
    (digest) => digest?.toString('hex') ?? [],
  );
  return (
    digests.includes(file.sha512Hex) || file.history.some(({ note }) => note === photograph.name)
  );
}

/** An element as sent and as in the record; null where it is absent. */
type Compared = {
  readonly element: ElementName;
  readonly sent: string | null;
  readonly now: string | null;
  readonly differs: boolean;
};

type LookedAt = {
  readonly compared: readonly Compared[];
  /** Evidence against the record; empty where everything fits. */
  readonly doubts: readonly Message[];
};

/**
 * Explains why an entry cannot be settled with a record: of two finds with one record, one would
 * never be sent.
 */
export function findRecordProblem(
  outbox: Outbox,
  entry: Entry,
  identCely: string,
): UsageError | undefined {
  if (entry.kind !== 'import') {
    if (entry.identCely === identCely) return undefined;
    const kind = KIND_WORDS[entry.kind];
    const ownIdent = entry.identCely ?? '';
    return new UsageError(msg`The ${kind} was sent to ${ownIdent}, not to ${identCely}.`, {
      hint: msg`If ${ownIdent} has it, specify that identifier.`,
    });
  }
  const owner = findImportOfRecord(outbox, identCely);
  if (owner === undefined) return findFormProblem(entry, identCely);
  const find = entry.localId ?? '';
  const other = owner.localId ?? identCely;
  return new UsageError(msg`${identCely} is already the record of ${other}.`, {
    hint: msg`\`${cmd`pas show ${other}`}\` shows the find of that record. If ${find} has its own record, specify that identifier; if both are one find, drop this one: ${cmd`pas resolve ${find} --drop`}`,
  });
}

/**
 * The service derives identifiers of finds from the project; a find of a temporary project (`X-`)
 * may be renamed later.
 */
function findFormProblem({ project }: ImportEntry, identCely: string): UsageError | undefined {
  const [, ofProject] = /^(.+)-N\d{5,}$/.exec(identCely) ?? [];
  if (
    ofProject !== undefined &&
    (project === null || project.startsWith('X-') || ofProject === project)
  )
    return undefined;
  const form = `${project ?? 'C-202400101'}-N00042`;
  return new UsageError(
    ofProject === undefined || project === null
      ? msg`${identCely} is not an identifier of a find.`
      : msg`${identCely} is a find of another project: this one was sent to ${project}.`,
    { hint: msg`The service shows it with the record, in the form ${form}.` },
  );
}

/**
 * Requests a record that a person assigns to an import, and compares it with what was sent.
 * @returns undefined where the service has no such record
 * @throws as {@link fetchListedFind}
 */
export async function lookUpRecord(
  outbox: Outbox,
  source: RecordSource,
  entry: ImportEntry,
  identCely: string,
): Promise<LookedAt | undefined> {
  const listed = await fetchListedFind(source, identCely);
  if (listed === undefined || listed.kind === 'deleted') return undefined;
  if (listed.kind !== 'shown')
    return {
      compared: [],
      doubts: [msg`The service has ${identCely}, but does not show it to this account.`],
    };
  const { record: find } = listed;
  const compared = compare(outbox, entry, find);
  const differing = compared
    .filter(({ differs }) => differs)
    .map(({ element }) => element)
    .join(', ');
  const maker = findOtherMaker(outbox, entry, find);
  return {
    compared,
    doubts: [
      ...(maker === undefined
        ? []
        : [msg`It was created by the account ${maker}, which did not send this find.`]),
      ...(differing === '' ? [] : [msg`It differs in ${differing}.`]),
    ],
  };
}

function compare(outbox: Outbox, entry: ImportEntry, find: HarvestedFind): Compared[] {
  const sent = parseSentElements(outbox, entry) ?? {};
  const differing = new Set<string>(listDifferingElements(sent, find));
  return FIELDS.map(({ name }) => ({
    element: name,
    sent: formatValue(sent[name]),
    now: formatValue(find.elements[name]),
    differs: differing.has(name),
  })).filter((each) => each.sent !== null || each.now !== null);
}

/** Returns the account that made the record, where only other accounts sent this find. */
function findOtherMaker(
  outbox: Outbox,
  entry: ImportEntry,
  find: HarvestedFind,
): string | undefined {
  const { accounts } = getAttemptWindow(outbox, entry);
  const maker = findCreation(find)?.user ?? '';
  return maker === '' || accounts.size === 0 || accounts.has(maker) ? undefined : maker;
}
