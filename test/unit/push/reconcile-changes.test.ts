import { describe, expect, test } from 'vitest';
import { asServerMs } from '../../../src/base/clock.ts';
import { detachRecord, recordAnswer, recordDecision } from '../../../src/outbox/attempts.ts';
import { lookScene } from './look-scene.ts';

describe('uncertain photographs', () => {
  test('are looked up in the files of their own record, by checksum or by name', async () => {
    using scene = lookScene();
    const one = await scene.find('K-1', 'accepted');
    const two = await scene.find('K-2', 'accepted');
    const renamed = scene.queuePhoto('b.jpg', 2, one.ident);
    const there = scene.queuePhoto('a.jpg', 1, one.ident);
    const missing = scene.queuePhoto('a.jpg', 1, two.ident);
    scene.service.addFile(one.ident, 'a.jpg');
    scene.service.addFile(one.ident, 'c.jpg', Buffer.alloc(64, 2).toString('hex'));
    for (const id of [there, renamed, missing]) await scene.end(id, 'uncertain');
    await scene.look();
    const all = [renamed, there, missing];
    expect(all.map((id) => scene.evidence(id))).toEqual([
      ['same-digest'],
      ['same-name-and-new'],
      ['not-among-those-shown'],
    ]);
    expect(all.map((id) => scene.entry(id).state)).toEqual(['accepted', 'accepted', 'queued']);
    expect([one, two].map(({ entryId }) => scene.entry(entryId).state)).toEqual([
      'accepted',
      'accepted',
    ]);
    expect(scene.progress.slice(-2)).toEqual([
      [0, 2],
      [1, 2],
    ]);
  });

  test('may be refused ones whose file has no other owner', async () => {
    using scene = lookScene();
    const { ident } = await scene.find('K-1', 'accepted');
    const refused = scene.queuePhoto('a.jpg', 1, ident);
    await scene.end(refused, 'refused');
    const doubtful = scene.queuePhoto('a.jpg', 2, ident);
    scene.service.addFile(ident, 'a.jpg');
    await scene.end(doubtful, 'lost');
    await scene.look();
    expect(scene.evidence(doubtful)).toEqual(['same-name-and-new']);
  });

  test.each([
    ['one', ['absent', 'queued']],
    ['both', ['found', 'accepted']],
  ] as const)(
    'are not confused with one of the same name that was answered soon after: %s are stored',
    async (which, expected) => {
      using scene = lookScene();
      const { ident } = await scene.find('K-1', 'accepted');
      const doubtful = scene.queuePhoto('a.jpg', 1, ident);
      const first = scene.begin(doubtful);
      if (which === 'both') scene.service.addFile(ident, 'a.jpg');
      const answer = { outcome: 'uncertain', endedAt: asServerMs(scene.clock.now()) } as const;
      recordAnswer(scene.outbox, first, { state: 'uncertain', reason: 'no answer' }, answer);
      await scene.clock.advance(2000);
      scene.service.addFile(ident, 'a.jpg');
      await scene.end(scene.queuePhoto('a.jpg', 2, ident), 'accepted', ident);
      const looked = await scene.look();
      expect([
        looked.find(({ entry }) => entry.id === doubtful)?.verdict.kind,
        scene.entry(doubtful).state,
      ]).toEqual(expected);
    },
  );

  test('of a find whose record the service assigned to another follow its verdict', async () => {
    using scene = lookScene();
    await scene.find('K-0', 'accepted');
    const released = async (localId: string) => {
      const { findId, entryId, ident } = await scene.find(localId, 'accepted');
      const photo = scene.queuePhoto(`${localId}.jpg`, 1, ident, findId);
      scene.service.addFile(ident, `${localId}.jpg`);
      await scene.end(photo, 'accepted', ident);
      for (const id of [entryId, photo])
        detachRecord(scene.outbox, scene.entry(id), ident, 'given to another');
      return { entryId, photo, ident };
    };
    const found = await released('K-1');
    const lost = await released('K-2');
    scene.service.records.delete(lost.ident);
    expect([found, lost].map(({ photo }) => scene.entry(photo))).toMatchObject([
      { state: 'uncertain', identCely: null },
      { state: 'uncertain', identCely: null },
    ]);
    const resend = { kind: 'resend', rejects: [] } as const;
    recordDecision(scene.outbox, scene.entry(lost.entryId), resend, 'a person decided: send');
    const looked = await scene.look();
    expect([found, lost].map(({ photo }) => scene.entry(photo).state)).toEqual([
      'accepted',
      'queued',
    ]);
    const verdict = looked.find(({ entry }) => entry.id === lost.photo)?.verdict;
    expect(verdict).toMatchObject({ kind: 'absent', basis: 'find-absent', candidates: [] });
    expect(`${verdict?.reason}`).toMatch(/its find is not in the service/);
  });
});

describe('uncertain numbers', () => {
  const story = async (current: string) => {
    const scene = lookScene();
    const one = await scene.find('K-1', 'accepted');
    await scene.end(scene.queuePhoto('a.jpg', 1, one.ident), 'uncertain');
    const id = await scene.end(scene.queueNumber('INV 1', one.ident), 'uncertain');
    scene.service.setNumber(one.ident, current);
    await scene.clock.advance(60_000);
    return { ...scene, id, ident: one.ident };
  };

  test.each([
    ['is there', 'INV 1', 'same-number', 'accepted'],
    ['is not there', '', 'number-as-before', 'queued'],
    ['has another in its place', 'CUR 7', 'other-number', 'uncertain'],
  ])('include one that %s', async (_name, current, basis, state) => {
    using scene = await story(current);
    await scene.look();
    expect([scene.evidence(scene.id), scene.entry(scene.id).state]).toEqual([[basis], state]);
    expect(scene.entry(scene.id).identCely).toBe(scene.ident);
  });

  test('of a record that cannot be read are left to a person', async () => {
    using scene = await story('');
    scene.service.records.delete(scene.ident);
    await scene.look();
    expect([scene.evidence(scene.id), scene.entry(scene.id).state]).toEqual([
      ['record-not-shown'],
      'uncertain',
    ]);
  });

  test('without the service’s time before the attempt are shown to a person if the record has them, as are photographs', async () => {
    using scene = lookScene({ tellsTime: false });
    const { ident } = await scene.find('K-1', 'accepted');
    const number = await scene.end(scene.queueNumber('INV 1', ident), 'uncertain');
    const photo = await scene.end(scene.queuePhoto('a.jpg', 1, ident), 'uncertain');
    scene.service.setNumber(ident, 'INV 1');
    scene.service.addFile(ident, 'a.jpg', Buffer.alloc(64, 1).toString('hex'));
    await scene.clock.advance(86_400_000);
    const looked = await scene.look();
    expect(looked.map(({ verdict }) => verdict.basis)).toEqual(['time-unknown', 'time-unknown']);
    expect(looked.map(({ verdict }) => verdict.candidates.length)).toEqual([1, 1]);
    expect([number, photo].map((id) => scene.entry(id).state)).toEqual(['uncertain', 'uncertain']);
  });
});
