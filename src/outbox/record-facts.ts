import { groupBy } from '../base/collections.ts';
import { createRowParser, isNumber, isText } from '../base/disk/database.ts';
import { PasError } from '../base/errors.ts';
import { refoldSubject } from './cache.ts';
import {
  type Fact,
  type FactKind,
  type FactOf,
  makeCommandId,
  makeFact,
  type NewFact,
  parseFact,
  serializeFact,
} from './facts.ts';
import { findStoredIntent, isImportSlot } from './intents.ts';
import type { Scope } from './ledger.ts';
import { type Outbox, readHeader } from './open-outbox.ts';

/** Facts per transaction, so that other writers wait only briefly. */
export const MAX_FACTS_AT_ONCE = 500;

/** Facts about the service: they stay true even if the outbox's transaction is rolled back. */
const LEDGER_FIRST: readonly FactKind[] = ['attempted', 'answered'];

const IN_LEDGER = { pending: 0, copied: 1, unneeded: 2 } as const;

/** Returns the id of the running command; null where no person gave one. */
export function getCommandId(outbox: Outbox): string | null {
  const { command, clock } = outbox;
  if (command.words === undefined) return null;
  command.id ??= makeCommandId(command.words, clock.now());
  return command.id;
}

/**
 * Returns the facts of a subject.
 * @throws DatabaseError where one is damaged
 */
export function listFactsOfSubject(outbox: Outbox, subject: string): Fact[] {
  return outbox
    .sql('select * from facts where subject = ? order by seq')
    .all(subject)
    .map((row) => parseFact(outbox.path, row));
}

/**
 * Returns the facts of one slot.
 * @throws DatabaseError where one is damaged
 */
export function listFactsOfSlot(outbox: Outbox, subject: string, slot: string): Fact[] {
  return listFactsOfSubject(outbox, subject).filter((fact) => fact.slot === slot);
}

/**
 * Appends facts, and folds their subjects anew. Attempts and answers are on disk in the ledger
 * before they are in the outbox; all others go to the outbox first, since those of a rolled back
 * transaction must not return with the next union.
 * @param options.isNew the subjects have no facts yet, which saves reading them
 */
export function appendFacts(
  outbox: Outbox,
  drafts: readonly NewFact[],
  { isNew = false }: { readonly isNew?: boolean } = {},
): Fact[] {
  return outbox.change(() => {
    const facts = drafts.map((draft) => makeFact(draft as Omit<FactOf<FactKind>, 'id'>));
    const copied = copyToLedgerFirst(outbox, facts);
    for (const [subject, own] of groupBy(facts, ({ subject }) => subject)) {
      const before = isNew ? [] : listFactsOfSubject(outbox, subject);
      insertFacts(outbox, subject, own, before, (fact) => copied.includes(fact));
    }
    // The ledger need not know finds without an attempt.
    if (!isNew && hasPendingFacts(outbox)) outbox.runAfterCommit(() => exportIfPossible(outbox));
    return facts;
  });
}

/** @returns the attempts and answers, which are in the ledger then */
function copyToLedgerFirst(outbox: Outbox, facts: readonly Fact[]): readonly Fact[] {
  const early = facts.filter(({ kind }) => LEDGER_FIRST.includes(kind));
  const scope = early.length === 0 ? undefined : findScope(outbox);
  if (scope === undefined || outbox.ledger === undefined) return [];
  outbox.ledger.append(scope, early.map(serializeFact));
  return early;
}

/** Writes the caches of a subject again. */
export function refold(outbox: Outbox, subject: string): void {
  refoldSubject(outbox, subject, listFactsOfSubject(outbox, subject));
}

/**
 * Inserts missing facts of one subject, and folds it anew. A slot without an attempt is no matter for the ledger; with
 * its first attempt all its facts are, and those of the import, which say what find it is.
 */
export function insertFacts(
  outbox: Outbox,
  subject: string,
  facts: readonly Fact[],
  before: readonly Fact[],
  isInLedger: (fact: Fact) => boolean,
): Fact[] {
  const shared = listSharedSlots([...before, ...facts]);
  const wasShared = listSharedSlots(before);
  for (const slot of shared)
    if (!wasShared.has(slot))
      outbox
        .sql('update facts set in_ledger = 0 where subject = ? and slot = ? and in_ledger = 2')
        .run(subject, slot);
  const insert = outbox.sql(
    `insert into facts (id, kind, subject, slot, command, body, in_ledger)
     values (?, ?, ?, ?, ?, ?, ?) on conflict (subject, id) do nothing`,
  );
  const added = facts.filter((fact) => {
    const { id, kind, slot, command, body } = serializeFact(fact);
    const unlessThere = shared.has(slot) ? IN_LEDGER.pending : IN_LEDGER.unneeded;
    const inLedger = isInLedger(fact) ? IN_LEDGER.copied : unlessThere;
    return insert.run(id, kind, subject, slot, command, body, inLedger).changes === 1;
  });
  if (added.length > 0) refoldSubject(outbox, subject, [...before, ...added]);
  return added;
}

/** Returns the slots of a subject whose facts the ledger has. */
function listSharedSlots(facts: readonly Fact[]): ReadonlySet<string> {
  const attempted = facts.flatMap(({ kind, slot }) => (kind === 'attempted' ? [slot] : []));
  if (attempted.length === 0) return new Set();
  return new Set([...attempted, ...facts.map(({ slot }) => slot).filter(isImportSlot)]);
}

/** Returns whose facts they are in the ledger; undefined before the first sign-in. */
export function findScope(outbox: Outbox): Scope | undefined {
  const { service, account } = readHeader(outbox);
  return account === null || service === '' ? undefined : { service, account };
}

function hasPendingFacts({ sql }: Outbox): boolean {
  return sql('select 1 from facts where in_ledger = 0 limit 1').get() !== undefined;
}

/** Ignores a busy or read-only ledger; the next union adds the facts. */
function exportIfPossible(outbox: Outbox): void {
  try {
    exportFacts(outbox);
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
  }
}

const parseRow = createRowParser({ seq: isNumber, id: isText });

/**
 * Copies facts that only the outbox has to the ledger.
 * @throws DatabaseError where it cannot be written
 */
export function exportFacts(outbox: Outbox): void {
  const { ledger } = outbox;
  const scope = findScope(outbox);
  if (ledger === undefined || scope === undefined) return;
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
    ledger.append(scope, facts.map(serializeFact), intents);
    const last = parseRow(rows.at(-1)).seq;
    outbox.change(() =>
      outbox.sql('update facts set in_ledger = 1 where in_ledger = 0 and seq <= ?').run(last),
    );
  }
}
