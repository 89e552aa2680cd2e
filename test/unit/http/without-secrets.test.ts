import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../../src/http/exchange.ts';
import { discreet, striking } from '../../../src/http/without-secrets.ts';

const PASSWORD = 'Žluťoučký "kůň" & <spol.>/42%';
const HEADERS = { 'x-you-said': PASSWORD, 'content-type': 'text/plain' };

function said(body: string | Buffer, status = 418): HttpResponse {
  return { status, headers: HEADERS, body: Buffer.from(body as string) };
}

const each = (text: string, write: (character: string) => string): string => [...text].map(write).join('');
const units = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');

const SPELLINGS: readonly (readonly [string, (secret: string) => string | Buffer])[] = [
  ['as it is', (secret) => secret],
  ['in JSON', (secret) => JSON.stringify({ said: secret })],
  ['in JSON inside of JSON', (secret) => JSON.stringify({ said: JSON.stringify({ said: secret }) })],
  ['in JSON of ASCII', units],
  ['in JSON of ASCII, in capitals', (secret) => units(secret).toUpperCase().replaceAll('\\U', '\\u')],
  ['in an address', encodeURIComponent],
  ['in a form', (secret) => new URLSearchParams({ secret }).toString()],
  ['in an address inside of an address', (secret) => encodeURIComponent(encodeURIComponent(secret))],
  ['in HTML', (secret) => secret.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')],
  ['in HTML by names', (secret) => secret.replace(/&/g, '&amp;').replace(/Ž/g, '&Zcaron;').replace(/ý/g, '&yacute;')],
  ['in HTML by numbers', (secret) => each(secret, (character) => `&#${character.codePointAt(0)};`)],
  ['in HTML by hexadecimal numbers', (secret) => each(secret, (character) => `&#x00${character.codePointAt(0)?.toString(16)};`)],
  ['split over lines', (secret) => each(secret, (character) => `${character}\r\n  `)],
  ['split by markup', (secret) => each(secret, (character) => `<b class="x">${character}</b>`)],
  ['split by signs that nobody sees', (secret) => each(secret, (character) => `${character}\u200b\u00ad`)],
  ['with its accents apart', (secret) => secret.normalize('NFD')],
  ['in UTF-16', (secret) => Buffer.from(secret, 'utf16le')],
];

describe('what an answer repeats of a secret is struck out', () => {
  test.each(SPELLINGS)('%s', (_how, spell) => {
    const around = Buffer.concat([Buffer.from('you said: '), Buffer.from(spell(PASSWORD) as string), Buffer.from(' to me')]);
    const { body } = striking([PASSWORD])(said(around));
    expect(body.toString('latin1').replace(/<[^<>]*>|\0/g, '')).toMatch(/^you said: .{0,30}\*\*\*.{0,10} to me$/s);
  });

  test('also in the headers, whose bytes Node hands on as characters', () => {
    const response = { ...said(''), headers: { 'x-you-said': Buffer.from(PASSWORD).toString('latin1') } };
    expect(striking([PASSWORD])(response).headers).toEqual({ 'x-you-said': '***' });
  });

  test('also in a page of an old Czech encoding', () => {
    const bytes = Buffer.from([0x8e, 0x6c, 0x75, 0x9d, 0x6f, 0x75, 0xe8, 0x6b, 0xfd]);
    expect(striking(['Žluťoučký'])(said(bytes)).body.toString()).toBe('***');
  });

  test('a long token with all of its rest', () => {
    const token = Array.from({ length: 2000 }, (_, at) => String.fromCharCode(97 + (at % 26))).join('');
    expect(striking([token])(said(`<p>${token}</p>`)).body.toString()).toBe('<p>***</p>');
  });

  test('with characters that JSON has letters for', () => {
    const secret = '\b\u000e\f\u000eྔ\u000e';
    const { body } = striking([secret])(said(JSON.stringify({ said: JSON.stringify({ said: secret }) })));
    expect(body.toString()).toContain('***');
  });

  test('whatever it is made of', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 6, maxLength: 60 }),
        fc.constantFrom(...SPELLINGS),
        (secret, [, spell]) => {
          fc.pre(secret.normalize('NFC') === secret && !/^[\s\u200b\u00ad<>*]|[\s\0]/u.test(secret));
          const text = Buffer.from(spell(secret) as string);
          const { body } = striking([secret])(said(text));
          expect(body.includes('***')).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('and nothing else', () => {
  test('bytes of any encoding stay as they are', () => {
    const bytes = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));
    expect(striking([PASSWORD])(said(bytes)).body.equals(bytes)).toBe(true);
  });

  test('a password that is a word stays in what the service says of finds, and goes from what it says of failures', async () => {
    const word = 'kladivo';
    const saying = (status: number) => discreet([], async () => said('<nalez>kladivo</nalez>', status), [word]);
    expect((await saying(200)({ method: 'GET', url: 'https://x.example' })).body.toString()).toContain('kladivo');
    expect((await saying(500)({ method: 'GET', url: 'https://x.example' })).body.toString()).toBe('<nalez>***</nalez>');
  });
});
