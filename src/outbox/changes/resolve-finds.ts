import { makeIdKey, normalizeId } from '../../base/characters.ts';
import { memoize, once } from '../../base/collections.ts';
import { UsageError } from '../../base/errors.ts';
import { cmd, msg } from '../../base/message.ts';
import type { Find } from '../../finds/find.ts';
import type { ValidatedFind } from '../../finds/rules.ts';
import { getSlotState } from '../append-facts.ts';
import { type Evidence, listAttempts, listEvidence } from '../attempts.ts';
import { type Attempt, type Entry, hasIdentForm } from '../entry.ts';
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
  listFindIdentifiers,
  type StoredFind,
} from '../stored-finds.ts';
import { listLabelledElements } from '../views/entry-words.ts';
import {
  findSentFind,
  findStateAtService,
  omitResentPhotographs,
} from '../views/records-at-service.ts';
import { convertStoredFind } from './enqueue-finds.ts';

/**
 * Returns the finds that a person names by local id or identifier: each once, in the order of the
 * names, also hidden ones.
 * @throws UsageError with all unknown names, or for an ambiguous one
 */
export function findNamedFinds(
  outbox: Outbox,
  names: readonly string[],
  hint = msg`\`${cmd`pas list`}\` shows the finds.`,
): StoredFind[] {
  const lookUp = makeFindLookup(outbox, { isTyped: true });
  const finds = names.map((name) => requireUnambiguousName(lookUp(name), name));
  const missing = names.filter((_, index) => finds[index] === undefined);
  if (missing.length > 0) {
    const names = missing.join(', ');
    throw new UsageError(msg`There is no find ${names}.`, { hint });
  }
  return [
    ...new Map(finds.flatMap((find) => (find === undefined ? [] : [[find.uuid, find]]))).values(),
  ];
}

function requireUnambiguousName(
  named: NamedFind,
  name: string,
  hint = msg`Spell the name of the find exactly.`,
): StoredFind | undefined {
  if (named === undefined || !('alike' in named)) return named;
  const alike = named.alike.join(', ');
  throw new UsageError(msg`${name} is ambiguous: it may be any of ${alike}.`, { hint });
}

/**
 * Returns {@link findSubjectWithEntries} of each name.
 * @throws UsageError as {@link findSubjectWithEntries}
 */
export function findSubjectsWithEntries(outbox: Outbox, names: readonly string[]): string[] {
  return names.map((name) => findSubjectWithEntries(outbox, name));
}

/**
 * Returns the subject that a person names: a find, or a record without a find here, if it has
 * entries.
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
 * Returns the subject that a person names as FIND: by the local id of a find here, or by the
 * identifier of a record, also without a find here.
 * @throws UsageError where the name is neither, or ambiguous
 */
export function findSubject(outbox: Outbox, find: string): string {
  return makeSubjectLookup(outbox, { isTyped: true })(find);
}

/**
 * Makes a lookup of subjects as {@link findSubject}, for many names: the index of finds is loaded
 * once.
 * @param options `isTyped`: as in {@link makeFindLookup}; without it names are from a table,
 * where a number is that of no find while a person is asked which one its row is
 */
export function makeSubjectLookup(
  outbox: Outbox,
  { isTyped = false }: { readonly isTyped?: boolean } = {},
): (find: string) => string {
  const lookUp = makeFindLookup(outbox, { isTyped });
  const getAsked = once(() => indexAskedNumbers(outbox));
  // A number of a table is exact already.
  const hint = isTyped ? undefined : msg`Queue its number alone: ${cmd`pas number set`} FIND VALUE`;
  return (find) => {
    const asked = isTyped ? undefined : getAsked().get(makeIdKey(find));
    if (asked !== undefined)
      throw new UsageError(msg`A person must say first which find ${find} is.`, {
        hint: msg`Answer the question: ${cmd`pas resolve ${asked}`}`,
      });
    const stored = requireUnambiguousName(lookUp(find), find, hint);
    if (stored !== undefined) return stored.uuid;
    const identCely = parseTypedIdent(find);
    if (identCely !== undefined) return makeRecordSubject(identCely);
    throw new UsageError(msg`There is no find ${find}.`, {
      hint: msg`FIND is a local id (\`${cmd`pas list`}\` shows them) or the identifier given by the service.`,
    });
  };
}

/**
 * Returns, by {@link makeIdKey} of its number, for each row about which a person is asked, the
 * local id of a find that it may be.
 */
export function indexAskedNumbers(outbox: Outbox): ReadonlyMap<string, string> {
  const finds = new Map<string, string>();
  for (const { subject } of listEntriesWithQuestion(outbox)) {
    const { localId, wish } = findByUuid(outbox, subject) ?? {};
    for (const row of wish?.asked ?? []) {
      if (localId !== undefined && row.basis !== 'row-changed')
        finds.set(makeIdKey(row.key), localId);
    }
  }
  return finds;
}

/** Result of a lookup: a find, none, or the local ids of several that the name may mean. */
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
 * Makes a lookup of finds by local id or identifier, whose index is loaded once. It returns:
 * - the find with exactly this name, else the only one whose name differs in case and blanks alone;
 * - undefined, where there is none;
 * - `alike`, the local ids of all that the name may mean: finds whose names differ in case and blanks
 *   alone; a find with this local id and one with this identifier; or, without `isTyped`, a find with
 *   this local id and those that a table has given this number.
 * @param options `isTyped`: the names are typed by a person, not read from a table; where nothing
 * else fits, the hyphen of `G-1` does not count either
 */
export function makeFindLookup(
  outbox: Outbox,
  { isTyped = false }: { readonly isTyped?: boolean } = {},
): (name: string) => NamedFind {
  const getIndex = memoize((makeKey: MakeKey) => indexNames(outbox, makeKey));
  const listLocalIds = (name: string, makeKey: MakeKey): string[] => [
    ...(getIndex(makeKey).get(makeKey(name)) ?? []),
  ];
  const findInexact = (name: string): NamedFind => {
    for (const makeKey of isTyped ? TYPED_KEYS : [makeIdKey]) {
      const [localId, ...otherIds] = listLocalIds(name, makeKey);
      if (otherIds.length > 0) return { alike: [localId ?? '', ...otherIds] };
      if (localId !== undefined) return findByLocalId(outbox, localId);
    }
    return undefined;
  };
  return (name) => {
    const sent = findByIdentCely(outbox, name);
    const exact = findByLocalId(outbox, name) ?? sent;
    if (exact === undefined) return findInexact(name);
    const named = isTyped ? [] : listLocalIds(name, makeIdKey);
    const otherIds = named.filter((localId) => hasTakenNumber(outbox, localId, name, exact));
    if (sent !== undefined && sent.uuid !== exact.uuid) otherIds.push(sent.localId);
    return otherIds.length > 0 ? { alike: [exact.localId, ...otherIds] } : exact;
  };
}

/** Tells if a table has given the number to another find than this one. */
function hasTakenNumber(
  outbox: Outbox,
  localId: string,
  number: string,
  { uuid }: StoredFind,
): boolean {
  const other = findByLocalId(outbox, localId);
  return (
    other !== undefined &&
    other.uuid !== uuid &&
    listRowNumbers(outbox, other).some((its) => makeIdKey(its) === makeIdKey(number))
  );
}

/**
 * Returns the numbers that tables give a find in place of its local id, the latest first: without
 * one that is the local id, or that this has behind a prefix. `2-2` is the second find with the
 * number 2, if there is a find 2.
 */
export function listRowNumbers(outbox: Outbox, { localId, wish }: StoredFind): string[] {
  const isOther = (key: string): boolean => {
    if (!localId.endsWith(key)) return true;
    const prefix = localId.slice(0, -key.length);
    const isSecond =
      prefix.endsWith(`${key}-`) && findByLocalId(outbox, prefix.slice(0, -1)) !== undefined;
    return isSecond || /\d$/.test(prefix);
  };
  return wish.rows.map(({ key }) => key).filter(isOther);
}

function indexNames(outbox: Outbox, makeKey: MakeKey): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  for (const { name, localId } of listFindIdentifiers(outbox)) {
    const key = makeKey(name);
    names.set(key, (names.get(key) ?? new Set()).add(localId));
  }
  return names;
}

/** Parses a record's identifier as a person types it; undefined where the text is none. */
export function parseTypedIdent(text: string): string | undefined {
  const plain = normalizeId(text).replaceAll(' ', '');
  return [plain, plain.toUpperCase()].find(hasIdentForm);
}

/** An entry with what happened to it, oldest first. */
export type EntryHistory = {
  readonly entry: Entry;
  readonly attempts: readonly Attempt[];
  readonly evidence: readonly Evidence[];
};

/**
 * Returns what `pas show` shows of a find, or of a record with entries: `find` is undefined for a
 * record, and `atService` where the find was not sent, or no pull has seen its record. Of a
 * photograph that was sent again after the service had deleted it, only the last entry counts.
 * @throws UsageError for an unknown or ambiguous name, or a record without entries
 */
export function getFindDetails(outbox: Outbox, name: string) {
  const subject = findSubjectWithEntries(outbox, name);
  const find = findByUuid(outbox, subject);
  const sent = find === undefined ? undefined : findSentFind(outbox, find);
  const elements = find === undefined ? {} : getWantedElements(outbox, find);
  const entry = find && findImportOfFind(outbox, find.uuid);
  return {
    find,
    elements,
    texts: listLabelledElements(elements),
    records: entry === undefined ? [] : getSlotState(outbox, entry).records,
    stories: omitResentPhotographs(listEntriesOfSubject(outbox, subject)).map(
      (each): EntryHistory => ({
        entry: each,
        attempts: listAttempts(outbox, each),
        evidence: listEvidence(outbox, each),
      }),
    ),
    atService: sent === undefined ? undefined : findStateAtService(outbox, sent),
  };
}

type OpenValidation = () => Promise<(find: Find) => ValidatedFind>;

/**
 * Returns the stored document of a find, as it is to be sent, without issues. Where there is none,
 * as for a draft, the find is validated: the result has the document that it would have, and
 * issues.
 * @param openValidation called only then
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
