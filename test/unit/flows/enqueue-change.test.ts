import { describe, expect, test } from 'vitest';
import { enqueueNumber, enqueuePhoto, targetOf } from '../../../src/flows/queue/enqueue-change.ts';
import { enqueueNumbers } from '../../../src/flows/queue/enqueue-numbers.ts';
import { applySettlement, claim, nextDue, settle } from '../../../src/outbox/claims.ts';
import { addNumber, entriesOfFind, entryById } from '../../../src/outbox/entries.ts';
import { ENTRY_KINDS, type Photograph } from '../../../src/outbox/entry.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { parseTable } from '../../../src/tables/csv-table.ts';
import { ACCOUNT_ID, asSeenBy, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const PHOTOGRAPH: Photograph = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 };

function due(outbox: ServiceOutbox) {
  const all = { kinds: ENTRY_KINDS, anyAccount: false, recordKeys: undefined };
  return nextDue(outbox, { ...all, busyRecords: [], busyProjects: [], leftOut: [] });
}

function claimNext(outbox: ServiceOutbox) {
  const claimed = claim(outbox, due(outbox)?.id ?? 0, () => ({ method: 'POST', path: '/', accountId: ACCOUNT_ID }));
  if (claimed === undefined) throw new Error('nothing is due');
  return claimed;
}

test('a photograph and a number that are queued just when the find was accepted do not wait for it for ever', () => {
  using outbox = tempOutbox();
  const { findId } = queueImport(outbox, 'K-1');
  const lookedUpBefore = targetOf(outbox, 'K-1');
  settle(outbox, claimNext(outbox), { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
  enqueuePhoto(outbox, lookedUpBefore, PHOTOGRAPH);
  enqueueNumber(outbox, lookedUpBefore, 'A 1');
  const followers = entriesOfFind(outbox, findId).filter(({ kind }) => kind !== 'import');
  expect(followers.map(({ identCely }) => identCely)).toEqual([IDENT, IDENT]);
});

test('a refused photograph is queued again when it is added again, from where it lies now', () => {
  using outbox = tempOutbox();
  const target = { findId: null, identCely: IDENT };
  enqueuePhoto(outbox, target, { ...PHOTOGRAPH, link: '/media/usb/a.jpg' });
  const { entry, attemptId } = claimNext(outbox);
  settle(outbox, { entry, attemptId }, { state: 'refused', reason: 'gone', issues: [] }, { outcome: 'file-changed' });
  expect(enqueuePhoto(outbox, target, PHOTOGRAPH)).toBe('requeued');
  expect(entryById(outbox, entry.id)).toMatchObject({ state: 'queued', reason: null, photograph: PHOTOGRAPH });
  expect(entryById(outbox, entry.id)).not.toHaveProperty('photograph.link');
});

test('a photograph of unknown end is not queued a second time', () => {
  using outbox = tempOutbox();
  const target = { findId: null, identCely: IDENT };
  enqueuePhoto(outbox, target, PHOTOGRAPH);
  applySettlement(outbox, claimNext(outbox).entry, { state: 'uncertain', reason: 'no answer' });
  expect(enqueuePhoto(outbox, target, PHOTOGRAPH)).toBe('kept');
  expect(due(outbox)).toBeUndefined();
});

describe('a number that is set', () => {
  const target = { findId: null, identCely: IDENT };
  const accept = (outbox: ServiceOutbox, value: string): void => {
    const id = addNumber(outbox, target, value);
    const claimed = claim(outbox, id, () => ({ method: 'PATCH', path: '/', accountId: ACCOUNT_ID }));
    if (claimed !== undefined) settle(outbox, claimed, { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
  };
  const table = parseTable('numbers.csv', Buffer.from(`ident_cely;evidencni_cislo\n${IDENT};A 1`));

  test('for a find is sent again where another one was set by its identifier since', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-1');
    settle(outbox, claimNext(outbox), { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
    expect(enqueueNumber(outbox, targetOf(outbox, 'K-1'), 'A 1')).toBe('queued');
    settle(outbox, claimNext(outbox), { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
    expect(enqueueNumbers(outbox, table, { dryRun: true }).numbers).toMatchObject([{ change: 'current' }]);
    accept(outbox, 'A 2');
    expect(enqueueNumbers(outbox, table, { dryRun: false }).numbers).toMatchObject([{ change: 'queued' }]);
    expect(due(outbox)).toMatchObject({ kind: 'number', value: 'A 1' });
  });

  test('in place of one that another account has queued is this account’s, and the other one is not sent after it', () => {
    using outbox = tempOutbox();
    enqueueNumber(asSeenBy(outbox, { username: 'office@example.org' }), target, 'A 1');
    expect(enqueueNumber(outbox, target, 'A 2')).toBe('replaced');
    const { entry, attemptId } = claimNext(outbox);
    expect(entry).toMatchObject({ value: 'A 2' });
    settle(outbox, { entry, attemptId }, { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
    expect(due(asSeenBy(outbox, { username: 'office@example.org' }))).toBeUndefined();
  });

  test('may have 255 characters, counted as the service counts them', () => {
    using outbox = tempOutbox();
    expect(enqueueNumber(outbox, target, '\u{1f3fa}'.repeat(255))).toBe('queued');
    expect(() => enqueueNumber(outbox, target, 'a'.repeat(256))).toThrow(/256 characters/);
  });
});
