import { expect, test } from 'vitest';
import { findEntryById } from '../../../src/outbox/entry-queries.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { acceptEntry, attemptEntry, queueNumber, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const OTHER = 'C-202400101-N00002';
const REFUSED = { state: 'refused', reason: 'said', issues: [] } as const;

const add = (outbox: Outbox, value: string, identCely = IDENT): number =>
  queueNumber(outbox, makeRecordSubject(identCely), value, '');
const getState = (outbox: Outbox, id: number): string | undefined =>
  findEntryById(outbox, id)?.state;

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
