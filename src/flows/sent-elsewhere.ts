import { errorIssue } from '../base/issue.ts';
import { t } from '../base/language.ts';
import { applySettlement, type Settlement } from '../outbox/claims.ts';
import { sentUnderOthers } from '../outbox/entries.ts';
import type { Entry } from '../outbox/entry.ts';
import { STATE_WORDS } from '../outbox/entry-words.ts';
import type { ServiceOutbox } from './issued-elsewhere.ts';

export const SENT_ELSEWHERE = 'sent-under-other-profile';

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
  const [word, other] = [STATE_WORDS[sent.state], sent.profile];
  const reason = t`the find is ${word} under profile ${other} of the same service and is not sent twice`;
  const find = entry.localId === null ? {} : { find: entry.localId };
  const settlement: Settlement = { state: 'refused', reason, issues: [errorIssue(SENT_ELSEWHERE, reason, find)] };
  applySettlement(known.outbox, entry, settlement);
  return settlement;
}

/** Refused by this pas, not by the service: nothing in it is to be mended. */
export function isRefusedAsSecond({ state, issues }: Entry): boolean {
  return state === 'refused' && issues.some(({ rule }) => rule === SENT_ELSEWHERE);
}
