import { describe, expect, test } from 'vitest';
import { addImport, addPhoto, entryById } from '../../../src/outbox/entries.ts';
import { evidenceOf } from '../../../src/outbox/evidence.ts';
import { addGap, gapsOf, isHeldByGap, releaseHeld, replaceGaps } from '../../../src/outbox/gaps.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { insertFind } from '../../../src/outbox/stored-finds.ts';
import { asSeenBy, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const GAP = { project: null, fromMs: 1000, untilMs: 2000 };

function entryOf(outbox: ServiceOutbox, id: number) {
  const entry = entryById(outbox, id);
  if (entry === undefined) throw new Error('no such entry');
  return entry;
}

describe('a time of which nothing is known', () => {
  test('is kept in whole milliseconds, none of it left out', () => {
    using outbox = tempOutbox();
    addGap(outbox, { project: 'C-1', fromMs: 1000.7, untilMs: 2000.2 });
    expect(gapsOf(outbox)).toEqual([{ project: 'C-1', fromMs: 1000, untilMs: 2001 }]);
  });

  test('is that of its service, and of one account or of all', () => {
    using outbox = tempOutbox();
    const jan = asSeenBy(outbox, { username: 'jan@example.org' });
    const training = asSeenBy(outbox, { address: 'https://training.example.org' });
    addGap(outbox, GAP);
    addGap(outbox, { ...GAP, fromMs: 5 }, jan.username);
    expect([outbox, jan, training].map((seen) => gapsOf(seen).map(({ fromMs }) => fromMs))).toEqual([[1000], [1000, 5], []]);
  });

  test('is another for the account that looked, and as it was for the others', () => {
    using outbox = tempOutbox();
    const jan = asSeenBy(outbox, { username: 'jan@example.org' });
    addGap(outbox, GAP);
    replaceGaps(outbox, [{ ...GAP, project: 'C-1' }]);
    expect(gapsOf(outbox)).toEqual([{ ...GAP, project: 'C-1' }]);
    expect(gapsOf(jan)).toEqual([GAP]);
    replaceGaps(jan, []);
    replaceGaps(outbox, [{ ...GAP, project: 'C-2' }]);
    expect([gapsOf(outbox), gapsOf(jan)]).toEqual([[{ ...GAP, project: 'C-2' }], []]);
  });

  test('holds what is added since, not what was there before', () => {
    using outbox = tempOutbox();
    const before = queueImport(outbox, 'K-0').entryId;
    expect(isHeldByGap(entryOf(outbox, before))).toBe(false);
    const entry = { ...entryOf(outbox, before), doubt: { fromMs: 1, untilMs: 10 } };
    expect([9, 10, 11].map((createdAt) => isHeldByGap({ ...entry, createdAt }))).toEqual([false, true, true]);
  });
});

test('what was held is queued once a person knows that it was not sent, and what is added then is held no more', () => {
  using outbox = tempOutbox();
  const old = queueImport(outbox, 'K-0').entryId;
  addGap(outbox, { ...GAP, untilMs: outbox.clock.now() });
  const held = queueImport(outbox, 'K-1').entryId;
  const photograph = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 };
  const photo = addPhoto(outbox, { findId: null, identCely: 'C-1-N00001' }, photograph);
  const none = { document: null, documentSha512: null, project: null, issues: [] };
  const draft = addImport(outbox, insertFind(outbox, { localId: 'K-2', elements: {} }), none);
  outbox.sql("update entries set state = 'uncertain', doubt_from_at = 0, doubt_until_at = created_at + 1 where id = ?").run(old);
  expect([held, photo, draft].map((id) => entryOf(outbox, id).state)).toEqual(['uncertain', 'uncertain', 'draft']);

  expect(releaseHeld(outbox).map(({ id }) => id)).toEqual([held, photo]);
  expect([held, photo].map((id) => entryOf(outbox, id))).toMatchObject([
    { state: 'queued', notBeforeAt: 0 },
    { state: 'queued', notBeforeAt: 0 },
  ]);
  expect(`${entryOf(outbox, held).reason}`).toBe('a person knows that it was not sent before');
  expect(evidenceOf(outbox, held)).toMatchObject([{ verdict: 'person', basis: 'release-new', serverAt: null, candidates: [] }]);
  expect(entryOf(outbox, draft)).toMatchObject({ state: 'draft', doubt: null });
  expect(entryOf(outbox, old).state).toBe('uncertain');
  expect(gapsOf(outbox)).toEqual([]);
  expect(entryOf(outbox, queueImport(outbox, 'K-3').entryId).state).toBe('queued');
});
