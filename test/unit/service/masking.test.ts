import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../../src/service/http/exchange.ts';
import { makeAnswerMask, withMaskedAnswers } from '../../../src/service/http/masking.ts';

const PASSWORD = 'Žluťoučký "kůň" & <spol.>/42%';

function said(body: string | Buffer, status = 418): HttpResponse {
  return { status, headers: { 'content-type': 'text/plain' }, body: Buffer.from(body as string) };
}

const SPELLINGS: readonly (readonly [string, (secret: string) => string])[] = [
  ['as it is', (secret) => secret],
  ['in an address', encodeURIComponent],
  ['in a form', (secret) => new URLSearchParams({ secret }).toString()],
  ['in JSON', (secret) => JSON.stringify(secret)],
  [
    'in JSON of ASCII',
    (secret) =>
      JSON.stringify(secret).replace(
        /[^ -~]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
  ],
  ['in Base64', (secret) => Buffer.from(secret).toString('base64')],
  ['in Base64 behind a user name', (secret) => Buffer.from(`anna:${secret}`).toString('base64')],
];

describe('a secret repeated by an answer is removed', () => {
  test('of one character, and only that', () => {
    const { body } = makeAnswerMask(['x'])(said('you said: x to me'));
    expect(body.toString()).toBe('you said: *** to me');
  });

  test.each(SPELLINGS)('%s, whatever its characters', (_how, spell) => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 6, maxLength: 300, size: 'max' }),
        (secret) => {
          const text = spell(secret);
          const { body } = makeAnswerMask([secret])(said(`you said: ${text} to me`));
          expect(body.includes(text)).toBe(false);
          expect(body.toString()).toMatch(/^you said: .{0,10}\*\*\*.{0,4} to me$/s);
        },
      ),
    );
  });

  test('also from headers, whose bytes Node decodes as Latin-1', () => {
    const response = {
      ...said(''),
      headers: { 'x-you-said': Buffer.from(PASSWORD).toString('latin1') },
    };
    expect(makeAnswerMask([PASSWORD])(response).headers).toEqual({ 'x-you-said': '***' });
  });
});

describe('and nothing else', () => {
  test('bytes of any encoding stay unchanged', () => {
    const bytes = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));
    expect(makeAnswerMask([PASSWORD])(said(bytes)).body.equals(bytes)).toBe(true);
  });

  test('a password that is a common word stays in data of finds, and is removed from failures', async () => {
    const word = 'kladivo';
    const saying = (status: number) =>
      withMaskedAnswers([], async () => said('<nalez>kladivo</nalez>', status), [word]);
    expect(
      (await saying(200)({ method: 'GET', url: 'https://x.example' })).body.toString(),
    ).toContain('kladivo');
    expect((await saying(500)({ method: 'GET', url: 'https://x.example' })).body.toString()).toBe(
      '<nalez>***</nalez>',
    );
  });

  test('a secret of less than six characters stays in the document of a success', async () => {
    const saying = (status: number) =>
      withMaskedAnswers(['abc'], async () => said('<nalez>abc</nalez>', status));
    const get = async (status: number) =>
      (await saying(status)({ method: 'GET', url: 'https://x.example' })).body.toString();
    expect(await get(201)).toBe('<nalez>abc</nalez>');
    expect(await get(500)).toBe('<nalez>***</nalez>');
  });
});
