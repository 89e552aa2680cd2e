import { groupBy } from '../base/collections.ts';
import { createRowParser, isText } from '../base/disk/database.ts';
import { canonicalizeElements } from '../finds/match-finds.ts';
import { storeQuestionsAboutAlikeFinds } from './alike-finds.ts';
import {
  copyFactsToLedger,
  findLedgerOfAccount,
  getSlotState,
  insertMissingFacts,
  listFactsOfSubject,
  MAX_FACTS_AT_ONCE,
  rebuildEntries,
} from './append-facts.ts';
import { detachSharedRecord } from './attempts.ts';
import { findImportOfFind, listEntriesOfSubject } from './entry-queries.ts';
import {
  type Fact,
  type FindWish,
  makeDamagedError,
  makeFact,
  selectFacts,
  unpackAttempt,
} from './facts.ts';
import {
  INTENT_COLUMNS,
  makeImportSlot,
  makePreparedId,
  parseSlotKind,
  storeForeignIntent,
} from './intents.ts';
import type { Ledger } from './ledger.ts';
import {
  assertSameAccount,
  getOrMakeCommandId,
  type Outbox,
  readHeader,
  runAsCommand,
  updateHeader,
} from './open-outbox.ts';
import { findByLocalId, findByUuid, listFindUuids, type StoredFind } from './stored-finds.ts';
import {
  recordNumberWish,
  recordPhotoWish,
  restoreWish,
  updateFindWish,
  withdrawWish,
} from './wishes.ts';

/** How many facts and finds a union brought into the outbox. */
export type UnionResult = { readonly facts: number; readonly finds: number };

export const NOTHING_UNITED: UnionResult = { facts: 0, finds: 0 };

/**
 * Adds to the outbox and to the ledger the facts that only the other has, and stores questions
 * about finds that are like those that arrived. This completes an older copy, a restored backup, a
 * second copy on this machine, a lost data home and a lost ledger. Does nothing without a usable
 * ledger, and before the first sign-in, when the account is unknown.
 * @param signedIn account that has just signed in: an outbox of no account is bound to it; where it
 * was bound before, nothing is done
 * @returns what arrived in the outbox
 * @throws ConfigError where the outbox belongs to another account; DatabaseError where outbox or
 * ledger cannot be written, or a fact is damaged
 */
export function uniteWithLedger(outbox: Outbox, signedIn?: string): UnionResult {
  if (signedIn !== undefined && !bindAccount(outbox, signedIn)) return NOTHING_UNITED;
  const own = findLedgerOfAccount(outbox);
  if (own === undefined) return NOTHING_UNITED;
  const { ledger, scope } = own;
  resetWatermark(outbox, ledger);
  copyFactsToLedger(outbox);
  const read = (seq: number) => ledger.listFactsSince(scope, seq, MAX_FACTS_AT_ONCE);
  let page = read(readHeader(outbox).unitedSeq);
  // Each command unites, and mostly nothing is new: the time must not grow with the finds.
  if (page.length === 0) return NOTHING_UNITED;
  const known = listFindUuids(outbox);
  const added: Fact[] = [];
  for (; page.length > 0; page = read(page.at(-1)?.seq ?? 0)) {
    const last = page.at(-1);
    const facts = page.map(({ fact }) => fact);
    outbox.change(() => {
      added.push(...addFacts(outbox, facts, true));
      if (last !== undefined)
        updateHeader(outbox, { unitedSeq: last.seq, unitedFact: last.fact.id });
    });
  }
  const united = settleArrived(outbox, added, known);
  // Wishes from here for a find that was first attempted elsewhere.
  copyFactsToLedger(outbox);
  return united;
}

/** @returns false where it is bound already */
function bindAccount(outbox: Outbox, account: string): boolean {
  assertSameAccount(outbox, account);
  if (readHeader(outbox).account === account) return false;
  // All facts of the account in the ledger belong to the outbox now.
  outbox.change(() => updateHeader(outbox, { account, unitedSeq: 0, unitedFact: '' }));
  return true;
}

/**
 * A rebuilt, restored or replaced ledger has another fact at the watermark, or lacks the last one:
 * then everything is united.
 */
function resetWatermark(outbox: Outbox, ledger: Ledger): void {
  const { unitedSeq, unitedFact } = readHeader(outbox);
  const [copied] = outbox
    .sql('select subject, id from facts where in_ledger = 1 order by seq desc limit 1')
    .all()
    .map(parsePlace);
  const isSame = unitedSeq === 0 || ledger.findFactIdAt(unitedSeq) === unitedFact;
  const hasCopied = copied === undefined || ledger.hasFact(copied.subject, copied.id);
  if (!isSame || !hasCopied) requestFullUnion(outbox);
}

/** Makes the next union with the ledger compare all facts, not only those since the last one. */
export function requestFullUnion(outbox: Outbox): void {
  outbox.change(() => {
    outbox.sql('update facts set in_ledger = 0 where in_ledger = 1').run();
    updateHeader(outbox, { unitedSeq: 0, unitedFact: '' });
  });
}

/**
 * Adds facts from elsewhere with what they carry.
 * @returns those that were new
 */
function addFacts(outbox: Outbox, facts: readonly Fact[], isFromLedger: boolean): Fact[] {
  const added: Fact[] = [];
  const isKnown = outbox.sql('select 1 from facts where subject = ? and id = ?');
  const unknown = facts.filter(({ subject, id }) => isKnown.get(subject, id) === undefined);
  for (const fact of unknown) storeCarriedIntent(outbox, fact);
  for (const [subject, own] of groupBy(
    unknown.flatMap((fact) => unpackWish(outbox, fact)),
    ({ subject }) => subject,
  )) {
    const before = listFactsOfSubject(outbox, subject);
    const isInLedger = ({ kind }: Fact): boolean => isFromLedger && kind !== 'current';
    added.push(...insertMissingFacts(outbox, subject, own, before, isInLedger));
  }
  return added;
}

/** Returns a fact; before it, if it is an attempt, the wish that it carries. */
function unpackWish(outbox: Outbox, fact: Fact): Fact[] {
  if (fact.kind !== 'attempted') return [fact];
  const { current } = unpackAttempt(fact);
  if (makeFact(current).id !== fact.body.current) throw makeDamagedError(outbox.path, fact.id);
  return [current, fact];
}

/** Stores the intent that an attempt carries; that of a wish is in the ledger, if anywhere. */
function storeCarriedIntent(outbox: Outbox, fact: Fact): void {
  if (fact.kind === 'current') storeIntentFromLedger(outbox, fact.subject, fact.body.intent);
  if (fact.kind !== 'attempted') return;
  const { content } = unpackAttempt(fact);
  const { subject, slot } = fact;
  const id = fact.body.intent;
  const document = content.document === null ? null : Buffer.from(content.document, 'utf8');
  const prepared = { document, issues: null };
  storeForeignIntent(outbox, outbox.path, {
    id,
    kind: parseSlotKind(slot),
    subject,
    content: content.intent,
    ...prepared,
    preparedId: makePreparedId(id, prepared),
  });
}

/** A version that was wanted after an attempt is in the ledger as well. */
function storeIntentFromLedger(outbox: Outbox, subject: string, id: string | null): void {
  const { ledger } = outbox;
  const intent = id === null ? undefined : ledger?.findIntent(subject, id);
  if (ledger !== undefined && intent !== undefined) storeForeignIntent(outbox, ledger.path, intent);
}

/**
 * Stores the content of intents again, in one transaction, from their attempts or from the ledger.
 * An intent that neither has stays without content.
 * @param intents their ids
 * @throws DatabaseError where a fact is damaged
 */
export function restoreIntentContents(outbox: Outbox, intents: readonly string[]): void {
  const wanting = `body ->> 'intent' = ? and kind in ('current', 'attempted')`;
  outbox.change(() => {
    for (const id of intents)
      for (const fact of selectFacts(outbox, wanting, id)) storeCarriedIntent(outbox, fact);
  });
}

/** Applies the rules for finds and records that have arrived, and stores questions about them. */
function settleArrived(
  outbox: Outbox,
  added: readonly Fact[],
  known: ReadonlySet<string>,
): UnionResult {
  if (added.length === 0) return NOTHING_UNITED;
  const subjects = new Set(added.map(({ subject }) => subject));
  const arrived = [...subjects].filter(
    (subject) => !known.has(subject) && findByUuid(outbox, subject) !== undefined,
  );
  runAsCommand(outbox, null, () =>
    outbox.change(() => {
      for (const uuid of arrived) adoptOrRename(outbox, uuid, (each) => known.has(each));
      for (const subject of subjects) {
        keepQuestionsOfCopies(outbox, subject);
        detachRecordIfShared(outbox, subject);
      }
    }),
  );
  storeQuestionsAboutAlikeFinds(outbox, () => true, new Set(arrived));
  return { facts: added.length, finds: arrived.length };
}

/** Keeps the rows of all copies about which a person is asked, where one version is wanted. */
function keepQuestionsOfCopies(outbox: Outbox, uuid: string): void {
  const { wanted } = getSlotState(outbox, makeImportSlot(uuid));
  if (wanted.kind !== 'one' || wanted.wishes.length < 2) return;
  const find = findByUuid(outbox, uuid);
  if (find === undefined) return;
  const all = wanted.wishes.flatMap(({ body }) => body.find?.asked ?? []);
  const asked = [...new Map(all.map((row) => [`${row.key} ${row.path}`, row])).values()];
  if (asked.length !== (find.wish.asked ?? []).length) updateWish(outbox, find, { asked });
}

/**
 * Keeps one of two finds with one local id and equal content, one of which was never attempted;
 * else the one that arrived gets another local id, and the `namesake` about which a person is
 * asked.
 * @param isKnown tells if a find was here before what arrived
 */
function adoptOrRename(outbox: Outbox, uuid: string, isKnown: (uuid: string) => boolean): void {
  const arrived = findByUuid(outbox, uuid);
  if (arrived === undefined || arrived.localId === arrived.wish.localId) return;
  const here = findByLocalId(outbox, arrived.wish.localId);
  const isHereNew = here !== undefined && isUnattempted(outbox, here);
  const isArrivedNew = isUnattempted(outbox, arrived);
  const isOne = here !== undefined && isKnown(here.uuid) && isSameContent(here, arrived);
  if (isOne && (isHereNew || isArrivedNew)) {
    if (isHereNew) giveChangesTo(outbox, here, arrived);
    else giveChangesTo(outbox, arrived, here);
    return;
  }
  const { localId } = arrived;
  updateWish(outbox, arrived, {
    localId,
    namesake: arrived.wish.namesake ?? arrived.wish.localId,
  });
  // Asks about the one of the two that may still be sent.
  if (here !== undefined && isHereNew && !isArrivedNew)
    updateWish(outbox, here, { namesake: localId });
}

/**
 * Resolves clashes of finds that an undo brought back with those here, in the caller's transaction.
 * Of two with one local id and equal content, one of them never attempted, only one is kept. Of any
 * other two with one local id, the find that came back gets another local id and a `namesake`,
 * about which the caller stores a question. A record that both have is detached from both.
 * @param subjects UUIDs of the finds that came back; subjects of records have no effect
 */
export function resolveClashesAfterUndo(outbox: Outbox, subjects: ReadonlySet<string>): void {
  for (const uuid of subjects) {
    adoptOrRename(outbox, uuid, () => true);
    detachRecordIfShared(outbox, uuid);
  }
}

/** Detaches the record of a find from all that have it, if its import is accepted. */
function detachRecordIfShared(outbox: Outbox, uuid: string): void {
  const entry = findImportOfFind(outbox, uuid);
  if (entry?.identCely != null && entry.state === 'accepted')
    detachSharedRecord(outbox, entry.identCely);
}

function isSameContent(one: StoredFind, other: StoredFind): boolean {
  const form = ({ elements }: StoredFind): string => JSON.stringify(canonicalizeElements(elements));
  return form(one) === form(other);
}

function isUnattempted(outbox: Outbox, { uuid }: StoredFind): boolean {
  return findImportOfFind(outbox, uuid)?.attempts === 0;
}

/**
 * Changes what a command of a person wanted. A union, which is no command, leaves it part of that
 * one, so that an undo takes both back.
 */
function runForCommand(outbox: Outbox, wanting: string | null, work: () => void): void {
  runAsCommand(outbox, getOrMakeCommandId(outbox) ?? wanting, work);
}

function updateWish(outbox: Outbox, find: StoredFind, changes: Partial<FindWish>): void {
  runForCommand(outbox, find.command, () => updateFindWish(outbox, find, changes));
}

/** Wants the queued changes of a find for the one that it is, and the find itself no longer. */
function giveChangesTo(outbox: Outbox, from: StoredFind, to: StoredFind): void {
  restoreWish(outbox, makeImportSlot(to.uuid));
  // It was removed there before it was entered again here, without what it had then.
  if (to.isHidden)
    for (const entry of listEntriesOfSubject(outbox, to.uuid))
      if (entry.kind !== 'import') withdrawWish(outbox, entry, 'removed');
  for (const entry of listEntriesOfSubject(outbox, from.uuid)) {
    if (entry.kind === 'import' || entry.state !== 'queued') continue;
    const [wish] = getSlotState(outbox, entry).wanted.wishes;
    runForCommand(outbox, wish?.body.command ?? null, () => {
      if (entry.kind === 'number') recordNumberWish(outbox, to.uuid, entry.value, entry);
      else recordPhotoWish(outbox, to.uuid, entry.photograph);
    });
  }
  withdrawWish(outbox, makeImportSlot(from.uuid), 'removed');
  // Its local id may be free now.
  rebuildEntries(outbox, to.uuid);
}

const parsePlace = createRowParser({ subject: isText, id: isText });

/**
 * Adds to an outbox the facts and intents of another one that it lacks, in several transactions,
 * and treats what arrived as {@link uniteWithLedger} does. The other one is only read. It can be
 * repeated, also after an error. The caller makes sure that both are of one service and account,
 * and copies the photographs.
 * @returns how many facts and finds arrived in `to`
 * @throws DatabaseError where `to` cannot be written, or a row of `from` is damaged
 */
export function addFromOutbox(from: Outbox, to: Outbox): UnionResult {
  const known = listFindUuids(to);
  const added: Fact[] = [];
  const intents = from.sql(`select ${INTENT_COLUMNS} from intents`);
  to.change(() => {
    for (const row of intents.iterate()) storeForeignIntent(to, from.path, row);
  });
  const read = (at: number) =>
    selectFacts(from, 'true order by seq limit ? offset ?', MAX_FACTS_AT_ONCE, at);
  let at = 0;
  for (let facts = read(at); facts.length > 0; facts = read(at)) {
    to.change(() => added.push(...addFacts(to, facts, false)));
    at += facts.length;
  }
  return settleArrived(to, added, known);
}
