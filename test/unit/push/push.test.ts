import { describe, expect, test } from 'vitest';
import { recordOrphanedAttempts } from '../../../src/outbox/attempts.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  claimEntry,
  listAllEntries,
  PHOTOGRAPH,
  queueImport,
  queueNumber,
  queuePhoto,
  tempOutbox,
} from '../../support/temp-outbox.ts';
import { answer, count, created, LATENCY_MS, obeyed, queuedScene, scene } from './push-scene.ts';

test('a slow service does not slow the queue: requests depart every 100 ms while others wait for their answers', async () => {
  using push = queuedScene(30, created);
  const { run, asked } = push;
  const result = await run();
  expect(result).toMatchObject({ accepted: 30, requests: 30, throttled: 0, stopCause: undefined });
  const gaps = asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(100);
  // The first answer is waited for.
  expect(gaps[0]).toBeGreaterThanOrEqual(LATENCY_MS);
  expect(Math.max(...gaps.slice(1))).toBeLessThan(120);
});

test('the preparation of a request does not make it late: it is claimed and connected before its slot', async () => {
  const claimed: number[] = [];
  const connect = async () => {
    claimed.push(60 - count(outbox, 'queued'));
    await clock.sleep(1.5);
  };
  using push = queuedScene(60, created, { connect });
  const { clock, outbox, run, asked } = push;
  await run();
  const gaps = asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0));
  for (const gap of gaps.slice(-20)) expect(gap).toBeCloseTo(102, 3);
  expect(claimed).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
});

test('no answer is written while a request is about to depart, since the disk would delay it', async () => {
  using push = queuedScene(30, created);
  const { clock, outbox, run, asked } = push;
  const aheadMs = clock.now() - clock.monotonicMs();
  await run();
  const written = outbox.sql('select updated_at from entries').pluck().all().map(Number);
  const untilNextMs = written.flatMap((at) => asked.map((request) => request.at + aheadMs - at));
  expect(untilNextMs.filter((ms) => ms > 1 && ms < 11)).toEqual([]);
});

test('what is on its way to a record that the service gives to another find is uncertain', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  const ident = 'C-202400101-N00007';
  const { findId } = queueImport(outbox, 'K-1');
  const { run } = scene(clock, async (request) => {
    if (request.body.includes('K-0')) return created(request);
    if (request.url.endsWith('/import-xml')) return answer(201, { 'x-record-id': ident });
    await clock.sleep(2 * LATENCY_MS);
    return obeyed(request);
  });
  expect(await run(outbox)).toMatchObject({ accepted: 1 });
  // Until the service has answered, one request is under way at a time.
  queueImport(outbox, 'K-0');
  queuePhoto(outbox, findId, PHOTOGRAPH);
  queueImport(outbox, 'K-2');
  expect(await run(outbox)).toMatchObject({ accepted: 1 });
  expect(
    listAllEntries(outbox).map(({ kind, state, identCely }) => [kind, state, identCely]),
  ).toEqual([
    ['import', 'uncertain', null],
    ['import', 'accepted', expect.any(String)],
    ['photo', 'uncertain', null],
    ['import', 'uncertain', null],
  ]);
});

test('entries of one record are sent one after the other, the photograph after its find', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  const { findId } = queueImport(outbox, 'K-1');
  const target = findId;
  queueNumber(outbox, target, 'A 1', null);
  queuePhoto(outbox, target, PHOTOGRAPH);
  const { run, asked } = scene(clock, obeyed);
  expect(await run(outbox)).toMatchObject({ accepted: 3 });
  expect(asked.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
  for (const [index, { at }] of asked.slice(1).entries())
    expect(at - (asked[index]?.at ?? 0)).toBeGreaterThanOrEqual(LATENCY_MS);
});

describe('a refusal without details beside another import of the project', () => {
  const collision = answer(422, {}, { detail: 'identifier taken' });

  test('is tried again if a killed push may have left another import under way', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const { entryId } = queueImport(outbox, 'K-1');
    queueImport(outbox, 'K-2');
    claimEntry(outbox, entryId);
    recordOrphanedAttempts(outbox);
    const { run } = scene(clock, (_request, index) => (index === 0 ? collision : created()));
    expect(await run(outbox)).toMatchObject({ accepted: 1, refused: 0, requests: 2 });
    expect(count(outbox, 'uncertain')).toBe(1);
  });
});

test('after a stop by a person the requests under way are settled and no more are sent', async () => {
  using push = queuedScene(20, (_request, index) => {
    if (index === 2) stop.abort();
    return created();
  });
  const { outbox, run, asked, stop } = push;
  expect(await run()).toMatchObject({ stopCause: { kind: 'interrupted' } });
  expect(count(outbox, 'accepted')).toBe(asked.length);
  expect(count(outbox, 'sending')).toBe(0);
});

test('a limit of requests is kept', async () => {
  using push = queuedScene(20, created);
  const { run } = push;
  expect(await run({ limit: 7 })).toMatchObject({ accepted: 7, requests: 7 });
});
