import { groupBy } from '../base/collections.ts';
import { type FindIndex, makeFindIndex, toComparableFind } from '../finds/match-finds.ts';
import {
  type CandidateIdentity,
  type FactOf,
  listFactsOfKind,
  unpackAttempt,
} from '../outbox/facts.ts';
import { foldSlot, mayBeAtService } from '../outbox/fold.ts';
import {
  isImportSlot,
  type NumberIntent,
  type PhotoIntent,
  parseIntent,
  parseSlotKind,
} from '../outbox/intents.ts';
import { type Outbox, readHeader } from '../outbox/open-outbox.ts';

/** The last attempt of another account to send a find, and the records that it got. */
export type FindOfOtherAccount = {
  readonly attempt: FactOf<'attempted'>;
  readonly records: readonly string[];
};

/** A number or photograph that another account sent to a record, or may have sent. */
export type ChangeOfOtherAccount = {
  readonly attempt: FactOf<'attempted'>;
  readonly intent: NumberIntent | PhotoIntent;
};

/**
 * Returns what other accounts attempted at this service from this machine, also with copies of
 * finds that are here: a union brings only what this account attempted. Empty without a ledger.
 */
export function listSentByOtherAccounts(outbox: Outbox): {
  readonly finds: readonly FindOfOtherAccount[];
  /** Numbers and photographs by record, oldest first. */
  readonly changes: ReadonlyMap<string, readonly ChangeOfOtherAccount[]>;
} {
  const { service, account } = readHeader(outbox);
  const facts = outbox.ledger?.listFactsOfOtherAccounts({ service, account: account ?? '' }) ?? [];
  const finds: FindOfOtherAccount[] = [];
  const changes: ChangeOfOtherAccount[] = [];
  for (const [slot, own] of groupBy(facts, (fact) => fact.slot)) {
    const { verdicts, records } = foldSlot(own);
    const attempts = listFactsOfKind(own, 'attempted');
    const last = attempts.at(-1);
    if (isImportSlot(slot) && last !== undefined) finds.push({ attempt: last, records });
    for (const attempt of attempts) {
      const intent = parseIntent(
        parseSlotKind(slot),
        attempt.subject,
        unpackAttempt(attempt).content.intent,
      );
      const verdict = verdicts.get(attempt.id);
      if (intent.kind !== 'import' && verdict !== undefined && mayBeAtService(verdict))
        changes.push({ attempt, intent });
    }
  }
  return { finds, changes: groupBy(changes, ({ attempt }) => attempt.body.target ?? '') };
}

/**
 * Makes the index by which a find is compared with finds of other accounts. Each of these is named
 * by its record, or by its local id where it has none.
 */
export function indexFindsOfOtherAccounts(
  finds: readonly FindOfOtherAccount[],
): FindIndex<CandidateIdentity> {
  const index = makeFindIndex<CandidateIdentity>();
  for (const { attempt, records } of finds) {
    const intent = parseIntent('import', attempt.subject, unpackAttempt(attempt).content.intent);
    if (intent.kind !== 'import') continue;
    const localId = attempt.body.localId ?? '';
    const item = { name: records[0] ?? localId, uuid: attempt.subject };
    index.add(toComparableFind(intent.elements, localId), item);
  }
  return index;
}
