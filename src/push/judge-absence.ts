import { msg } from '../base/message.ts';
import type { HarvestedElements } from '../find/fields.ts';
import {
  type AttemptWindow,
  CLOCK_MARGIN_MS,
  makeUndecided,
  type Verdict,
  type View,
  type ViewTime,
} from './verdict.ts';

/**
 * Returns the visibility class of a find: its state, and the organisations of its project and its
 * receiver.
 */
export function getShownKind(elements: HarvestedElements, stav: number): string {
  return [elements.projekt, elements.predano_organizace]
    .map(getReferenceId)
    .concat(String(stav))
    .join(' ');
}

/** Returns the identifier of a reference; '' for a text, a number or an absent element. */
export function getReferenceId(value: HarvestedElements[keyof HarvestedElements]): string {
  return typeof value === 'object' ? value.id : '';
}

/** Judges an import that the harvest does not show. */
export function judgeAbsence(window: AttemptWindow, kind: string, view: View): Verdict {
  if (!isExpectedToShow(window, view.shown.get(kind), view.harvester)) {
    const reason = msg`the harvest shows no other record that this account created in this project and state, so that this one is missing proves nothing`;
    return makeUndecided('no-like-record-shown', reason, []);
  }
  return (
    explainTooEarly(window, view) ?? {
      kind: 'absent',
      basis: 'not-among-those-shown',
      reason: msg`the harvest shows this account's records in the same state, but not this one`,
      candidates: [],
    }
  );
}

/**
 * An account may see its own records and not those of another, so only its own harvest proves
 * absence.
 */
function isExpectedToShow(
  { accounts }: AttemptWindow,
  makers: ReadonlySet<string> | undefined,
  harvester: string | undefined,
): boolean {
  if (accounts.size === 0 || makers === undefined) return false;
  return [...accounts].every((account) => account === harvester && makers.has(account));
}

/**
 * Explains why a write may exist though a harvest does not show it; undefined where it would be
 * visible by now. The service must have finished the write, and its index must have had time to
 * catch up.
 * @param shownMs last change of the record, where the write was a change of it
 */
export function explainTooEarly(
  { bounds }: AttemptWindow,
  { nowMs, index }: ViewTime,
  shownMs = Number.NEGATIVE_INFINITY,
): Verdict | undefined {
  if (bounds === undefined) return makeTimeUnknownVerdict([]);
  const { fromMs, settledMs } = bounds;
  if (nowMs <= settledMs) return makeInFlightVerdict(settledMs, nowMs);
  const behind = [...index.unlisted].find(
    ([, acceptedMs]) => acceptedMs >= fromMs - CLOCK_MARGIN_MS,
  );
  if (behind !== undefined) return makeIndexBehindVerdict(behind[0]);
  const waitMs = settledMs + index.allowanceMs - nowMs;
  if (shownMs >= settledMs || waitMs <= 0) return undefined;
  const seconds = Math.ceil(waitMs / 1000);
  const reason = msg`the service may show new records late; ask again in ${seconds} s`;
  return makeUndecided('index-may-lag', reason, []);
}

/** Makes the verdict for a write that the service, or a proxy, may not have finished. */
export function makeInFlightVerdict(settledMs: number, nowMs: number): Verdict {
  const seconds = Math.ceil((settledMs - nowMs) / 1000);
  return makeUndecided(
    'maybe-under-way',
    msg`the service may still be working on it; ask again in ${seconds} s`,
    [],
  );
}

/** Without a server time before the attempt, evidence is shown to a person and settles nothing. */
export function makeTimeUnknownVerdict(candidates: readonly string[]): Verdict {
  return makeUndecided(
    'time-unknown',
    msg`the service did not state its time before the attempt, so a person decides`,
    candidates,
  );
}

/**
 * @param missing a record or file that the harvest does not show, although the service accepted it
 */
export function makeIndexBehindVerdict(missing: string): Verdict {
  const reason = msg`the harvest does not show ${missing} either, which the service has accepted since: its index lags behind`;
  return makeUndecided('index-behind', reason, []);
}
