import { OaiError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import type { HarvestedFind } from '../find/harvested-find.ts';
import {
  type ListedFind,
  type RecordSource,
  toListedFind,
} from '../flows/harvest/harvest-finds.ts';
import { DAY_MS } from '../oai/protocol.ts';
import type { NumberEntry } from '../outbox/entry.ts';
import { listEntriesOfRecord, listNumbers } from '../outbox/entry-queries.ts';
import { makeRecordSubject } from '../outbox/intents.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
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
  listed: ListedFind | undefined,
  view: ViewTime,
): Verdict {
  const { identCely, value, knownNumbers, window } = judged;
  if (listed?.kind !== 'shown')
    return makeUndecided(
      'record-not-shown',
      msg`the harvest does not show ${identCely} to this account`,
      [],
    );
  const current = getNumber(listed.record);
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
    window.bounds !== undefined && listed.datestampMs < window.bounds.fromMs - CLOCK_MARGIN_MS;
  const isAsBefore = knownNumbers.size > 0 ? knownNumbers.has(current) : current === '' || isOlder;
  if (!isAsBefore) {
    const reason =
      current === ''
        ? msg`${identCely} has no number now; ${value} was to be set`
        : msg`${identCely} now has the number ${current}; ${value} was to be set`;
    return makeUndecided('other-number', reason, [current]);
  }
  return (
    explainTooEarly(window, view, listed.datestampMs) ?? {
      kind: 'absent',
      basis: 'number-as-before',
      reason: msg`${identCely} still has its previous number`,
      candidates: [],
    }
  );
}

/** Requests the current record; one that cannot be read counts as withheld. */
export async function fetchListedFind(
  { client, format, signal }: RecordSource,
  identCely: string,
): Promise<ListedFind | undefined> {
  try {
    const { record } = await client.getRecord(identCely, format, signal);
    const { datestampMs } = record.header;
    return toListedFind(record) ?? { kind: 'withheld', datestampMs };
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

type ShownFind = Extract<ListedFind, { kind: 'shown' }>;

/**
 * Returns the number of a record; undefined where the index shows the record as it was before the
 * last number from here.
 */
export function findShownNumber(
  outbox: Outbox,
  { record, datestampMs }: ShownFind,
): string | undefined {
  const shown = getNumber(record);
  const last = listNumbers(outbox, makeRecordSubject(record.identCely)).findLast(
    ({ state }) => state === 'accepted',
  );
  const bounds = last === undefined ? undefined : getAttemptWindow(outbox, last).bounds;
  // A datestamp in whole days does not tell.
  if (last === undefined || bounds === undefined || datestampMs % DAY_MS === 0) return shown;
  const isFormer = listNumbersFromHere(outbox, last).has(shown);
  return datestampMs <= (isFormer ? bounds.untilMs : bounds.fromMs - CLOCK_MARGIN_MS)
    ? undefined
    : shown;
}

function getNumber({ elements }: HarvestedFind): string {
  return elements.evidencni_cislo?.toString() ?? '';
}
