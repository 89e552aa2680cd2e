import { msg } from '../../base/message.ts';
import type { HarvestedElements } from '../../find/harvested-find.ts';
import { CLOCK_MARGIN_MS, undecided, type Verdict, type View, type Window } from './verdict.ts';

/** What decides whether an account sees a find: its state, and the organisations of its project and of its receiver. */
export function shownKindOf(elements: HarvestedElements, stav: number): string {
  return [elements.projekt, elements.predano_organizace].map(idOf).concat(String(stav)).join(' ');
}

export function idOf(value: HarvestedElements[keyof HarvestedElements]): string {
  return typeof value === 'object' ? value.id : '';
}

/** The verdict on an import that the harvest does not show. */
export function judgeAbsence(window: Window, kind: string, view: View): Verdict {
  if (!wouldBeShown(window, view.shown.get(kind), view.harvester)) {
    const reason = msg`the harvest shows no record of this project that this account is known to have made in this state, so a missing one proves nothing`;
    return undecided('no-like-record-shown', reason, []);
  }
  return (
    tooEarly(window, view) ?? {
      kind: 'absent',
      basis: 'not-among-those-shown',
      reason: msg`the harvest shows this account’s records in the same state, but not this one`,
      candidates: [],
    }
  );
}

/** An account may see its own records and not those of another, so only its own harvest proves that it did not make one. */
function wouldBeShown({ accounts }: Window, makers: ReadonlySet<string> | undefined, harvester: string | undefined): boolean {
  if (accounts === undefined || accounts.size === 0 || makers === undefined) return false;
  return [...accounts].every((account) => account === harvester && makers.has(account));
}

/**
 * Why what a harvest does not show may be there all the same; undefined where it would be shown by now. The service must
 * be done with the write, and its index must have had the time to come that far.
 * @param shownMs of when the very record is that was looked at for the write
 */
export function tooEarly(
  window: Window,
  { nowMs, index }: Pick<View, 'nowMs' | 'index'>,
  shownMs = Number.NEGATIVE_INFINITY,
): Verdict | undefined {
  const { fromMs, settledMs } = window;
  if (settledMs === Number.POSITIVE_INFINITY)
    return undecided('copy-may-send', msg`a copy of this outbox has it queued as well, and may still send it`, []);
  if (nowMs <= settledMs) {
    const seconds = Math.ceil((settledMs - nowMs) / 1000);
    return undecided('maybe-under-way', msg`the service may still be working on it; ask again in ${seconds} s`, []);
  }
  const behind = [...index.unlisted].find(([, acceptedMs]) => acceptedMs >= fromMs - CLOCK_MARGIN_MS);
  if (behind !== undefined) return indexBehind(behind[0]);
  const waitMs = settledMs + index.allowanceMs - nowMs;
  if (shownMs >= settledMs || waitMs <= 0) return undefined;
  const seconds = Math.ceil(waitMs / 1000);
  const reason = msg`the service may show new records late; ask again in ${seconds} s`;
  return undecided('index-may-lag', reason, []);
}

/** @param missing what it does not show, although the service has it */
export function indexBehind(missing: string): Verdict {
  const reason = msg`the harvest does not show ${missing} either, which the service has accepted since: its index is behind`;
  return undecided('index-behind', reason, []);
}
