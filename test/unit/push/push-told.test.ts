import { expect, test } from 'vitest';
import { msg, setLanguage } from '../../../src/base/message.ts';
import { TransportError } from '../../../src/service/http/exchange.ts';
import { piecesOfTexts } from '../../support/in-words.ts';
import { type Asked, answer, page, queuedScene, type Reply } from './push-scene.ts';

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
