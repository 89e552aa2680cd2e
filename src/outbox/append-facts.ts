import { groupBy } from '../base/collections.ts';
import { createRowParser, isNumber, isText } from '../base/disk/database.ts';
import { PasError } from '../base/errors.ts';
import { storeFoldedEntries } from './cache.ts';
import {
  FACT_COLUMNS,
  type Fact,
  type FactRow,
  isAttempt,
  makeFact,
  makeFactRow,
  type NewFact,
  parseFact,
  type Slot,
  selectFacts,
} from './facts.ts';
import { foldSlot, type SlotState } from './fold.ts';
import { findStoredIntent } from './intents.ts';
import type { Ledger, LedgerScope } from './ledger.ts';
import { type Outbox, readHeader } from './open-outbox.ts';

/** Facts per transaction, so that other writers wait only briefly. */
export const MAX_FACTS_AT_ONCE = 500;

/**
 * Relation of a fact to the ledger, as in the column `in_ledger`: `pending`: to be copied there;
 * `copied`: the ledger has it; `unneeded`: its subject was never attempted.
 */
export const IN_LEDGER = { pending: 0, copied: 1, unneeded: 2 } as const;

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
 * Returns what {@link foldSlot} computes from the facts of a slot.
 * @throws DatabaseError where one is damaged
 */
export function getSlotState(outbox: Outbox, slot: Slot): SlotState {
  return foldSlot(listFactsOfSlot(outbox, slot));
}

/**
 * Appends facts, and makes the entries of their subjects again, in one transaction, or in that of
 * the caller. A fact that is there already is not added again. The ledger, if it can be used, gets
 * the facts of attempted subjects after the commit: those of a failed transaction must not return
 * with a union.
 * @param areInLedger the ledger has these facts already
 * @throws DatabaseError where the outbox cannot be written, or a fact is damaged
 */
export function appendFacts(outbox: Outbox, facts: readonly NewFact[], areInLedger = false): void {
  outbox.change(() => {
    for (const [subject, own] of groupBy(facts.map(makeFact), (fact) => fact.subject)) {
      const before = listFactsOfSubject(outbox, subject);
      insertMissingFacts(outbox, subject, own, before, () => areInLedger);
    }
    const pending = outbox.sql('select 1 from facts where in_ledger = 0 limit 1').get();
    if (pending !== undefined) outbox.runAfterCommit(() => exportIfPossible(outbox));
  });
}

/**
 * Makes the entries of a subject again from its facts, in the caller's transaction.
 * @throws DatabaseError where one is damaged
 */
export function rebuildEntries(outbox: Outbox, subject: string): void {
  storeFoldedEntries(outbox, subject, listFactsOfSubject(outbox, subject));
}

/**
 * Inserts those facts of one subject that the outbox lacks, and makes its entries again, in the
 * caller's transaction. The ledger has to do with a subject from its first attempt on: then all its
 * facts go there, also wishes that were replaced.
 * @param before all facts that the outbox has of the subject
 * @param isInLedger tells if the ledger has the fact already
 * @returns the inserted facts
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
    insertFact(outbox, makeFactRow(fact), isInLedger(fact) ? IN_LEDGER.copied : unlessThere);
    added.push(fact);
  }
  if (added.length > 0) storeFoldedEntries(outbox, subject, [...before, ...added]);
  return added;
}

/**
 * Inserts one fact that the outbox lacks, in the caller's transaction; the entries of its subject
 * stay as they are.
 * @param inLedger a value of {@link IN_LEDGER}
 * @returns the number of its row in the table
 */
export function insertFact({ sql }: Outbox, row: FactRow, inLedger: number): number {
  const { lastInsertRowid } = sql(
    `insert into facts (${FACT_COLUMNS.columns}, in_ledger)
     values (${FACT_COLUMNS.values}, :inLedger)`,
  ).run({ ...row, inLedger });
  return Number(lastInsertRowid);
}

/**
 * Returns the ledger, with the scope under which it has the facts of this outbox; undefined without
 * a usable ledger, and before the first sign-in.
 */
export function findLedgerOfAccount(
  outbox: Outbox,
): { readonly ledger: Ledger; readonly scope: LedgerScope } | undefined {
  const { ledger } = outbox;
  const { service, account } = readHeader(outbox);
  if (ledger === undefined || account === null || service === '') return undefined;
  return { ledger, scope: { service, account } };
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
 * Copies to the ledger the facts of attempted subjects that it lacks, with the intents that they
 * want. Does nothing without a usable ledger, and before the first sign-in.
 * @throws DatabaseError where the ledger cannot be written, or a fact is damaged
 */
export function copyFactsToLedger(outbox: Outbox): void {
  const own = findLedgerOfAccount(outbox);
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
    own.ledger.append(own.scope, facts.map(makeFactRow), intents);
    // These alone: a first attempt may have made older facts a matter of the ledger meanwhile.
    const copied = JSON.stringify(rows.map((row) => parseRow(row).seq));
    outbox.change(() =>
      outbox
        .sql('update facts set in_ledger = 1 where seq in (select value from json_each(?))')
        .run(copied),
    );
  }
}
