import { makeIdKey, normalizeId } from '../../base/characters.ts';
import { addToGroup, once } from '../../base/collections.ts';
import { UsageError } from '../../base/errors.ts';
import { cmd, msg } from '../../base/message.ts';
import type { Find } from '../../finds/find.ts';
import type { ValidatedFind } from '../../finds/rules.ts';
import { type Evidence, listAttempts, listEvidence } from '../attempts.ts';
import { type Attempt, type Entry, isLikeIdent } from '../entry.ts';
import {
  findImportOfFind,
  getWantedElements,
  listEntriesOfSubject,
  listEntriesWithQuestion,
} from '../entry-queries.ts';
import { makeRecordSubject, parseRecordSubject } from '../intents.ts';
import { type Outbox, readHeader } from '../open-outbox.ts';
import {
  findByIdentCely,
  findByLocalId,
  findByUuid,
  listNamesOfFinds,
  type StoredFind,
} from '../stored-finds.ts';
import { listLabelledTexts } from '../views/entry-words.ts';
import { findSentFind, findStateAtService } from '../views/records-at-service.ts';
import { convertStoredFind } from './enqueue-finds.ts';

/**
 * Returns stored finds by name, each once and in this order, also removed ones that are hidden.
 * @throws UsageError with the unknown names, or for an ambiguous one
 */
export function resolveFindNames(outbox: Outbox, names: readonly string[]): StoredFind[] {
  const lookUp = createFindLookup(outbox, { isTyped: true });
  const finds = names.map((name) => requireUnambiguousName(lookUp(name), name));
  const missing = names.filter((_, index) => finds[index] === undefined);
  if (missing.length > 0) {
    const names = missing.join(', ');
    throw new UsageError(msg`There is no find ${names}.`, {
      hint: msg`\`${cmd`pas list`}\` shows the finds.`,
    });
  }
  return [
    ...new Map(finds.flatMap((find) => (find === undefined ? [] : [[find.uuid, find]]))).values(),
  ];
}

function requireUnambiguousName(named: NamedFind, name: string): StoredFind | undefined {
  if (named === undefined || !('alike' in named)) return named;
  const alike = named.alike.join(', ');
  throw new UsageError(msg`${name} is ambiguous: it may be any of ${alike}.`, {
    hint: msg`Spell the name of the find exactly.`,
  });
}

/** Returns the subjects of names as in {@link findSubjectWithEntries}. */
export function findSubjectsWithEntries(outbox: Outbox, names: readonly string[]): string[] {
  return names.map((name) => findSubjectWithEntries(outbox, name));
}

/**
 * Returns the subject of a find, or of a record without a find here that has entries.
 * @throws UsageError for an unknown or ambiguous name, or a record without entries
 */
export function findSubjectWithEntries(outbox: Outbox, name: string): string {
  const subject = findSubject(outbox, name);
  if (parseRecordSubject(subject) === undefined || listEntriesOfSubject(outbox, subject).length > 0)
    return subject;
  const { address } = readHeader(outbox);
  throw new UsageError(
    msg`${name} is not stored here, and the queue for ${address} has nothing for it.`,
    {
      hint: msg`You can queue a number or a photograph for it: ${cmd`pas number set ${name}`} VALUE, ${cmd`pas photo add ${name}`} FILE`,
    },
  );
}

/**
 * Returns the subject that FIND names, by local id or (also without a find here) identifier.
 * @throws UsageError where it is neither, or ambiguous
 */
export function findSubject(outbox: Outbox, find: string): string {
  return createSubjectLookup(outbox, { isTyped: true })(find);
}

/**
 * Makes {@link findSubject} for many names: the index of finds is loaded once. In a table a number
 * is ambiguous as well while a person is asked which find its row is.
 */
export function createSubjectLookup(
  outbox: Outbox,
  { isTyped = false }: { readonly isTyped?: boolean } = {},
): (find: string) => string {
  const lookUp = createFindLookup(outbox, { isTyped });
  const groupAsked = once(() => groupFindsByAskedNumber(outbox));
  return (find) => {
    const asked = isTyped ? undefined : groupAsked().get(makeIdKey(find));
    const stored = requireUnambiguousName(withFindsOfRow(lookUp(find), asked), find);
    if (stored !== undefined) return stored.uuid;
    const identCely = parseTypedIdent(find);
    if (identCely !== undefined) return makeRecordSubject(identCely);
    throw new UsageError(msg`There is no find ${find}.`, {
      hint: msg`FIND is a local id (\`${cmd`pas list`}\` shows them) or the identifier given by the service.`,
    });
  };
}

/**
 * Groups the finds that a row about which a person is asked is or becomes, by the key of its
 * number.
 */
export function groupFindsByAskedNumber(outbox: Outbox): ReadonlyMap<string, readonly string[]> {
  const finds = new Map<string, string[]>();
  for (const { subject } of listEntriesWithQuestion(outbox)) {
    const { localId, wish } = findByUuid(outbox, subject) ?? {};
    for (const row of wish?.asked ?? []) {
      if (localId === undefined || row.basis === 'row-changed') continue;
      addToGroup(finds, makeIdKey(row.key), localId);
      addToGroup(finds, makeIdKey(row.key), row.localId);
    }
  }
  return finds;
}

function withFindsOfRow(named: NamedFind, ofRow: readonly string[] | undefined): NamedFind {
  if (ofRow === undefined) return named;
  const ofName = named === undefined || 'alike' in named ? named?.alike : [named.localId];
  return { alike: [...new Set([...(ofName ?? []), ...ofRow])] };
}

/** Result of a lookup: a find, none, or several that differ only in case and blanks. */
export type NamedFind = StoredFind | undefined | { readonly alike: readonly string[] };

type MakeKey = (name: string) => string;

/**
 * Keys for a typed name: case and blanks do not count; where that names no find, neither does the
 * hyphen of `G-1`.
 */
const TYPED_KEYS: readonly MakeKey[] = [
  makeIdKey,
  (name) => makeIdKey(name).replace(/(?<=\p{L})-(?=\d)/gu, ''),
];

/**
 * Makes a lookup of finds by local id and identifier: exact first, then by each key. An index is
 * loaded once. A local id that is another find's identifier is ambiguous; in a table, also that of
 * a find whose table has given the number to another find since.
 */
export function createFindLookup(
  outbox: Outbox,
  { isTyped = false }: { readonly isTyped?: boolean } = {},
): (name: string) => NamedFind {
  const indexes = new Map<MakeKey, ReadonlyMap<string, ReadonlySet<string>>>();
  const listLocalIds = (name: string, makeKey: MakeKey): string[] => {
    const index = indexes.get(makeKey) ?? indexNames(outbox, makeKey);
    indexes.set(makeKey, index);
    return [...(index.get(makeKey(name)) ?? [])];
  };
  const hasNumberNow = (localId: string, name: string, { uuid, wish }: StoredFind): boolean => {
    const other = findByLocalId(outbox, localId);
    return (
      other !== undefined &&
      other.uuid !== uuid &&
      other.wish.path === wish.path &&
      makeIdKey(other.wish.key ?? '') === makeIdKey(name)
    );
  };
  return (name) => {
    const sent = findByIdentCely(outbox, name);
    const exact = findByLocalId(outbox, name) ?? sent;
    if (exact !== undefined) {
      const named = isTyped ? [] : listLocalIds(name, makeIdKey);
      const otherIds = named.filter((localId) => hasNumberNow(localId, name, exact));
      if (sent !== undefined && sent.uuid !== exact.uuid) otherIds.push(sent.localId);
      return otherIds.length > 0 ? { alike: [exact.localId, ...otherIds] } : exact;
    }
    for (const makeKey of isTyped ? TYPED_KEYS : [makeIdKey]) {
      const [localId, ...otherIds] = listLocalIds(name, makeKey);
      if (otherIds.length > 0) return { alike: [localId ?? '', ...otherIds] };
      if (localId !== undefined) return findByLocalId(outbox, localId);
    }
    return undefined;
  };
}

function indexNames(outbox: Outbox, makeKey: MakeKey): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  for (const { name, localId } of listNamesOfFinds(outbox)) {
    const key = makeKey(name);
    names.set(key, (names.get(key) ?? new Set()).add(localId));
  }
  return names;
}

/** Returns the identifier of a typed text; undefined where it is none. */
export function parseTypedIdent(text: string): string | undefined {
  const plain = normalizeId(text).replaceAll(' ', '');
  return [plain, plain.toUpperCase()].find(isLikeIdent);
}

/** An entry with what happened to it, oldest first. */
export type EntryHistory = {
  readonly entry: Entry;
  readonly attempts: readonly Attempt[];
  readonly evidence: readonly Evidence[];
};

/**
 * Returns all data of a find, or of a record with entries: `find` is undefined for a record,
 * `atService` where it was not sent or no pull has seen it.
 * @throws UsageError for an unknown or ambiguous name, or a record without entries
 */
export function getFindDetails(outbox: Outbox, name: string) {
  const subject = findSubjectWithEntries(outbox, name);
  const find = findByUuid(outbox, subject);
  const sent = find === undefined ? undefined : findSentFind(outbox, find);
  const elements = find === undefined ? {} : getWantedElements(outbox, find);
  return {
    find,
    elements,
    texts: listLabelledTexts(elements),
    stories: listEntriesOfSubject(outbox, subject).map(
      (entry): EntryHistory => ({
        entry,
        attempts: listAttempts(outbox, entry),
        evidence: listEvidence(outbox, entry),
      }),
    ),
    atService: sent === undefined ? undefined : findStateAtService(outbox, sent),
  };
}

type OpenValidation = () => Promise<(find: Find) => ValidatedFind>;

/**
 * Returns the import document of a find, byte for byte, without issues; for a draft, the one that
 * it would have, with those of its validation.
 */
export async function getDocumentOfFind(
  outbox: Outbox,
  find: StoredFind,
  openValidation: OpenValidation,
): Promise<ValidatedFind> {
  const document = findImportOfFind(outbox, find.uuid)?.document ?? undefined;
  return document === undefined
    ? (await openValidation())(convertStoredFind(find))
    : { document, issues: [] };
}
