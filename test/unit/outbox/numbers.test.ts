import { expect, test } from 'vitest';
import type { NumberEntry } from '../../../src/outbox/entry.ts';
import {
  findEntryById,
  findLastNumberEntry,
  getEffectiveNumber,
  listEffectiveNumberEntries,
  listNumberEntries,
} from '../../../src/outbox/entry-queries.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { acceptEntry, attemptEntry } from '../../support/attempted-entries.ts';
import { PHOTOGRAPH, queueNumber, queuePhoto, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const OTHER = 'C-202400101-N00002';
const REFUSED = { state: 'refused', reason: 'said', issues: [] } as const;

const add = (outbox: Outbox, value: string, identCely = IDENT): number =>
  queueNumber(outbox, makeRecordSubject(identCely), value, '');
const getState = (outbox: Outbox, id: number): string | undefined =>
  findEntryById(outbox, id)?.state;

test('the numbers of a record are those that were not dropped or refused', () => {
  using outbox = tempOutbox();
  attemptEntry(outbox, add(outbox, 'ONE'), REFUSED);
  add(outbox, 'TWO');
  add(outbox, 'OTHER', OTHER);
  const target = makeRecordSubject(IDENT);
  expect(listNumberEntries(outbox, target).map(({ value }) => value)).toEqual(['ONE', 'TWO']);
  expect(findLastNumberEntry(outbox, target, [])?.value).toBe('TWO');
  expect(findLastNumberEntry(outbox, target, ['queued'])?.value).toBe('ONE');
  expect(findLastNumberEntry(outbox, target, ['dropped', 'queued'])).toBeUndefined();
  expect(listEffectiveNumberEntries(outbox).map(({ value }) => value)).toEqual(['TWO', 'OTHER']);
  const photo = findEntryById(outbox, queuePhoto(outbox, target, PHOTOGRAPH));
  const entry = findEntryById(outbox, add(outbox, 'THREE')) as NumberEntry;
  if (photo === undefined) throw new Error('the entry is gone');
  expect(
    getEffectiveNumber([
      entry,
      { ...entry, state: 'dropped', value: 'x' },
      { ...entry, state: 'refused', value: 'y' },
      photo,
    ]),
  ).toBe('THREE');
  expect(getEffectiveNumber([photo])).toBeUndefined();
});

test('a later number of the record replaces the earlier ones, and those of no other record', () => {
  using outbox = tempOutbox();
  const refused = add(outbox, 'ZERO');
  attemptEntry(outbox, refused, REFUSED);
  const other = add(outbox, 'OTHER', OTHER);
  const first = add(outbox, 'ONE');
  acceptEntry(outbox, first, IDENT);
  const later = add(outbox, 'TWO');
  expect([refused, other, first, later].map((id) => getState(outbox, id))).toEqual([
    'dropped',
    'queued',
    'accepted',
    'queued',
  ]);
});
