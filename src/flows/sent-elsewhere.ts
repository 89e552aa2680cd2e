import { t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import { applySettlement, type Settlement } from '../outbox/claims.ts';
import { sentUnderOthers } from '../outbox/entries.ts';
import type { Entry } from '../outbox/entry.ts';
import { STATE_WORDS } from '../outbox/entry-words.ts';
import type { ServiceOutbox } from './issued-elsewhere.ts';

/** The same service would make a second record, whatever the profile is called and whoever signs in. */
export function sentElsewhere({ outbox, profile, isOtherService }: ServiceOutbox, findId: number): Entry | undefined {
  return sentUnderOthers(outbox, findId, profile).find((entry) => !isOtherService(entry.profile));
}

/**
 * A find can be queued under two profiles of one service before either of them sends it. The second then refuses it. To be called
 * before it is claimed, while holding the lease.
 * @returns undefined where it may be sent
 */
export function refuseSecond(known: ServiceOutbox, entry: Entry): Settlement | undefined {
  if (entry.kind !== 'import' || entry.findId === null) return undefined;
  const sent = sentElsewhere(known, entry.findId);
  if (sent === undefined) return undefined;
  const [word, other, find, flag] = [
    STATE_WORDS[sent.state],
    sent.profile,
    shellWord(entry.localId ?? ''),
    shellWord(known.profile),
  ];
  const reason = t`the find is ${word} under profile ${other} of the same service and is not sent twice; to take it away here: pas remove ${find} --profile ${flag}`;
  const settlement: Settlement = { state: 'refused', reason, issues: [] };
  applySettlement(known.outbox, entry, settlement);
  return settlement;
}
