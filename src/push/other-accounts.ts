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
  type Intent,
  isImportSlot,
  type NumberIntent,
  type PhotoIntent,
  parseIntent,
  parseSlotKind,
} from '../outbox/intents.ts';
import { type Outbox, readHeader } from '../outbox/open-outbox.ts';

/** The last attempt of another account to send a find, and the records that it got. */
type FindOfOtherAccount = {
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
  for (const own of groupBy(facts, ({ slot }) => slot).values()) {
    const { verdicts, records } = foldSlot(own);
    const attempts = listFactsOfKind(own, 'attempted');
    const last = attempts.at(-1);
    if (last === undefined) continue;
    if (isImportSlot(last.slot)) {
      finds.push({ attempt: last, records });
      continue;
    }
    for (const attempt of attempts) {
      const verdict = verdicts.get(attempt.id);
      if (verdict === undefined || !mayBeAtService(verdict)) continue;
      const intent = parseSentIntent(attempt);
      if (intent.kind !== 'import') changes.push({ attempt, intent });
    }
  }
  return { finds, changes: groupBy(changes, ({ attempt }) => attempt.body.target ?? '') };
}

function parseSentIntent(attempt: FactOf<'attempted'>): Intent {
  const { intent } = unpackAttempt(attempt).content;
  return parseIntent(parseSlotKind(attempt.slot), attempt.subject, intent);
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
    const intent = parseSentIntent(attempt);
    if (intent.kind !== 'import') continue;
    const localId = attempt.body.localId ?? '';
    const item = { name: records[0] ?? localId, uuid: attempt.subject };
    index.add(toComparableFind(intent.elements, localId), item);
  }
  return index;
}
