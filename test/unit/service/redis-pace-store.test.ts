import { createServer } from 'node:net';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { formatPaceState, parsePaceState, UNSEEN } from '../../../src/service/http/pace-store.ts';
import {
  isRedisAddressFault,
  makeRedisField,
  openRedisPaceStore,
  parseRedisAddress,
  type RedisPaceStore,
} from '../../../src/service/http/redis-pace-store.ts';
import { HAS_REDIS, type RedisProcess, startRedis } from '../../pace/redis-process.ts';
import { listen } from '../../support/raw-server.ts';

type FakeRedis = AsyncDisposable & { readonly url: string };

/**
 * Something that speaks like a Redis, and says what it likes.
 * @param answer gets a command's words and gives the bytes of the reply
 */
async function startFakeRedis(answer: (words: readonly string[]) => string): Promise<FakeRedis> {
  const server = createServer((socket) => {
    let waiting = '';
    socket.on('data', (chunk) => {
      waiting += chunk.toString('latin1');
      for (let found = firstCommand(waiting); found !== undefined; found = firstCommand(waiting)) {
        waiting = waiting.slice(found.length);
        socket.write(answer(found.words));
      }
    });
  });
  const listening = await listen(server);
  return { ...listening, url: listening.url.replace('http', 'redis') };
}

/** An array of bulk strings, once it is there as a whole. */
function firstCommand(
  text: string,
): { readonly words: string[]; readonly length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return undefined;
  const words: string[] = [];
  let length = head[0].length;
  while (words.length < Number(head[1])) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(length));
    if (size === null) return undefined;
    const start = length + size[0].length;
    length = start + Number(size[1]) + 2;
    if (text.length < length) return undefined;
    words.push(text.slice(start, length - 2));
  }
  return { words, length };
}

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;

const SCOPES = ['address:http://service', 'account:http://service eva@example.org'];

type More = {
  readonly password?: string;
  readonly clock?: Clock;
  readonly random?: () => number;
};

async function openStore(url: string, more: More): Promise<RedisPaceStore> {
  const address = parseRedisAddress(url);
  if (isRedisAddressFault(address)) throw new Error(String(address.message));
  const { password, clock = systemClock, random = Math.random } = more;
  return openRedisPaceStore({ address, password, service: 'http://service', clock, random });
}

test('a state is read as it was written, for any numbers', () => {
  const ms = fc.double({ min: 0, max: 1e15, noNaN: true });
  fc.assert(
    fc.property(
      fc.record({
        lastDepartureMs: ms,
        reservedUntilMs: ms,
        pausedUntilMs: ms,
        jitterMs: ms,
        coldStartMs: ms,
      }),
      (written) => {
        // Answers are compared as text, so the text must not change on its way through a number.
        const text = formatPaceState(written);
        const state = parsePaceState(text);
        expect(state === undefined ? undefined : formatPaceState(state)).toBe(text);
      },
    ),
  );
});

test('a state that no pas wrote is not accepted', () => {
  fc.assert(
    fc.property(
      fc.string(),
      (text) => parsePaceState(text) === undefined || text.split(' ').length === 5,
    ),
  );
  for (const text of ['', '1 2 3 4', '1 2 3 4 5 6', '1 2 3 4 x', '-1 2 3 4 5', 'NaN 0 0 0 0'])
    expect(parsePaceState(text)).toBeUndefined();
});

test('the name of an account is not in its scope, and its case makes no difference', () => {
  expect(makeRedisField(SCOPES[1] ?? '')).not.toContain('eva');
  expect(makeRedisField('account:http://service Eva@Example.org')).toBe(
    makeRedisField(SCOPES[1] ?? ''),
  );
  expect(makeRedisField('account:http://service jan@example.org')).not.toBe(
    makeRedisField(SCOPES[1] ?? ''),
  );
});

describe('a server that answers like Redis', () => {
  const PASSWORD = 'sesame öpen';
  const INFO = bulk('redis_version:7.0.0\r\nrun_id:abc\r\n');
  const OK = '+OK\r\n';

  async function said(answers: Readonly<Record<string, string>>): Promise<unknown> {
    await using redis = await startFakeRedis(([word = '']) => answers[word.toLowerCase()] ?? OK);
    try {
      const store = await openStore(redis.url, { password: PASSWORD });
      const change = store.update(SCOPES, (states) => ({
        result: undefined,
        next: states.map(() => ({ ...UNSEEN, jitterMs: 1 })),
      }));
      const [changed] = await Promise.allSettled([change]);
      store.close();
      return [changed];
    } catch (thrown) {
      return thrown;
    }
  }

  test.each([
    ['when it refuses it', { auth: `-ERR AUTH ${PASSWORD} is not right\r\n` }],
    ['in an error', { info: INFO, eval: `-ERR no ${encodeURIComponent(PASSWORD)}\r\n` }],
  ])('and repeats the password %s is quoted without it', async (_when, answers) => {
    const found = inspect(await said(answers), { depth: 9 });
    expect(found).toContain('***');
    expect(found).not.toMatch(/sesame|%C3%B6/);
  });

  test.each([
    ['a number', ':1\r\n'],
    ['a text', bulk('x'.repeat(1000))],
    ['nothing', '$-1\r\n'],
    ['no list', '*-1\r\n'],
    ['an empty list', '*0\r\n'],
    ['lists in a list', '*2\r\n*1\r\n:1\r\n*0\r\n'],
    ['what is no reply', 'hello\r\n'],
    ['a number that is none', ':x\r\n'],
  ])('and always answers %s counts as lost, with an understandable message', async (_what, odd) => {
    for (const answers of [
      { info: odd, eval: odd },
      { info: INFO, eval: odd },
    ]) {
      const found = await said(answers);
      const errors = (
        Array.isArray(found)
          ? found.flatMap((each) => (each as { reason?: unknown }).reason ?? [])
          : [found]
      ) as Error[];
      expect(errors.length).toBeGreaterThan(0);
      for (const error of errors) {
        expect(error).toMatchObject({ name: 'PaceStoreError', kind: 'unavailable' });
        expect(error.message).toMatch(
          /^(its answer cannot be understood|the connection was lost|it does not answer)$/,
        );
      }
    }
  });
});

test('a clock that was set delays all processes, even if another one departs at the same moment', async () => {
  const leaving = formatPaceState({
    ...UNSEEN,
    lastDepartureMs: 1_700_000_000_000,
    reservedUntilMs: 1_700_000_060_000,
  });
  let aheadMs = 0;
  let scope = leaving;
  let others = 0;
  const startedMs = systemClock.monotonicMs();
  await using redis = await startFakeRedis((words) => {
    if (words[0]?.toLowerCase() !== 'eval') return bulk('run_id:abc\r\n');
    if (words[2] === '1' && words[1]?.startsWith('local now')) {
      const nowMs = 1_700_000_000_000 + systemClock.monotonicMs() - startedMs + aheadMs;
      const time = [Math.floor(nowMs / 1000), Math.floor((nowMs % 1000) * 1000)]
        .map(String)
        .map(bulk)
        .join('');
      return `*3\r\n${time}*3\r\n${bulk('abc')}${bulk(scope)}${bulk(scope)}`;
    }
    // A process that has not yet seen the new clock takes a turn by the old one, between the look
    // and the write.
    others += 1;
    if (others === 1) return ':0\r\n';
    scope = words.at(-1) ?? '';
    return ':1\r\n';
  });
  const store = await openStore(redis.url, { random: () => 0 });
  const leavingUntil = () =>
    store.update(SCOPES, (states, nowMs) => ({
      result: states.every(({ reservedUntilMs }) => reservedUntilMs > nowMs),
    }));
  expect(await leavingUntil()).toBe(true);
  aheadMs = 1_200_000;
  // Lookups, and other work in the same process, must not take it for known either.
  expect(await Promise.all([leavingUntil(), leavingUntil()])).toEqual([true, true]);
  store.close();
});

describe.skipIf(!HAS_REDIS)('with a redis-server', () => {
  let redis: RedisProcess;
  const opened: RedisPaceStore[] = [];
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis[Symbol.asyncDispose]());
  beforeEach(() => redis.command('flushall'));
  afterEach(() => {
    for (const store of opened.splice(0)) store.close();
  });

  async function open({ url = redis.url, ...more }: More & { url?: string } = {}) {
    const store = await openStore(url, more);
    opened.push(store);
    return store;
  }

  /** Past the wait of a store that knows nothing. */
  const settle = (store: RedisPaceStore): Promise<void> =>
    store.update(SCOPES, () => ({ result: undefined, next: SCOPES.map(() => UNSEEN) }));

  test('parallel changes lose no update', async () => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => open()));
    await settle(await open());
    const addOne = (store: RedisPaceStore): Promise<void> =>
      store.update(SCOPES, (states) => ({
        result: undefined,
        next: states.map((state) => ({ ...state, jitterMs: state.jitterMs + 1 })),
      }));
    await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, () => addOne(store))));
    const counted = await (await open()).update(SCOPES, (states) => ({
      result: states.map(({ jitterMs }) => jitterMs),
    }));
    expect(counted).toEqual([100, 100]);
  });

  test('its keys belong to the service, name no account, and expire after a day', async () => {
    await settle(await open());
    expect(redis.command('keys', '*')).toBe('pas:pace:1:{http://service}');
    expect(redis.command('hkeys', 'pas:pace:1:{http://service}')).not.toContain('eva');
    const pausedMs = Number(redis.command('pttl', 'pas:pace:1:{http://service}'));
    expect(pausedMs).toBeGreaterThan(23 * 3600 * 1000);
    expect(pausedMs).toBeLessThanOrEqual(24 * 3600 * 1000);
  });

  test('a server that became a read-only replica counts as lost', async () => {
    const store = await open();
    await settle(store);
    redis.command('replicaof', '127.0.0.1', '1');
    const changed = { result: undefined, next: SCOPES.map(() => ({ ...UNSEEN, jitterMs: 1 })) };
    const failed = await store.update(SCOPES, () => changed).catch((thrown: unknown) => thrown);
    redis.command('replicaof', 'no', 'one');
    expect(failed).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('READONLY'),
    });
  });
});
