import { t } from '../../base/language.ts';
import { tooEarly } from './judge-absence.ts';
import type { RecordSight } from './judge-photograph.ts';
import { CLOCK_MARGIN_MS, type Verdict, type View, type Window } from './verdict.ts';

type NumberDoubt = {
  readonly identCely: string;
  readonly value: string;
  /** What the record may have without anybody else having set it; empty where nothing is known of it. */
  readonly known: ReadonlySet<string>;
  readonly window: Window;
};

/** The verdict on a number that may have been sent. It is not simply sent again: another one may have replaced it meanwhile. */
export function judgeNumber(doubt: NumberDoubt, record: RecordSight, view: Pick<View, 'nowMs' | 'index'>): Verdict {
  const { identCely, value, known, window } = doubt;
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
  const isAsBefore = known.size > 0 ? known.has(current) : current === '' || record.changedMs < window.fromMs - CLOCK_MARGIN_MS;
  if (!isAsBefore) {
    const reason =
      current === ''
        ? t`${identCely} has no number by now; it was to get ${value}`
        : t`${identCely} has the number ${current} by now; it was to get ${value}`;
    return { kind: 'undecided', basis: 'other-number', reason, candidates: [current] };
  }
  return (
    tooEarly(window, view, record.changedMs) ?? {
      kind: 'absent',
      basis: 'number-as-before',
      reason: t`${identCely} has the number that it had before`,
      candidates: [],
    }
  );
}
