import { t } from '../base/language.ts';
import { tooEarly } from './judge-absence.ts';
import type { RecordSight } from './judge-photograph.ts';
import type { Verdict, View, Window } from './verdict.ts';

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
export function judgeNumber(doubt: NumberDoubt, record: RecordSight, view: Pick<View, 'nowMs' | 'index'>): Verdict {
  const { identCely, value, before, window } = doubt;
  if (record === undefined) {
    return {
      kind: 'undecided',
      basis: 'record-not-shown',
      reason: t`the harvest does not show ${identCely} to this account`,
      candidates: [],
    };
  }
  const current = record.find.elements.evidencni_cislo?.toString() ?? '';
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
  return (
    tooEarly(window, view, Math.max(view.index.reachesMs, record.changedMs)) ?? {
      kind: 'absent',
      basis: 'number-as-before',
      reason: t`${identCely} has the number that it had before`,
      candidates: [],
    }
  );
}
