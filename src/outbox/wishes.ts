import { groupBy } from '../base/collections.ts';
import { createRowParser, isNumber, isText } from '../base/disk/database.ts';
import { PasError } from '../base/errors.ts';
import type { FindElements } from '../finds/fields.ts';
import { storeEntryOfNewFind, storeFoldedEntries } from './cache.ts';
import type { Entry } from './entry.ts';
import { findEntryByKey } from './entry-queries.ts';
import {
  type CurrentBody,
  FACT_COLUMNS,
  type Fact,
  type FactKind,
  type FactOf,
  type FactRow,
  type FindWish,
  getOriginalDigest,
  isAttempt,
  makeCommandId,
  makeDamagedError,
  makeFact,
  makeUuid,
  type NewFact,
  type Photograph,
  parseFact,
  type Slot,
  selectFacts,
  serializeFact,
} from './facts.ts';
import { foldSlot, type SlotState } from './fold.ts';
import {
  chooseNumberIntent,
  findStoredIntent,
  findUnverifiedIntent,
  type Intent,
  isImportSlot,
  makeFindSlot,
  makeIntentId,
  makeSlot,
  type NumberIntent,
  type PhotoIntent,
  type PreparedDocument,
  storeIntent,
} from './intents.ts';
import type { Ledger, LedgerScope } from './ledger.ts';
import { type Outbox, readHeader } from './open-outbox.ts';
import type { StoredFind } from './stored-finds.ts';

/** Facts per transaction, so that other writers wait only briefly. */
export const MAX_FACTS_AT_ONCE = 500;

/** Facts about the service: they stay true even if the outbox's transaction is rolled back. */
const LEDGER_FIRST: readonly FactKind[] = ['attempted', 'answered'];

const IN_LEDGER = { pending: 0, copied: 1, unneeded: 2 } as const;

/**
 * Returns the id of the running command, which gets one at the first call; null where no person
 * gave a command.
 */
export function getCommandId(outbox: Outbox): string | null {
  const { command, clock } = outbox;
  if (command.words === undefined) return null;
  command.id ??= makeCommandId(command.words, clock.now());
  return command.id;
}

/**
 * Returns the facts of a subject in the order in which they came.
 * @throws DatabaseError where one is damaged
 */
export function listFactsOfSubject(outbox: Outbox, subject: string): Fact[] {
  return selectFacts(outbox, 'subject = ? order by seq', subject);
}

/**
 * Returns the facts of one slot in the order in which they came.
 * @throws DatabaseError where one is damaged
 */
export function listFactsOfSlot(outbox: Outbox, { subject, slot }: Slot): Fact[] {
  return listFactsOfSubject(outbox, subject).filter((fact) => fact.slot === slot);
}

/**
 * Returns what the facts of a slot mean.
 * @throws DatabaseError where one is damaged
 */
export function getSlotState(outbox: Outbox, slot: Slot): SlotState {
  return foldSlot(listFactsOfSlot(outbox, slot));
}

/**
 * Appends facts, and folds their subjects anew. Attempts and answers are on disk in the ledger
 * first; all others in the outbox, since those of a failed transaction must not return with a
 * union. A fact that is there already is not added again.
 * @returns all of these facts, with their ids
 * @throws DatabaseError where one of the two cannot be written, or a fact is damaged
 */
export function appendFacts(outbox: Outbox, drafts: readonly NewFact[]): Fact[] {
  return outbox.change(() => {
    const facts = drafts.map((draft) => makeFact(draft as Omit<FactOf<FactKind>, 'id'>));
    const copied = copyToLedgerFirst(outbox, facts);
    for (const [subject, own] of groupBy(facts, ({ subject }) => subject)) {
      const before = listFactsOfSubject(outbox, subject);
      insertMissingFacts(outbox, subject, own, before, (fact) => copied.includes(fact));
    }
    if (hasPendingFacts(outbox)) outbox.runAfterCommit(() => exportIfPossible(outbox));
    return facts;
  });
}

/** @returns the attempts and answers, which are in the ledger then */
function copyToLedgerFirst(outbox: Outbox, facts: readonly Fact[]): readonly Fact[] {
  const early = facts.filter(({ kind }) => LEDGER_FIRST.includes(kind));
  const own = early.length === 0 ? undefined : findOwnLedger(outbox);
  if (own === undefined) return [];
  own.ledger.append(own.scope, early.map(serializeFact));
  return early;
}

/**
 * Makes the entries of a subject again from its facts.
 * @throws DatabaseError where one is damaged
 */
export function rebuildEntries(outbox: Outbox, subject: string): void {
  storeFoldedEntries(outbox, subject, listFactsOfSubject(outbox, subject));
}

/**
 * Inserts missing facts of one subject, and folds it anew. A subject without an attempt is no
 * matter for the ledger; with its first attempt all its facts are, also what is no longer wanted.
 * @param before all facts that the outbox has of the subject
 * @returns the inserted ones
 */
export function insertMissingFacts(
  outbox: Outbox,
  subject: string,
  facts: readonly Fact[],
  before: readonly Fact[],
  isInLedger: (fact: Fact) => boolean,
): Fact[] {
  const wasAttempted = before.some(isAttempt);
  const isAttempted = wasAttempted || facts.some(isAttempt);
  if (isAttempted && !wasAttempted)
    outbox.sql('update facts set in_ledger = 0 where subject = ? and in_ledger = 2').run(subject);
  const unlessThere = isAttempted ? IN_LEDGER.pending : IN_LEDGER.unneeded;
  const known = new Set(before.map(({ id }) => id));
  const added: Fact[] = [];
  for (const fact of facts) {
    if (known.has(fact.id)) continue;
    known.add(fact.id);
    insertFact(outbox, serializeFact(fact), isInLedger(fact) ? IN_LEDGER.copied : unlessThere);
    added.push(fact);
  }
  if (added.length > 0) storeFoldedEntries(outbox, subject, [...before, ...added]);
  return added;
}

/** @returns its row in the table */
function insertFact({ sql }: Outbox, row: FactRow, inLedger: number): number {
  const { lastInsertRowid } = sql(
    `insert into facts (${FACT_COLUMNS.columns}, in_ledger)
     values (${FACT_COLUMNS.values}, :inLedger)`,
  ).run({ ...row, inLedger });
  return Number(lastInsertRowid);
}

/**
 * Returns the ledger, with the service and account under which it has the facts of this outbox;
 * undefined without a usable ledger, and before the first sign-in.
 */
export function findOwnLedger(
  outbox: Outbox,
): { readonly ledger: Ledger; readonly scope: LedgerScope } | undefined {
  const { ledger } = outbox;
  const { service, account } = readHeader(outbox);
  if (ledger === undefined || account === null || service === '') return undefined;
  return { ledger, scope: { service, account } };
}

function hasPendingFacts({ sql }: Outbox): boolean {
  return sql('select 1 from facts where in_ledger = 0 limit 1').get() !== undefined;
}

/** Ignores a ledger that cannot be written, or a damaged fact: the next union adds the facts. */
function exportIfPossible(outbox: Outbox): void {
  try {
    copyFactsToLedger(outbox);
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
  }
}

const parseRow = createRowParser({ seq: isNumber, id: isText });

/**
 * Copies facts that only the outbox has to the ledger, with the intents that they want. Does
 * nothing without a usable ledger, and before the first sign-in.
 * @throws DatabaseError where the ledger cannot be written, or a fact is damaged
 */
export function copyFactsToLedger(outbox: Outbox): void {
  const own = findOwnLedger(outbox);
  if (own === undefined) return;
  const query = outbox.sql(
    `select * from facts where in_ledger = 0 order by seq limit ${MAX_FACTS_AT_ONCE}`,
  );
  for (let rows = query.all(); rows.length > 0; rows = query.all()) {
    // A wrong id is neither copied nor sent.
    const facts = rows.map((row) => parseFact(outbox.path, row));
    const intents = facts.flatMap(({ subject, body, kind }) =>
      kind === 'current' && body.intent !== null
        ? (findStoredIntent(outbox, subject, body.intent) ?? [])
        : [],
    );
    own.ledger.append(own.scope, facts.map(serializeFact), intents);
    // These alone: a first attempt may have made older facts a matter of the ledger meanwhile.
    const copied = JSON.stringify(rows.map((row) => parseRow(row).seq));
    outbox.change(() =>
      outbox
        .sql('update facts set in_ledger = 1 where seq in (select value from json_each(?))')
        .run(copied),
    );
  }
}

// Wishes say what is to be sent. Each function appends the facts of one change by the running
// command, in a transaction of its own unless one is open.

type WantedFind = Omit<FindWish, 'createdAt' | 'namesake'> & {
  readonly elements: FindElements;
  readonly createdAt?: number;
};

/**
 * Records that a new find is to be sent; one without a document is a draft. The ledger need not
 * know it before its first attempt.
 * @returns its UUID, which is made here
 */
export function recordNewFind(
  outbox: Outbox,
  find: Omit<WantedFind, 'asked'>,
  prepared: PreparedDocument,
): string {
  const now = outbox.clock.now();
  const uuid = makeUuid(now);
  outbox.change(() => {
    const wish = { createdAt: now, ...find };
    const intent = storeIntent(outbox, makeImportIntent(uuid, find), prepared);
    const body = makeFindWish(outbox, intent.id, [], wish);
    const fact = serializeFact({ kind: 'current', ...makeFindSlot(uuid), body });
    const row = insertFact(outbox, fact, IN_LEDGER.unneeded);
    storeEntryOfNewFind(outbox, row, wish, intent);
  });
  return uuid;
}

/**
 * Records that an existing find is to be sent with this content, in place of each version that was
 * wanted. It keeps its time of entry.
 */
export function recordFindWish(
  outbox: Outbox,
  { uuid, wish: before }: Pick<StoredFind, 'uuid' | 'wish'>,
  find: WantedFind,
  prepared: PreparedDocument,
): void {
  const slot = makeFindSlot(uuid);
  const { heads } = getSlotState(outbox, slot);
  const wish = { namesake: before.namesake, ...find, createdAt: before.createdAt };
  outbox.change(() => {
    const { id } = storeIntent(outbox, makeImportIntent(uuid, find), prepared);
    appendWish(outbox, slot, makeFindWish(outbox, id, heads, wish));
  });
}

function makeImportIntent(subject: string, { elements }: WantedFind): Intent {
  return { kind: 'import', subject, elements };
}

function makeFindWish(
  outbox: Outbox,
  intent: string,
  replaces: readonly string[],
  { localId, namesake, createdAt, file, row, path, base, key, asked }: FindWish,
): CurrentBody {
  const find = { localId, namesake, createdAt, file, row, path, base, key, asked };
  return { ...makeBody(outbox, intent, replaces), find };
}

/**
 * Gives a find another local id, merge base or question without a new version of it; of two
 * versions that copies want, the one that is shown. Does nothing where no version is wanted.
 */
export function updateFindWish(
  outbox: Outbox,
  { uuid, wish }: Pick<StoredFind, 'uuid' | 'wish'>,
  changes: Partial<FindWish>,
): void {
  outbox.change(() => {
    const { heads, wanted } = getSlotState(outbox, makeFindSlot(uuid));
    const shown = wanted.wishes.find(({ body }) => body.intent !== null);
    if (shown === undefined || wanted.kind === 'nothing') return;
    const replaced = wanted.kind === 'one' ? heads : [shown.id];
    const wanting = makeBody(outbox, shown.body.intent, replaced);
    const body = { ...wanting, find: { ...wish, ...changes } };
    appendWish(outbox, makeFindSlot(uuid), body);
  });
}

/**
 * Stores what validation has made of the entry's version, document and issues, in place of an
 * earlier result; so a draft may become queued, or the other way round. Does nothing where the
 * version is unknown, or its content was deleted.
 * @param prepared without a document, the find is a draft
 */
export function storePreparedDocument(
  outbox: Outbox,
  entry: Entry,
  prepared: PreparedDocument,
): void {
  outbox.change(() => {
    const known = findUnverifiedIntent(outbox, entry.subject, entry.intent);
    if (known?.intent === undefined) return;
    storeIntent(outbox, known.intent, prepared);
    rebuildEntries(outbox, entry.subject);
  });
}

function appendWish(outbox: Outbox, { subject, slot }: Slot, body: CurrentBody): void {
  appendFacts(outbox, [{ kind: 'current', subject, slot, body }]);
}

function makeBody(outbox: Outbox, intent: string | null, replaces: readonly string[]): CurrentBody {
  return {
    intent,
    hides: false,
    // Only an undo brings back an earlier wish: its successors must not be taken for that.
    restores: undefined,
    replaces,
    command: getCommandId(outbox),
    at: outbox.clock.now(),
  };
}

type NumberWish = {
  /** Number of the record now: '' for none, null where it is unknown. */
  readonly expects: string | null;
  /** The record is known to show another number than the last one that was sent from here. */
  readonly isChangedSince?: boolean;
};

/**
 * Records that a find or record is to get a number, in place of one that was wanted; does nothing
 * where it is wanted already. Only the last number is sent: the fold drops the wish that this one
 * replaces, unless it was attempted. Nothing for the record leaves while another number of it may
 * be under way (`CLAIMABLE` in entry-queries.ts), nor beside another request of this push.
 * @param value as normalizeNumber makes it
 */
export function recordNumberWish(
  outbox: Outbox,
  subject: string,
  value: string,
  { expects, isChangedSince = false }: NumberWish,
): void {
  outbox.change(() => {
    const slot = { subject, slot: `number ${subject}` };
    const { heads, intents, wanted } = getSlotState(outbox, slot);
    const attempted = [...intents].flatMap(([id, { attempts }]): NumberIntent[] => {
      const intent =
        attempts.length === 0 ? undefined : findUnverifiedIntent(outbox, subject, id)?.intent;
      return intent?.kind === 'number' ? [intent] : [];
    });
    const intent = chooseNumberIntent(attempted, subject, value, isChangedSince);
    if (wanted.kind === 'one' && wanted.intents.includes(makeIntentId(intent))) return;
    const { id } = storeIntent(outbox, intent);
    const body = { ...makeBody(outbox, id, heads), expects };
    appendWish(outbox, slot, body);
  });
}

/**
 * Records that a find or record is to get a photograph, in place of a counterpart with other bytes;
 * a higher `occasion` sends the same picture once more.
 * @returns the row of its entry
 */
export function recordPhotoWish(
  outbox: Outbox,
  subject: string,
  photograph: Photograph,
  occasion = 0,
): number {
  return outbox.change(() => {
    const { name, mediaType, sizeBytes, sha512, originalSha512, source } = photograph;
    const stored = { name, mediaType, sizeBytes, sha512, originalSha512, source };
    const original = getOriginalDigest(photograph);
    const intent: PhotoIntent = { kind: 'photo', subject, original, occasion };
    const slot = { subject, slot: makeSlot(intent) };
    const { heads } = getSlotState(outbox, slot);
    const { id } = storeIntent(outbox, intent);
    const body = { ...makeBody(outbox, id, heads), photograph: stored };
    appendWish(outbox, slot, body);
    const entry = findEntryByKey(outbox, subject, id);
    if (entry === undefined) throw makeDamagedError(outbox.path, id);
    return entry.id;
  });
}

/** Returns the next occasion of a picture for a find or record: 0 where it was never wanted. */
export function getNextOccasion(outbox: Outbox, subject: string, original: string): number {
  const occasions = outbox
    .sql(
      `select max(content ->> 'occasion') from intents where kind = 'photo' and subject = ? and content ->> 'original' = ?`,
    )
    .pluck()
    .get(subject, original);
  return typeof occasions === 'number' ? occasions + 1 : 0;
}

/**
 * Records that a find is no longer to be sent, or one number or photograph; what was wanted stays
 * known for {@link restoreWish}. Of two copies that want different ones the other is wanted then.
 * Does nothing where it is neither wanted nor the last that was.
 * @param intent of a number or a photograph; a find is withdrawn with all its versions
 * @param as `dropped`: it is still shown; `removed`: not even that
 */
export function withdrawWish(
  outbox: Outbox,
  { intent, ...place }: Slot & { readonly intent?: string },
  as: 'dropped' | 'removed',
): void {
  outbox.change(() => {
    const { heads, wanted } = getSlotState(outbox, place);
    const isNamed = ({ body }: FactOf<'current'>): boolean =>
      isImportSlot(place.slot) || (body.intent ?? body.was) === intent;
    const named = wanted.wishes.filter(isNamed);
    const before = named[0]?.body;
    if (before === undefined) return;
    const other = wanted.wishes.find((wish) => !isNamed(wish));
    if (other === undefined) {
      const was = before.intent ?? before.was ?? null;
      const hides = as === 'removed';
      appendWish(outbox, place, { ...before, ...makeBody(outbox, null, heads), hides, was });
    } else {
      const { intent: left, hides } = other.body;
      const replaced = [...named, other].map(({ id }) => id);
      appendWish(outbox, place, { ...other.body, ...makeBody(outbox, left, replaced), hides });
    }
  });
}

/**
 * Records that what was withdrawn from a slot is to be sent again; does nothing where something is
 * wanted, or nothing ever was.
 */
export function restoreWish(outbox: Outbox, slot: Slot): void {
  outbox.change(() => {
    const { heads, wanted } = getSlotState(outbox, slot);
    const { was, ...body } = wanted.wishes[0]?.body ?? {};
    if (wanted.kind !== 'nothing' || was === undefined || was === null) return;
    const again: CurrentBody = { ...body, ...makeBody(outbox, was, heads) };
    appendWish(outbox, slot, again);
  });
}
