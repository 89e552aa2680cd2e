import { describe, expect, test } from 'vitest';
import { type Exchange, type HttpResponse, NoAnswerError } from '../../../src/http/exchange.ts';
import { retrying } from '../../../src/http/retry.ts';
import { manualClock } from '../../support/manual-clock.ts';

const OPTIONS = { random: () => 1, attempts: 4, firstWaitMs: 1000, mostWaitMs: 3000, mostRetryAfterMs: 60_000 };
const ok: HttpResponse = { status: 200, headers: {}, body: Buffer.from('ok') };

function answers(...given: (HttpResponse | Error)[]): { exchange: Exchange; asked: () => number } {
  let count = 0;
  return {
    asked: () => count,
    exchange: async () => {
      const answer = given[Math.min(count, given.length - 1)] ?? ok;
      count += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

async function ask(exchange: Exchange) {
  const clock = manualClock();
  const waits: number[] = [];
  const outcome = retrying(exchange, { ...OPTIONS, clock, onWait: (ms) => waits.push(ms) })({
    method: 'GET',
    url: 'http://x/',
  }).then(
    (response) => ({ status: response.status, error: undefined }),
    (error: unknown) => ({ status: undefined, error }),
  );
  await clock.advance(600_000);
  return { ...(await outcome), waits };
}

const busy = (headers: Record<string, string> = {}): HttpResponse => ({ status: 503, headers, body: Buffer.alloc(0) });
const cut = new NoAnswerError('reset', true, 'cut');

describe('a GET', () => {
  test('is repeated after a cut connection and a server error, with growing pauses', async () => {
    const { exchange, asked } = answers(cut, busy(), ok);
    expect(await ask(exchange)).toMatchObject({ status: 200, waits: [1000, 2000] });
    expect(asked()).toBe(3);
  });

  test('waits as long as the server asks', async () => {
    expect((await ask(answers(busy({ 'retry-after': '7' }), ok).exchange)).waits).toEqual([7000]);
  });

  test('is not repeated when the server asks for longer than anybody waits', async () => {
    const { exchange, asked } = answers(busy({ 'retry-after': '86400' }));
    expect((await ask(exchange)).status).toBe(503);
    expect(asked()).toBe(1);
  });

  test('ends with the last answer, or with the lack of one', async () => {
    const silent = answers(cut);
    expect((await ask(silent.exchange)).error).toBe(cut);
    expect(silent.asked()).toBe(4);
    expect((await ask(answers(busy()).exchange)).status).toBe(503);
  });

  test('that was refused for good is not repeated', async () => {
    const { exchange, asked } = answers({ status: 404, headers: {}, body: Buffer.alloc(0) });
    expect((await ask(exchange)).status).toBe(404);
    expect(asked()).toBe(1);
  });
});

test('anything that may create a record is never repeated', async () => {
  const { exchange, asked } = answers(cut);
  const send = retrying(exchange, { ...OPTIONS, clock: manualClock() });
  await expect(send({ method: 'POST', url: 'http://x/' })).rejects.toThrow('only a GET');
  expect(asked()).toBe(0);
});
