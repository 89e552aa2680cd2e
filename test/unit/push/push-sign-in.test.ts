import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { AuthError, UnavailableError } from '../../../src/base/errors.ts';
import {
  type HttpRequest,
  type HttpResponse,
  TransportError,
  withAnswerTimeout,
} from '../../../src/service/http/exchange.ts';
import { openSession, type Session } from '../../../src/service/session.ts';
import { memoryPaceStore } from '../service/memory-pace-store.ts';
import { makeTestPace } from './find-service.ts';
import { answer, count, created, obeyed, queuedScene } from './push-scene.ts';

/** A session with a token at hand, whose next sign-ins go as `signIn` says. */
function sessionWith(
  signIn: (request: HttpRequest, nth: number) => Promise<HttpResponse>,
  first: 'old' | 'none' = 'old',
  maxMs = 120_000,
) {
  const requests: HttpRequest[] = [];
  const session: Session = openSession({
    clock: systemClock,
    baseUrl: 'http://service',
    username: 'eva@example.org',
    password: 'password',
    keeper: { read: () => (first === 'old' ? first : undefined), write: () => undefined },
    send: withAnswerTimeout(maxMs, (request) => signIn(request, requests.push(request) - 1)),
  });
  return { session, requests };
}

const tokenAnswer = (token: string): HttpResponse => answer(200, {}, { token });

/** A sign-in that never gets an answer, but hears when it is to stop. */
const hanging = (request: HttpRequest): Promise<HttpResponse> =>
  new Promise((_resolve, reject) => {
    const stop = (): void =>
      reject(new TransportError('aborted', true, 'stopped while it was in progress'));
    request.signal?.addEventListener('abort', stop);
  });

function ranOut(request: { readonly token: string }): boolean {
  return request.token === 'Bearer old';
}

describe('an expired token', () => {
  test('requeues the refused entry before a new one is requested, and holds the rest until it is there', async () => {
    let give = (_answer: HttpResponse): void => {};
    const { session, requests } = sessionWith(
      () =>
        new Promise((resolve) => {
          give = resolve;
        }),
    );
    let sentCount = 0;
    using push = queuedScene(12, (request) => {
      sentCount += 1;
      return sentCount > 4 && ranOut(request) ? answer(401) : obeyed(request);
    });
    const { clock, outbox, start, asked, events } = push;
    const running = start({ session });
    await clock.advance(600_000);
    expect([count(outbox, 'sending'), count(outbox, 'accepted'), requests.length]).toEqual([
      0, 4, 1,
    ]);
    expect(
      events.filter((event) => event.type === 'settled' && event.state === 'queued').length,
    ).toBeGreaterThan(1);
    const before = asked.length;
    give(tokenAnswer('new'));
    await clock.advance(600_000);
    expect(await running).toMatchObject({ accepted: 12, stopCause: undefined });
    expect(asked.slice(before).every(({ token }) => token === 'Bearer new')).toBe(true);
    expect(requests).toHaveLength(1);
  });

  test('whose renewal hangs does not delay a stop by a person', async () => {
    using push = queuedScene(12, () => answer(401));
    const { clock, outbox, start, stop } = push;
    const running = start({ session: sessionWith(hanging).session });
    await clock.advance(60_000);
    stop.abort();
    await clock.advance(0);
    expect(await running).toMatchObject({ stopCause: { kind: 'interrupted' } });
    expect(count(outbox, 'queued')).toBe(12);
  });

  test('whose renewal gets no answer ends the push with the queue kept', async () => {
    const { session } = sessionWith(async () => {
      await clock.sleep(30_000);
      throw new TransportError('timeout', true, 'late');
    });
    let sentCount = 0;
    using push = queuedScene(12, (request) => {
      sentCount += 1;
      return sentCount > 2 ? answer(401) : obeyed(request);
    });
    const { clock, outbox, run } = push;
    expect(await run({ session })).toMatchObject({
      accepted: 2,
      stopCause: { kind: 'unreachable' },
    });
    expect([count(outbox, 'queued'), count(outbox, 'uncertain')]).toEqual([10, 0]);
  });

  test('that is issued again unchanged is not requested endlessly', async () => {
    const { session, requests } = sessionWith(async (_request, nth) => tokenAnswer(`new-${nth}`));
    using push = queuedScene(3, () => answer(401));
    const { outbox, run } = push;
    expect(await run({ session })).toMatchObject({ stopCause: { kind: 'not-allowed' } });
    expect(count(outbox, 'queued')).toBe(3);
    // Three renewals for each find at most, and the first token.
    expect(requests.length).toBeLessThanOrEqual(10);
  });
});

describe('the first sign-in of a push', () => {
  test('that is refused, or gets no answer, is reported as such', async () => {
    using push = queuedScene(1, created);
    const { outbox, start } = push;
    const refused = sessionWith(async () => answer(400), 'none');
    await expect(start({ session: refused.session })).rejects.toThrow(AuthError);
    const mute = sessionWith(
      () => Promise.reject(new TransportError('timeout', true, 'late')),
      'none',
    );
    await expect(start({ session: mute.session })).rejects.toThrow(UnavailableError);
    expect(count(outbox, 'queued')).toBe(1);
  });

  test('that hangs does not delay a stop by a person', async () => {
    using push = queuedScene(1, created);
    const { clock, start, stop } = push;
    const { session, requests } = sessionWith(hanging, 'none');
    const running = start({ session });
    await clock.advance(1000);
    expect(requests).toHaveLength(1);
    stop.abort();
    await clock.advance(0);
    expect(await running).toMatchObject({ stopCause: { kind: 'interrupted' } });
  });
});

test('a pending access probe does not delay a stop by a person', async () => {
  using push = queuedScene(4, (request) =>
    request.method === 'GET' ? new Promise<never>(() => {}) : answer(403),
  );
  const { clock, outbox, start, stop, asked } = push;
  const running = start();
  await clock.advance(60_000);
  expect(asked.map(({ method }) => method)).toEqual(['POST', 'GET']);
  stop.abort();
  await clock.advance(0);
  expect(await running).toMatchObject({ refused: 0, stopCause: { kind: 'interrupted' } });
  expect(count(outbox, 'queued')).toBe(4);
});

describe('a pause of more than two minutes', () => {
  const hour = { 'retry-after': '3600' };

  test('ends the push that gets it, as soon as the requests under way are answered, and says until when', async () => {
    using push = queuedScene(30, (request, index) =>
      index === 8 ? answer(429, hour) : obeyed(request),
    );
    const { clock, outbox, start } = push;
    let result: Awaited<ReturnType<typeof start>> | undefined;
    const startedMs = clock.now();
    void start().then((ended) => {
      result = ended;
    });
    await clock.advance(10_000);
    expect(result).toMatchObject({ throttled: 1, stopCause: { kind: 'waiting' } });
    const until = result?.stopCause?.kind === 'waiting' ? result.stopCause.untilMs - startedMs : 0;
    expect(until).toBeGreaterThan(3_600_000);
    expect(until).toBeLessThan(3_610_000);
    expect([count(outbox, 'sending'), count(outbox, 'uncertain')]).toEqual([0, 0]);
  });

  test('ends the push of another process that shares the pace', async () => {
    using push = queuedScene(30, obeyed);
    const { clock, outbox, start } = push;
    const store = memoryPaceStore(clock);
    let ended = false;
    const running = start({ pace: makeTestPace(clock, store) }).then((result) => {
      ended = true;
      return result;
    });
    await clock.advance(1000);
    makeTestPace(clock, store).pauseAfterThrottle(clock.monotonicMs(), 3_600_000);
    await clock.advance(10_000);
    expect(ended).toBe(true);
    expect(await running).toMatchObject({ stopCause: { kind: 'waiting' } });
    expect(count(outbox, 'sending')).toBe(0);
  });

  test('leaves no entry in the state of being sent', async () => {
    using push = queuedScene(30, (request, index) =>
      index % 7 === 6 ? answer(429, { 'retry-after': '90' }) : obeyed(request),
    );
    const { clock, outbox, start } = push;
    const running = start();
    let waited = 0;
    for (let second = 0; second < 400; second += 1) {
      await clock.advance(1000);
      if (count(outbox, 'sending') > 0) waited += 1;
    }
    expect(await running).toMatchObject({ accepted: 30 });
    expect(waited).toBeLessThan(10);
  });
});
