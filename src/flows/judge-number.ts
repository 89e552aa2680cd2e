import { t } from '../base/language.ts';
import type { HarvestedFind } from '../find/harvested-find.ts';
import type { Verdict, Window } from './judge-doubt.ts';

export type NumberDoubt = {
  readonly identCely: string;
  readonly value: string;
  /** What the record had before, as far as this outbox knows. */
  readonly before: string | undefined;
  readonly window: Window;
};

/**
 * The verdict on a number that may have been sent since an older copy was made. It is not simply sent again: a later number
 * may have replaced it meanwhile.
 */
export function judgeNumber(doubt: NumberDoubt, find: HarvestedFind | undefined, nowMs: number): Verdict {
  const { identCely, value, before, window } = doubt;
  if (find === undefined) {
    return {
      kind: 'undecided',
      basis: 'record-not-shown',
      reason: t`the harvest does not show ${identCely} to this account`,
      candidates: [],
    };
  }
  const current = find.elements.evidencni_cislo?.toString() ?? '';
  if (current === value) {
    return { kind: 'found', basis: 'same-number', identCely, reason: t`${identCely} has this number`, candidates: [] };
  }
  if (current !== (before ?? '')) {
    return {
      kind: 'undecided',
      basis: 'other-number',
      reason: t`${identCely} has another number by now: ${current}`,
      candidates: [current],
    };
  }
  if (nowMs <= window.settledMs) {
    const seconds = Math.ceil((window.settledMs - nowMs) / 1000);
    return {
      kind: 'undecided',
      basis: 'maybe-under-way',
      reason: t`the service may still be working on it; ask again in ${seconds} s`,
      candidates: [],
    };
  }
  return { kind: 'absent', basis: 'number-as-before', reason: t`${identCely} has the number that it had before`, candidates: [] };
}
