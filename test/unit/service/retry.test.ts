import { describe, expect, test } from 'vitest';
import {
  type Exchange,
  type HttpRequest,
  type HttpResponse,
  TransportError,
  withRetry,
} from '../../../src/service/http/exchange.ts';
import { type ManualClock, manualClock, playOut } from '../../support/manual-clock.ts';

const OPTIONS = { random: () => 1, attempts: 4 };
const ok: HttpResponse = { status: 200, headers: {}, body: Buffer.from('ok') };

function answers(...steps: (HttpResponse | Error)[]): { exchange: Exchange; asked: () => number } {
  let count = 0;
  return {
    asked: () => count,
    exchange: async () => {
      const answer = steps[Math.min(count, steps.length - 1)] ?? ok;
      count += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

async function ask(exchange: Exchange) {
  const clock = manualClock();
  const waits: number[] = [];
  const outcome = withRetry(exchange, { ...OPTIONS, clock, onWait: (ms) => waits.push(ms) })({
    method: 'GET',
    url: 'http://x/',
  }).then(
    (response) => ({ status: response.status, error: undefined }),
    (error: unknown) => ({ status: undefined, error }),
  );
  await clock.advance(600_000);
  return { ...(await outcome), waits };
}

const busy = (headers: Record<string, string> = {}): HttpResponse => ({
  status: 503,
  headers,
  body: Buffer.alloc(0),
});
const cut = new TransportError('reset', true, 'cut');

describe('a GET', () => {
  test('is repeated after a cut connection and a server error, with growing pauses', async () => {
    const { exchange, asked } = answers(cut, busy(), ok);
    expect(await ask(exchange)).toMatchObject({ status: 200, waits: [500, 1000] });
    expect(asked()).toBe(3);
  });

  test('waits as long as the server asks', async () => {
    expect((await ask(answers(busy({ 'retry-after': '7' }), ok).exchange)).waits).toEqual([7000]);
  });

  test('is not repeated if the service asks for a longer wait than the limit', async () => {
    const { exchange, asked } = answers(busy({ 'retry-after': '86400' }));
    expect((await ask(exchange)).status).toBe(503);
    expect(asked()).toBe(1);
  });

  test('ends with the last answer, or with the missing one', async () => {
    const silent = answers(cut);
    expect((await ask(silent.exchange)).error).toBe(cut);
    expect(silent.asked()).toBe(4);
    expect((await ask(answers(busy()).exchange)).status).toBe(503);
  });

  test('that was finally refused is not repeated', async () => {
    const { exchange, asked } = answers({ status: 404, headers: {}, body: Buffer.alloc(0) });
    expect((await ask(exchange)).status).toBe(404);
    expect(asked()).toBe(1);
  });
});

describe('a service that is away for a while', () => {
  const night = async (
    exchange: Exchange,
    requests: number,
    clock = manualClock(),
    more: Partial<HttpRequest> = {},
    random = () => 0,
  ) => {
    const beganMs = clock.monotonicMs();
    const get = withRetry(exchange, { random, clock });
    const statuses: (number | undefined)[] = [];
    for (let n = 0; n < requests; n++) {
      const outcome = get({ method: 'GET', url: 'http://x/', ...more }).then(
        ({ status }) => status,
        () => undefined,
      );
      statuses.push(await playOut(clock, outcome, 1000));
    }
    return { statuses, elapsedMs: clock.monotonicMs() - beganMs };
  };

  const FIVE_MINUTES_MS = 300_000;

  test.each([0, 0.5, 0.99])(
    'after an answer is retried for five minutes, and then once more (chance %d)',
    async (chance) => {
      const { statuses, elapsedMs } = await night(
        answers(ok, cut).exchange,
        2,
        manualClock(),
        {},
        () => chance,
      );
      expect(statuses).toEqual([200, undefined]);
      expect(elapsedMs).toBeGreaterThanOrEqual(FIVE_MINUTES_MS);
      expect(elapsedMs).toBeLessThan(FIVE_MINUTES_MS + 2000);
    },
  );

  test('is asked for the last time when a restart of five minutes is over', async () => {
    const clock = manualClock();
    const backMs = clock.monotonicMs() + FIVE_MINUTES_MS;
    let askedCount = 0;
    const restarting: Exchange = async () => {
      askedCount += 1;
      return askedCount > 1 && clock.monotonicMs() < backMs ? busy() : ok;
    };
    expect((await night(restarting, 2, clock)).statuses).toEqual([200, 200]);
  });

  /**
   * Answers `answered` requests and hangs from then on; each of those ends with its answer timeout.
   */
  const hanging = (clock: ManualClock, answered: number) => {
    const timeouts: (number | undefined)[] = [];
    let askedCount = 0;
    const exchange: Exchange = async ({ answerTimeoutMs }) => {
      askedCount += 1;
      if (askedCount <= answered) return ok;
      timeouts.push(answerTimeoutMs);
      await clock.sleep(answerTimeoutMs ?? 120_000);
      throw new TransportError('timeout', true, 'too long');
    };
    return { exchange, timeouts };
  };

  test.each([1000, 20_000, 200_000])(
    'and hangs is given up after five minutes with an answer timeout of %d ms',
    async (timeoutMs) => {
      const clock = manualClock();
      const { exchange } = hanging(clock, 1);
      const { elapsedMs } = await night(exchange, 2, clock, { answerTimeoutMs: timeoutMs });
      expect(elapsedMs).toBeGreaterThanOrEqual(FIVE_MINUTES_MS);
      expect(elapsedMs).toBeLessThan(FIVE_MINUTES_MS + 12_000);
    },
  );

  test('gets the whole of a longer answer timeout once', async () => {
    const clock = manualClock();
    const { exchange, timeouts } = hanging(clock, 1);
    const { elapsedMs } = await night(exchange, 2, clock, { answerTimeoutMs: 900_000 });
    expect(timeouts).toEqual([900_000]);
    expect(elapsedMs).toBeLessThan(902_000);
  });

  test('and asks for pauses gets them beside the five minutes, twenty at most', async () => {
    const { statuses, elapsedMs } = await night(
      answers(ok, busy({ 'retry-after': '200' })).exchange,
      2,
    );
    expect(statuses).toEqual([200, 503]);
    expect(elapsedMs).toBeGreaterThan(1_000_000);
    expect(elapsedMs).toBeLessThan(1_402_000);
  });

  test('that never answered is given up soon: the address may be wrong', async () => {
    expect((await night(answers(cut).exchange, 1)).elapsedMs).toBeLessThan(60_000);
  });

  test.each([408, 425, 429, 500, 502, 503, 504, 509, 520, 524, 527])('says %i', async (status) => {
    expect((await night(answers({ ...ok, status }, ok).exchange, 1)).statuses).toEqual([200]);
  });
});

test('a request that may create a record is never repeated', async () => {
  const { exchange, asked } = answers(cut);
  const send = withRetry(exchange, { ...OPTIONS, clock: manualClock() });
  await expect(send({ method: 'POST', url: 'http://x/' })).rejects.toThrow('only a GET');
  expect(asked()).toBe(0);
});
