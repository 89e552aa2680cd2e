import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TransportError } from '../../../src/http/exchange.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { SLOW_RUNS } from '../../support/property-runs.ts';
import { queueImport, tempOutbox } from '../../support/temp-outbox.ts';
import {
  answer,
  count,
  isCreate,
  LATENCY_MS,
  obeyed,
  page,
  queuedScene,
  type Reply,
  scene,
} from './push-scene.ts';

const cut = () => new TransportError('reset', true, 'cut');

function queueMany(outbox: Parameters<typeof queueImport>[0], finds: number): void {
  for (let index = 0; index < finds; index += 1) queueImport(outbox, `K-${index}`);
}

describe('a portal in place of the service', () => {
  test.each<[string, () => Reply]>([
    ['pages with status 200', () => page(200)],
    ['redirects to a sign-in page', () => answer(302, { location: 'http://portal.example/' }, '')],
    ['pages of a proxy without its service', () => page(502)],
    ['JSON that the contract does not know', () => answer(409)],
    ['cut connections', cut],
  ])('of %s leaves one find uncertain and ends the push', async (_name, wall) => {
    using push = queuedScene(40, wall);
    const { outbox, run, asked } = push;
    expect((await run()).stopCause?.kind).toMatch(/^(in-doubt|unreachable)$/);
    expect([count(outbox, 'uncertain'), count(outbox, 'queued')]).toEqual([1, 39]);
    expect(asked.filter(isCreate)).toHaveLength(1);
  });

  test('before all writes, though probes pass it, leaves one find uncertain', async () => {
    using push = queuedScene(40, (request) =>
      request.method === 'GET' ? obeyed(request) : page(200),
    );
    const { outbox, run } = push;
    expect(await run()).toMatchObject({ stopCause: { kind: 'in-doubt' } });
    expect(count(outbox, 'uncertain')).toBe(1);
  });

  test('before finds alone leaves two uncertain: the second shows that the first was no accident', async () => {
    using push = queuedScene(40, (request) => (isCreate(request) ? page(200) : obeyed(request)));
    const { outbox, run } = push;
    expect(await run()).toMatchObject({ stopCause: { kind: 'in-doubt' } });
    expect([count(outbox, 'uncertain'), count(outbox, 'queued')]).toEqual([2, 38]);
  });

  test('that appears midway leaves the requests under way uncertain, and no more are started', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueMany(outbox, 60);
    let firstPageAt = 0;
    const { run, asked } = scene(clock, (request, index) => {
      if (index < 20) return obeyed(request);
      firstPageAt ||= clock.monotonicMs();
      return page(502);
    });
    expect(await run(outbox)).toMatchObject({ accepted: 20, stopCause: { kind: 'in-doubt' } });
    expect(asked.filter(isCreate).filter(({ at }) => at > firstPageAt)).toEqual([]);
    expect(count(outbox, 'uncertain')).toBeLessThanOrEqual(LATENCY_MS / 100 + 1);
  });
});

describe('until the service has answered for the first time', () => {
  test('one find is under way, and from then on as many as the pace permits', async () => {
    using push = queuedScene(20, obeyed);
    const { run, asked } = push;
    expect(await run()).toMatchObject({ accepted: 20 });
    const gaps = asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0));
    expect(gaps[0]).toBeGreaterThanOrEqual(LATENCY_MS);
    expect(Math.max(...gaps.slice(1))).toBeLessThan(120);
  });

  test('a failure of the service does not raise the number of requests', async () => {
    using push = queuedScene(20, () => answer(500));
    const { outbox, run, asked } = push;
    expect(await run()).toMatchObject({ stopCause: { kind: 'in-doubt' } });
    expect([asked.length, count(outbox, 'uncertain')]).toEqual([5, 5]);
  });

  test.each<[string, () => Reply]>([
    ['a refusal', () => answer(422, {}, { schema_errors: [] })],
    ['a refusal by a page', () => page(413)],
    ['a throttle', () => answer(429, { 'retry-after': '1' })],
    ['a token that ran out', () => answer(401)],
  ])('%s counts as an answer', async (_name, reply) => {
    using push = queuedScene(10, (request, index) => (index === 0 ? reply() : obeyed(request)));
    const { run, asked } = push;
    expect(await run()).toMatchObject({ stopCause: undefined });
    expect(asked.every(isCreate)).toBe(true);
    expect((asked.at(-1)?.at ?? 0) - (asked[2]?.at ?? 0)).toBeLessThan(1000);
  });
});

describe('a single odd answer', () => {
  test.each<[string, number, () => Reply]>([
    ['at the beginning', 0, () => page(502)],
    ['in the middle', 12, () => page(502)],
    ['that is a cut connection at the beginning', 0, cut],
  ])('%s costs one probe, and the push continues to its end', async (_name, at, odd) => {
    using push = queuedScene(30, (request, index) => (index === at ? odd() : obeyed(request)));
    const { outbox, run, asked } = push;
    expect(await run()).toMatchObject({ accepted: 29, stopCause: undefined });
    expect(count(outbox, 'uncertain')).toBe(1);
    const questions = asked.filter((request) => !isCreate(request));
    expect(questions).toMatchObject([{ method: 'POST', url: 'http://service/api/pas/import-xml' }]);
    const [question] = questions;
    const next = asked.filter(({ at: sentAt }) => sentAt > (question?.at ?? 0));
    expect((next[1]?.at ?? 0) - (next[0]?.at ?? 0)).toBeGreaterThanOrEqual(LATENCY_MS);
    expect((next[2]?.at ?? 0) - (next[1]?.at ?? 0)).toBeLessThan(120);
  });

  test('to the last find causes no probe, since nothing is left to send', async () => {
    using push = queuedScene(3, (request, index) => (index === 2 ? page(502) : obeyed(request)));
    const { run, asked } = push;
    expect(await run()).toMatchObject({ accepted: 2, stopCause: undefined });
    expect(asked).toHaveLength(3);
  });

  test.each<[string, () => Reply, string]>([
    ['is closed', () => answer(503), 'closed'],
    ['cannot be reached', () => new TransportError('connect', false, 'no route'), 'unreachable'],
    ['fails', () => answer(500), 'in-doubt'],
  ])('after which the service %s ends the push with the queue kept', async (_name, reply, kind) => {
    using push = queuedScene(10, (request) => (isCreate(request) ? page(502) : reply()));
    const { outbox, run } = push;
    expect(await run()).toMatchObject({ stopCause: { kind } });
    expect([count(outbox, 'uncertain'), count(outbox, 'queued')]).toEqual([1, 9]);
  });
});

test('for any answers, at most one find is uncertain before the service itself has answered', async () => {
  const replies = fc.constantFrom('odd', 'cut', 'failed', 'obeyed', 'refused');
  await fc.assert(
    fc.asyncProperty(fc.array(replies, { maxLength: 12 }), async (script) => {
      const clock = manualClock();
      using outbox = tempOutbox(clock);
      queueMany(outbox, 12);
      let answered = false;
      let doubted = 0;
      const { run } = scene(clock, (request, index) => {
        const kind = script[index] ?? 'odd';
        if (kind === 'failed' || kind === 'obeyed' || kind === 'refused') answered = true;
        else if (isCreate(request) && !answered) doubted += 1;
        const replies = {
          odd: page(200),
          cut: cut(),
          failed: answer(500),
          obeyed: obeyed(request),
          refused: answer(400),
        };
        return replies[kind];
      });
      await run(outbox);
      expect(doubted).toBeLessThanOrEqual(1);
      expect(count(outbox, 'sending')).toBe(0);
    }),
    SLOW_RUNS,
  );
});
