import { describe, expect, test } from 'vitest';
import { innerOf, queueFind } from '../../support/find-service.ts';
import { lookScene } from '../../support/look-scene.ts';

describe('photographs in doubt', () => {
  test('are looked for in the files of their own record, by digest or by name', async () => {
    using scene = lookScene();
    const [one, two] = [await scene.find('K-1', 'accepted'), await scene.find('K-2', 'accepted')];
    const renamed = scene.queuePhoto('b.jpg', 2, one.ident);
    const there = scene.queuePhoto('a.jpg', 1, one.ident);
    const missing = scene.queuePhoto('a.jpg', 1, two.ident);
    scene.service.addFile(one.ident, 'a.jpg');
    scene.service.addFile(one.ident, 'c.jpg', Buffer.alloc(64, 2).toString('hex'));
    for (const id of [there, renamed, missing]) await scene.end(id, 'uncertain');
    await scene.look();
    const all = [renamed, there, missing];
    expect(all.map((id) => scene.evidence(id))).toEqual([['same-digest'], ['same-name-and-new'], ['not-among-those-shown']]);
    expect(all.map((id) => scene.entry(id).state)).toEqual(['accepted', 'accepted', 'queued']);
    expect([one, two].map(({ entryId }) => scene.entry(entryId).state)).toEqual(['accepted', 'accepted']);
    expect(scene.progress.slice(-2)).toEqual([
      [0, 2],
      [1, 2],
    ]);
  });

  test('are settled only where they were asked about', async () => {
    using scene = lookScene();
    const [one, two] = [await scene.find('K-1', 'accepted'), await scene.find('K-2', 'accepted')];
    const [asked = 0, other = 0] = [one, two].map(({ ident }) => scene.queuePhoto('a.jpg', 1, ident));
    for (const id of [asked, other]) await scene.end(id, 'uncertain');
    await scene.look([scene.entry(asked).recordKey]);
    expect([asked, other].map((id) => scene.entry(id).state)).toEqual(['queued', 'uncertain']);
  });

  test('are not those of which the record is known to have the file', async () => {
    using scene = lookScene();
    const { ident } = await scene.find('K-1', 'accepted');
    const known = scene.queuePhoto('a.jpg', 1, ident);
    scene.service.addFile(ident, 'a.jpg');
    await scene.end(known, 'accepted', ident);
    const number = scene.queueNumber('INV 1', ident);
    scene.service.setNumber(ident, 'INV 1');
    await scene.end(number, 'accepted', ident);
    await scene.end(scene.queuePhoto('x.jpg', 9, ident), 'refused');
    const doubtful = scene.queuePhoto('a.jpg', 2, ident);
    scene.doubt(doubtful, scene.clock.now() - 600_000, scene.clock.now());
    await scene.clock.advance(60_000);
    await scene.look();
    expect(scene.evidence(doubtful)).toEqual(['not-among-those-shown']);
  });

  test('may be those that were refused, whose file is nobody’s', async () => {
    using scene = lookScene();
    const { ident } = await scene.find('K-1', 'accepted');
    scene.service.addFile(ident, 'a.jpg');
    await scene.end(scene.queuePhoto('a.jpg', 1, ident), 'refused');
    const doubtful = scene.queuePhoto('a.jpg', 2, ident);
    scene.doubt(doubtful, scene.clock.now() - 600_000, scene.clock.now());
    await scene.look();
    expect(scene.evidence(doubtful)).toEqual(['same-name-and-new']);
  });

  test('of a find that is in doubt as well follow its verdict', async () => {
    using scene = lookScene();
    await scene.find('K-0', 'accepted');
    const fromMs = scene.clock.now();
    const withPhoto = (localId: string) => {
      const { findId, entryId } = queueFind(scene.outbox, localId);
      const photo = scene.queuePhoto(`${localId}.jpg`, 1, null, findId);
      for (const id of [entryId, photo]) scene.doubt(id, fromMs, fromMs + 60_000);
      return photo;
    };
    const [found, lost, open] = [withPhoto('K-1'), withPhoto('K-2'), withPhoto('K-3')];
    scene.service.addFile(scene.service.make(innerOf('K-1')), 'K-1.jpg');
    for (const ident of [1, 2].map(() => scene.service.make(innerOf('K-3')))) expect(ident).not.toBe('');
    await scene.clock.advance(120_000);
    const looked = await scene.look();
    expect([found, lost, open].map((id) => scene.entry(id).state)).toEqual(['accepted', 'queued', 'uncertain']);
    expect([found, lost, open].map((id) => scene.evidence(id))).toEqual([['same-name-and-new'], ['find-absent'], []]);
    expect(looked.find(({ entry }) => entry.id === lost)?.verdict).toMatchObject({ kind: 'absent', candidates: [] });
    expect(`${looked.find(({ entry }) => entry.id === lost)?.verdict.reason}`).toMatch(/its find is not at the service/);
  });

  test('without a find and a record are left as they are', async () => {
    using scene = lookScene();
    await scene.find('K-0', 'accepted');
    const id = scene.queuePhoto('a.jpg', 1, null);
    scene.doubt(id, scene.clock.now(), scene.clock.now() + 1000);
    expect(await scene.look()).toEqual([]);
    expect(scene.entry(id).state).toBe('uncertain');
    expect(scene.service.asked.join()).not.toContain('GetRecord');
  });
});

describe('numbers in doubt', () => {
  const story = async (current: string, restored: boolean) => {
    const scene = lookScene();
    const one = await scene.find('K-1', 'accepted');
    const photo = scene.queuePhoto('a.jpg', 1, one.ident);
    await scene.end(photo, 'uncertain');
    const id = scene.queueNumber('INV 1', one.ident);
    if (restored) scene.doubt(id, scene.clock.now(), scene.clock.now() + 1000);
    else await scene.end(id, 'uncertain');
    scene.service.setNumber(one.ident, current);
    return { ...scene, id, ident: one.ident };
  };

  test.each([
    ['is there', 'INV 1', 'same-number', 'accepted'],
    ['is not there', '', 'number-as-before', 'queued'],
    ['has another in its place', 'CUR 7', 'other-number', 'uncertain'],
  ])('one that %s', async (_name, current, basis, state) => {
    for (const restored of [false, true]) {
      const scene = await story(current, restored);
      await scene.clock.advance(60_000);
      await scene.look();
      expect([scene.evidence(scene.id), scene.entry(scene.id).state]).toEqual([[basis], state]);
      expect(scene.entry(scene.id).identCely).toBe(scene.ident);
      scene[Symbol.dispose]();
    }
  });

  test('one of a record that is not shown is sent again, unless an older copy was put back since', async () => {
    for (const restored of [false, true]) {
      const scene = await story('', restored);
      scene.service.records.delete(scene.ident);
      await scene.look();
      expect(scene.evidence(scene.id)).toEqual(['record-not-shown']);
      expect(scene.entry(scene.id).state).toBe(restored ? 'uncertain' : 'queued');
      scene[Symbol.dispose]();
    }
  });
});
