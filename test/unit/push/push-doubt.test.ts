import { describe, expect, test } from 'vitest';
import { msg, setLanguage } from '../../../src/base/message.ts';
import { TransportError } from '../../../src/service/http/exchange.ts';
import { piecesOfTexts } from '../../support/in-words.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { queueImport, tempOutbox } from '../../support/temp-outbox.ts';
import {
  type Asked,
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
    ['cut connections', cut],
    ['failures of the service', () => answer(500)],
  ])('of %s leaves five finds uncertain and ends the push', async (_name, wall) => {
    using push = queuedScene(40, wall);
    const { outbox, run, asked } = push;
    expect(await run()).toMatchObject({ stopCause: { kind: 'in-doubt' } });
    expect([count(outbox, 'uncertain'), count(outbox, 'queued')]).toEqual([5, 35]);
    expect(asked).toHaveLength(5);
  });

  test('that appears midway ends the push after five answers and what is under way', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueMany(outbox, 60);
    const { run } = scene(clock, (request, index) => (index < 20 ? obeyed(request) : page(502)));
    expect(await run(outbox)).toMatchObject({ accepted: 20, stopCause: { kind: 'in-doubt' } });
    expect(count(outbox, 'uncertain')).toBeLessThanOrEqual(5 + LATENCY_MS / 100);
  });
});

describe('until the service has answered for the first time', () => {
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

test.each<[string, number, () => Reply]>([
  ['at the beginning', 0, () => page(502)],
  ['in the middle', 12, () => page(502)],
  ['that is a cut connection at the beginning', 0, cut],
])(
  'a single odd answer %s leaves one find uncertain and the push goes on',
  async (_name, at, odd) => {
    using push = queuedScene(30, (request, index) => (index === at ? odd() : obeyed(request)));
    const { outbox, run, asked } = push;
    expect(await run()).toMatchObject({ accepted: 29, stopCause: undefined });
    expect(count(outbox, 'uncertain')).toBe(1);
    expect(asked.filter((request) => !isCreate(request))).toEqual([]);
  },
);

test.each<[string, () => Reply, string]>([
  ['is closed', () => answer(503), 'closed'],
  ['cannot be reached', () => new TransportError('connect', false, 'no route'), 'unreachable'],
])(
  'after an odd answer a service that %s ends the push with the queue kept',
  async (_name, reply, kind) => {
    using push = queuedScene(10, (_request, index) => (index === 0 ? page(502) : reply()));
    const { outbox, run } = push;
    expect(await run()).toMatchObject({ stopCause: { kind } });
    expect([count(outbox, 'uncertain'), count(outbox, 'queued')]).toEqual([1, 9]);
  },
);

const PIECES = piecesOfTexts();

/** Messages created in English, printed in English and then in Czech. */
async function toldInBoth(value: unknown): Promise<{ readonly en: string; readonly cs: string }> {
  const en = JSON.stringify(value);
  try {
    setLanguage('cs');
    return { en, cs: JSON.stringify(value) };
  } finally {
    setLanguage('en');
  }
}

test.each<[string, string, (request: Asked) => Reply]>([
  ['leaves five finds in doubt', 'in-doubt', () => answer(500)],
  ['is answered by something that is not the service', 'in-doubt', () => page(200)],
  ['finds the service closed', 'closed', () => answer(503, {}, '')],
  [
    'finds no way to the service',
    'unreachable',
    () => new TransportError('connect', false, msg`the service is closed`),
  ],
  ['is throttled for ever', 'waiting', () => answer(429)],
  ['is told to wait for an hour', 'waiting', () => answer(429, { 'retry-after': '3600' })],
  ['gets no other token', 'not-allowed', () => answer(401)],
])(
  'a push that %s reports the cause of its end in the language of the reader',
  async (_what, kind, reply) => {
    using push = queuedScene(8, reply);
    const { run, events } = push;
    const { stopCause } = await run();
    expect(stopCause?.kind).toBe(kind);
    const cause = await toldInBoth(stopCause);
    expect(cause.en).not.toBe(cause.cs);
    const all = await toldInBoth([stopCause, events]);
    expect(PIECES.cs.filter((piece) => all.cs.includes(piece))).not.toEqual([]);
    expect(PIECES.en.filter((piece) => all.cs.includes(piece))).toEqual([]);
  },
);
