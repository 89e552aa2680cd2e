import { OaiError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import type { HarvestedFind } from '../find/harvested-find.ts';
import { type RecordSource, toListedFind } from '../flows/harvest/harvest-finds.ts';
import { DAY_MS, type OaiRecord } from '../oai/protocol.ts';
import type { NumberEntry } from '../outbox/entry.ts';
import { listEntriesOfRecord, listNumbers } from '../outbox/entry-queries.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import type { RecordEvidence } from './judge-photograph.ts';
import {
  type AttemptWindow,
  CLOCK_MARGIN_MS,
  explainTooEarly,
  getAttemptWindow,
  makeInFlightVerdict,
  makeTimeUnknownVerdict,
  makeUndecided,
  parseSentElements,
  type Verdict,
  type ViewTime,
} from './verdict.ts';

type UncertainNumber = {
  readonly identCely: string;
  readonly value: string;
  /**
   * Numbers that the record may have without a change by another account; empty where they are
   * unknown.
   */
  readonly knownNumbers: ReadonlySet<string>;
  readonly window: AttemptWindow;
};

/**
 * Judges a number that may have been sent. It is not resent blindly, since another one may have
 * replaced it meanwhile.
 */
export function judgeNumber(
  judged: UncertainNumber,
  record: RecordEvidence,
  view: ViewTime,
): Verdict {
  const { identCely, value, knownNumbers, window } = judged;
  if (record === undefined)
    return makeUndecided(
      'record-not-shown',
      msg`the harvest does not show ${identCely} to this account`,
      [],
    );
  const current = getNumber(record.find);
  if (current === value) {
    if (window.bounds === undefined) return makeTimeUnknownVerdict([current]);
    // A proxy may repeat the request, and so overwrite a later number: until then none is sent.
    if (view.nowMs <= window.bounds.settledMs)
      return makeInFlightVerdict(window.bounds.settledMs, view.nowMs);
    return {
      kind: 'found',
      basis: 'same-number',
      identCely,
      reason: msg`${identCely} has this number`,
      candidates: [],
    };
  }
  const isOlder =
    window.bounds !== undefined && record.changedMs < window.bounds.fromMs - CLOCK_MARGIN_MS;
  const isAsBefore = knownNumbers.size > 0 ? knownNumbers.has(current) : current === '' || isOlder;
  if (!isAsBefore) {
    const reason =
      current === ''
        ? msg`${identCely} has no number now; ${value} was to be set`
        : msg`${identCely} now has the number ${current}; ${value} was to be set`;
    return makeUndecided('other-number', reason, [current]);
  }
  return (
    explainTooEarly(window, view, record.changedMs) ?? {
      kind: 'absent',
      basis: 'number-as-before',
      reason: msg`${identCely} still has its previous number`,
      candidates: [],
    }
  );
}

/** Requests the current record; undefined where it is not visible. */
export async function fetchCurrentRecord(
  source: RecordSource,
  identCely: string,
): Promise<RecordEvidence> {
  const record = await fetchListedRecord(source, identCely);
  const listed = record === undefined ? undefined : toListedFind(record);
  return listed?.kind === 'shown'
    ? { find: listed.record, changedMs: listed.datestampMs }
    : undefined;
}

/** Requests the current record, visible or not; undefined where there is none. */
export async function fetchListedRecord(
  { client, format, signal }: RecordSource,
  identCely: string,
): Promise<OaiRecord | undefined> {
  try {
    return await client.getRecord(identCely, format, signal);
  } catch (thrown) {
    if (thrown instanceof OaiError && thrown.oaiCode === 'idDoesNotExist') return undefined;
    throw thrown;
  }
}

/**
 * Returns the numbers that a record may have without a change by another account: the last accepted
 * one, that of its import, the expected one, and those of unknown outcome. Empty where they are
 * unknown.
 */
export function listNumbersFromHere(
  outbox: Outbox,
  { id, identCely, expects }: NumberEntry,
): ReadonlySet<string> {
  const otherEntries = listEntriesOfRecord(outbox, identCely ?? '').filter(
    (entry) => entry.id !== id,
  );
  const numbers = otherEntries.filter((entry) => entry.kind === 'number');
  const importEntry = otherEntries.find(
    ({ kind, state }) => kind === 'import' && state === 'accepted',
  );
  const ofImport =
    importEntry?.kind === 'import'
      ? [parseSentElements(outbox, importEntry)?.evidencni_cislo?.toString() ?? '']
      : [];
  const last = numbers.findLast(({ state }) => state === 'accepted')?.value;
  const open = numbers
    .filter(({ unknownAttempts }) => unknownAttempts > 0)
    .map(({ value }) => value);
  return new Set([
    ...(last === undefined ? ofImport : [last]),
    ...(expects === null ? [] : [expects]),
    ...open,
  ]);
}

/**
 * Returns the number of a record; undefined where the index shows the record as it was before the
 * last number from here.
 */
export function findShownNumber(
  outbox: Outbox,
  { find, changedMs }: NonNullable<RecordEvidence>,
): string | undefined {
  const shown = getNumber(find);
  const last = listNumbers(outbox, { findId: null, identCely: find.identCely }).findLast(
    ({ state }) => state === 'accepted',
  );
  const bounds = last === undefined ? undefined : getAttemptWindow(outbox, last).bounds;
  // A datestamp in whole days does not tell.
  if (last === undefined || bounds === undefined || changedMs % DAY_MS === 0) return shown;
  const isFormer = listNumbersFromHere(outbox, last).has(shown);
  return changedMs <= (isFormer ? bounds.untilMs : bounds.fromMs - CLOCK_MARGIN_MS)
    ? undefined
    : shown;
}

function getNumber({ elements }: HarvestedFind): string {
  return elements.evidencni_cislo?.toString() ?? '';
}
