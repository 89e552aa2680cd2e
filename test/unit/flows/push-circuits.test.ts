import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBreakers } from '../../../src/push/circuit-breaker.ts';
import { TransportError } from '../../../src/http/exchange.ts';
import { addPhoto } from '../../../src/outbox/entries.ts';
import { listAllEntries } from '../../../src/outbox/entry-queries.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { inWords } from '../../support/in-words.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { SLOW_RUNS } from '../../support/property-runs.ts';
import { queueImport, tempOutbox } from '../../support/temp-outbox.ts';
import {
  type Asked,
  answer,
  count,
  isCreate,
  obeyed,
  page,
  type Reply,
  scene,
} from './push-scene.ts';

/** Fewer than five equal answers about each of fewer than five projects. */
const MAX_REFUSED = 16;

function queueFinds(outbox: Outbox, name: string, finds: number, project: string): void {
  for (let index = 0; index < finds; index += 1) queueImport(outbox, `${name}-${index}`, project);
}

function queuePhotos(outbox: Outbox, records: number, ofProject = 'C-1'): void {
  for (let index = 0; index < records; index += 1) {
    const target = { findId: null, identCely: `${ofProject}-N${String(index).padStart(5, '0')}` };
    addPhoto(outbox, target, {
      name: 'a.jpg',
      mediaType: 'image/jpeg',
      sha512: Buffer.alloc(64, index + 1),
      sizeBytes: 3,
    });
  }
}

const makeNameFilter = (name: string) => (request: Asked) => request.body.includes(`>${name}-`);
const creates = (requests: readonly Asked[]): Asked[] => requests.filter(isCreate);

describe('a record that accepts no more photographs', () => {
  const queueFor = (outbox: Outbox, record: string, count: number): void => {
    for (let at = 1; at <= count; at += 1) {
      const photograph = {
        name: `${at}.jpg`,
        mediaType: 'image/jpeg',
        sha512: Buffer.alloc(64, at),
        sizeBytes: 3,
      };
      addPhoto(outbox, { findId: null, identCely: record }, photograph);
    }
  };
  const [FULL, FREE] = ['C-1-N00001', 'C-1-N00002'];

  test.each([
    ['that its names are used up', 422, `Nález ${FULL} již má fotografii F99.`, 1],
    ['that it is not there', 404, 'said', 1],
    ['that the account has no right to it', 403, 'said', 1],
    ['the same twice, without saying what it is about', 422, 'said', 2],
  ])(
    'gets no more once the service says %s; the others stay queued and are reported, and are sent once it accepts them',
    async (_, status, detail, most) => {
      const clock = manualClock();
      using outbox = tempOutbox(clock);
      queueFor(outbox, FULL, 6);
      queueFor(outbox, FREE, 2);
      let isFull = true;
      const { run, asked, events } = scene(clock, (request) =>
        isFull && request.url.includes(FULL) && !request.url.includes('user')
          ? answer(status, {}, { detail })
          : obeyed(request),
      );
      const result = await run(outbox);
      expect(inWords(result)).toMatchObject({
        accepted: 2,
        refused: most,
        leftOut: [{ kind: 'photo', record: FULL, status, reason: detail }],
      });
      expect(asked.filter(({ url }) => url.includes(FULL))).toHaveLength(most);
      expect(inWords(events.filter(({ type }) => type === 'left_out'))).toMatchObject([
        { record: FULL, count: 6 - most, reason: detail },
      ]);
      const waiting = listAllEntries(outbox).filter(({ state }) => state === 'queued');
      expect(new Set(waiting.map(({ reason }) => inWords(reason)))).toEqual(
        new Set([`not sent, because others got the same answer: ${detail}`]),
      );
      isFull = false;
      expect(await run(outbox, { breakerMemory: createBreakers() })).toMatchObject({
        accepted: 6 - most,
        leftOut: [],
      });
    },
  );

  test('gets more if one photograph alone is refused', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueFor(outbox, FULL, 6);
    let count = 0;
    const { run } = scene(clock, (request) =>
      count++ % 3 === 0 ? answer(422, {}, { detail: 'a virus' }) : obeyed(request),
    );
    expect(await run(outbox)).toMatchObject({ accepted: 4, refused: 2, leftOut: [] });
  });
});

describe('a project that the account may not use', () => {
  test.each([
    ['refused', 403],
    ['not there', 404],
  ])(
    'and that is %s is paused after a few finds, none of which stays refused, and the other finds are sent',
    async (_name, status) => {
      const clock = manualClock();
      using outbox = tempOutbox(clock);
      queueFinds(outbox, 'A', 60, 'C-1');
      queueFinds(outbox, 'B', 40, 'C-2');
      const { run, asked, events } = scene(clock, (request) =>
        makeNameFilter('A')(request) ? answer(status) : obeyed(request),
      );
      const result = await run(outbox);
      expect(result).toMatchObject({
        accepted: 40,
        refused: 0,
        leftOut: [{ kind: 'import', project: 'C-1', status }],
      });
      expect(count(outbox, 'queued')).toBe(60);
      expect(count(outbox, 'refused')).toBe(0);
      expect(creates(asked).filter(makeNameFilter('A')).length).toBeLessThan(22);
      expect(events.filter(({ type }) => type === 'left_out')).toMatchObject([
        { project: 'C-1', count: 60, reason: 'said' },
      ]);
    },
  );

  test('is tried again later with one find, and sent once the right was granted', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueFinds(outbox, 'A', 30, 'C-1');
    let allowed = false;
    const { run, asked } = scene(clock, (request) =>
      allowed || !isCreate(request) ? obeyed(request) : answer(403),
    );
    await run(outbox, { forMs: 30_000 });
    const before = asked.length;
    await run(outbox, { forMs: 20_000 });
    expect(asked.length).toBe(before);
    await clock.advance(20_000);
    await run(outbox, { maxInFlight: 1 });
    expect(creates(asked.slice(before))).toHaveLength(1);
    allowed = true;
    expect(await run(outbox)).toMatchObject({ accepted: 30, leftOut: [] });
  });
});

test('an account that is blocked midway stops the push, and none of its finds stays refused', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  for (const project of ['C-1', 'C-2', 'C-3', 'C-4', 'C-5', 'C-6'])
    queueFinds(outbox, project, 10, project);
  let sentCount = 0;
  const { run } = scene(clock, (request) => {
    if (isCreate(request)) sentCount += 1;
    return sentCount > 8 ? answer(403) : obeyed(request);
  });
  expect(await run(outbox)).toMatchObject({
    accepted: 8,
    refused: 0,
    stopCause: { kind: 'not-allowed' },
  });
  expect(count(outbox, 'queued')).toBe(52);
});

describe('a refusal of everything', () => {
  const BLOCKS: readonly [string, () => Reply][] = [
    ['405', () => answer(405)],
    ['413 of a proxy', () => page(413)],
    ['a schema that the service takes no more', () => answer(422)],
  ];

  test.each(BLOCKS)(
    '(%s) leaves all finds queued if answers arrive while another find is about to depart',
    async (_name, reply) => {
      const clock = manualClock();
      using outbox = tempOutbox(clock);
      queueFinds(outbox, 'A', 20, 'C-1');
      const held: (() => void)[] = [];
      const { run, pace } = scene(clock, async (request) => {
        if (!isCreate(request)) return obeyed(request);
        await Promise.race([clock.sleep(2000), new Promise<void>((resolve) => held.push(resolve))]);
        return reply();
      });
      const acquireSoon = pace.acquireSoon.bind(pace);
      pace.acquireSoon = (...args) => {
        if (held.length > 2) for (const release of held.splice(0)) release();
        return acquireSoon(...args);
      };
      expect(await run(outbox)).toMatchObject({
        accepted: 0,
        refused: 0,
        leftOut: [{ kind: 'import', project: null }],
      });
      expect([count(outbox, 'queued'), count(outbox, 'refused')]).toEqual([20, 0]);
    },
  );

  test('of photographs alone lets the finds through', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queuePhotos(outbox, 50);
    queueFinds(outbox, 'A', 20, 'C-1');
    const { run } = scene(clock, (request) =>
      request.url.includes('/nalez/') ? page(413) : obeyed(request),
    );
    expect(await run(outbox)).toMatchObject({
      accepted: 20,
      refused: 0,
      leftOut: [{ kind: 'photo', project: null, status: 413 }],
    });
  });

  test('does not block the rest: the next push starts with what was not tried', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queuePhotos(outbox, 30);
    const large = (request: Asked) => /N0000\d/.test(request.url);
    const { run } = scene(clock, (request) => (large(request) ? page(413) : obeyed(request)));
    for (let round = 0; round < 4; round += 1)
      await run(outbox, { maxInFlight: 1, breakerMemory: createBreakers() });
    expect(count(outbox, 'accepted')).toBe(20);
  });
});

test('for any refusal of everything few entries stay refused, none is lost, and few requests are spent', async () => {
  const kinds = fc.constantFrom<() => Reply>(
    () => answer(400),
    () => answer(403),
    () => answer(404),
    () => answer(405),
    () => answer(406),
    () => answer(415),
    () => page(413),
    () => answer(409),
  );
  await fc.assert(
    fc.asyncProperty(
      kinds,
      fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 120 }),
      fc.nat({ max: 60 }),
      fc.integer({ min: 1, max: 16 }),
      async (reply, projects, photos, maxInFlight) => {
        const clock = manualClock();
        using outbox = tempOutbox(clock);
        for (const [index, project] of projects.entries())
          queueFinds(outbox, `A${index}`, 1, `C-${project}`);
        queuePhotos(outbox, photos, 'X-1');
        const { run, asked } = scene(clock, (request) =>
          request.method === 'GET' ? obeyed(request) : reply(),
        );
        const result = await run(outbox, { maxInFlight });
        expect(result.refused).toBe(count(outbox, 'refused'));
        expect(result.refused).toBeLessThanOrEqual(MAX_REFUSED + 4);
        expect(
          count(outbox, 'refused') + count(outbox, 'queued') + count(outbox, 'uncertain'),
        ).toBe(projects.length + photos);
        expect(count(outbox, 'uncertain')).toBeLessThanOrEqual(1);
        expect(asked.length).toBeLessThanOrEqual(2 * (25 + 2 * 16));
      },
    ),
    SLOW_RUNS,
  );
});

describe('a permanent failure', () => {
  const cut = () => new TransportError('reset', false, 'cut');

  test('of one upload makes it wait after some tries, longer each time, while the others are sent', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queuePhotos(outbox, 3);
    const isCut = ({ url }: Asked) => url.includes('N00001');
    const { run, asked } = scene(clock, (request) => (isCut(request) ? cut() : obeyed(request)));
    const result = await run(outbox);
    expect(result).toMatchObject({ accepted: 2, stopCause: { kind: 'not-yet' } });
    expect(inWords(result.stopCause)).toMatchObject({
      reason: expect.stringMatching(/photo of C-1-N00001.*cut.*tried 8 times/),
    });
    const tries = () => asked.filter(isCut).length;
    expect(tries()).toBe(8);
    for (let hour = 0; hour < 12; hour += 1) await run(outbox);
    expect(tries()).toBeLessThan(22);
  });

  test('of one locked record makes it wait after some tries, slows the push down, and holds up no other', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queuePhotos(outbox, 3);
    const isLocked = ({ url }: Asked) => url.includes('N00001');
    const { run, asked, pace } = scene(clock, (request) =>
      isLocked(request) ? answer(429) : obeyed(request),
    );
    let slowed = 0;
    const slowDown = pace.backOff.bind(pace);
    pace.backOff = (...args) => {
      slowed += 1;
      return slowDown(...args);
    };
    expect(await run(outbox)).toMatchObject({
      accepted: 2,
      locked: 8,
      stopCause: { kind: 'not-yet' },
    });
    expect(asked.filter(isLocked)).toHaveLength(8);
    expect(slowed).toBeGreaterThan(3);
  });

  test('of all uploads is detected, and a short failure of the network is not mistaken for one', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queuePhotos(outbox, 100);
    let failing = true;
    const { run, asked } = scene(clock, (request) =>
      failing && request.method === 'POST' ? cut() : obeyed(request),
    );
    expect(await run(outbox, { breakerMemory: createBreakers() })).toMatchObject({
      leftOut: [{ kind: 'photo', status: null }],
    });
    expect(asked.length).toBeLessThan(150);
    failing = false;
    expect(await run(outbox, { breakerMemory: createBreakers() })).toMatchObject({ accepted: 100 });

    using other = tempOutbox(clock);
    queuePhotos(other, 100);
    let cuts = 16;
    // After the first answer, that is: until then one request at a time is under way.
    const blip = scene(clock, (request, index) =>
      index > 0 && cuts-- > 0 ? cut() : obeyed(request),
    );
    expect(await blip.run(other)).toMatchObject({
      accepted: 100,
      leftOut: [],
      stopCause: undefined,
    });
  });
});
