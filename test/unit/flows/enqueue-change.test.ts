import { expect, test } from 'vitest';
import { enqueueNumber, enqueuePhoto, targetOf } from '../../../src/flows/enqueue-change.ts';
import { applySettlement, claim, nextDue, settle } from '../../../src/outbox/claims.ts';
import { entriesOfFind, entryById } from '../../../src/outbox/entries.ts';
import { ENTRY_KINDS, type Photograph } from '../../../src/outbox/entry.ts';
import type { ServiceOutbox } from '../../../src/outbox/outbox.ts';
import { ACCOUNT_ID, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const PHOTOGRAPH: Photograph = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 };

function due(outbox: ServiceOutbox) {
  return nextDue(outbox, { kinds: ENTRY_KINDS, anyAccount: false, recordKeys: undefined, busyRecords: [], busyProjects: [] });
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
