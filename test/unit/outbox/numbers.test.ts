import { expect, test } from 'vitest';
import { addNumber, addPhoto, schedule } from '../../../src/outbox/entries.ts';
import type { NumberEntry } from '../../../src/outbox/entry.ts';
import {
  findEntryById,
  listEffectiveNumbers,
  listNumbers,
} from '../../../src/outbox/entry-queries.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import {
  findLastNumber,
  getLatestNumber,
  supersedeEarlierNumbers,
} from '../../../src/outbox/ownership.ts';
import { acceptEntry, attemptEntry } from '../../support/attempted-entries.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const OTHER = 'C-202400101-N00002';
const REFUSED = { state: 'refused', reason: 'said', issues: [] } as const;

const add = (outbox: Outbox, value: string, identCely = IDENT): number =>
  addNumber(outbox, { findId: null, identCely }, value, '');
const getState = (outbox: Outbox, id: number): string | undefined =>
  findEntryById(outbox, id)?.state;

test('the numbers of a record are those that were not dropped or refused', () => {
  using outbox = tempOutbox();
  attemptEntry(outbox, add(outbox, 'ONE'), REFUSED);
  add(outbox, 'TWO');
  add(outbox, 'OTHER', OTHER);
  const target = { findId: null, identCely: IDENT };
  expect(listNumbers(outbox, target).map(({ value }) => value)).toEqual(['ONE', 'TWO']);
  expect(findLastNumber(outbox, target, [])?.value).toBe('TWO');
  expect(findLastNumber(outbox, target, ['queued'])?.value).toBe('ONE');
  expect(findLastNumber(outbox, target, ['refused', 'queued'])).toBeUndefined();
  expect(listEffectiveNumbers(outbox).map(({ value }) => value)).toEqual(['TWO', 'OTHER']);
  const photo = findEntryById(
    outbox,
    addPhoto(outbox, target, {
      name: 'a.jpg',
      mediaType: 'image/jpeg',
      sha512: Buffer.alloc(64),
      sizeBytes: 1,
    }),
  );
  const entry = findEntryById(outbox, add(outbox, 'THREE')) as NumberEntry;
  if (photo === undefined) throw new Error('the entry is gone');
  expect(
    getLatestNumber([
      entry,
      { ...entry, state: 'dropped', value: 'x' },
      { ...entry, state: 'refused', value: 'y' },
      photo,
    ]),
  ).toBe('THREE');
  expect(getLatestNumber([photo])).toBeUndefined();
});

test('earlier numbers of the record are dropped when one is sent, including refused ones, and no others', () => {
  using outbox = tempOutbox();
  const refused = add(outbox, 'ZERO');
  attemptEntry(outbox, refused, REFUSED);
  const first = add(outbox, 'ONE');
  const other = add(outbox, 'OTHER', OTHER);
  const last = add(outbox, 'TWO');
  acceptEntry(outbox, last, IDENT);
  const later = add(outbox, 'THREE');
  supersedeEarlierNumbers(outbox);
  expect([refused, first, other, last, later].map((id) => getState(outbox, id))).toEqual([
    'dropped',
    'dropped',
    'queued',
    'accepted',
    'queued',
  ]);
  expect(`${findEntryById(outbox, first)?.reason}`).toBe(
    'a later number of the record replaces it',
  );
});

test('numbers can be dropped for one record alone, except one with an open question', () => {
  using outbox = tempOutbox();
  const numbers = [IDENT, OTHER].map(
    (ident) => [add(outbox, 'ONE', ident), add(outbox, 'TWO', ident)] as const,
  );
  const states = () => numbers.map(([first]) => getState(outbox, first));
  schedule(outbox, numbers[0]?.[1] ?? 0, {
    held: { basis: 'number-changed', question: '?', candidates: ['x'] },
  });
  supersedeEarlierNumbers(outbox);
  expect(states()).toEqual(['queued', 'queued']);
  schedule(outbox, numbers[0]?.[1] ?? 0, { held: null });
  // Accepted without the claim that drops those before it.
  outbox.sql(`update entries set state = 'accepted' where value = 'TWO'`).run();
  supersedeEarlierNumbers(outbox, OTHER);
  expect(states()).toEqual(['queued', 'dropped']);
  supersedeEarlierNumbers(outbox);
  expect(states()).toEqual(['dropped', 'dropped']);
});
