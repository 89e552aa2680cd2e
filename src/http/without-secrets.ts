import type { Exchange, HttpResponse } from './exchange.ts';

const MASK = '***';
/** Anything shorter is no secret, and would be struck out of half the answer. */
const LEAST_CHARACTERS = 6;
/** Of a longer secret the rest goes with its beginning, as far as it is one word. */
const LOOKED_FOR_CHARACTERS = 40;

/**
 * Strikes secrets out of whatever an answer repeats of its request. Debug pages and proxies do so, and what an answer
 * says ends up in messages, in the journal and in kept answers.
 * @param words passwords, which may be a word of a find: they are struck out where an answer says that something failed
 */
export function discreet(secrets: readonly string[], send: Exchange, words: readonly string[] = []): Exchange {
  const strike = striking(secrets);
  return async (request) => {
    const response = await send(request);
    return response.status === 200 || response.status === 201 ? strike(response) : striking([...secrets, ...words])(response);
  };
}

/** Strikes secrets out of one answer, however they are written there, as long as they can be read. */
export function striking(secrets: readonly string[]): (response: HttpResponse) => HttpResponse {
  const strike = strikingBytes(secrets);
  if (strike === undefined) return (response) => response;
  return ({ status, headers, body }) => {
    const text = body.toString('latin1');
    const struck = strike(text);
    return {
      status,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, strike(value)])),
      body: struck === text ? body : Buffer.from(struck, 'latin1'),
    };
  };
}

/** The same for a text of bytes as characters, so that what is not struck out stays as it is in any encoding. Node gives headers so, too. */
function strikingBytes(secrets: readonly string[]): ((text: string) => string) | undefined {
  const told = secrets
    .filter(({ length }) => length >= LEAST_CHARACTERS)
    .flatMap((secret) => [secret.normalize('NFC'), secret.normalize('NFD')]);
  if (told.length === 0) return undefined;
  const spelt = spellings([...new Set(told)]);
  return (text) => (spelt.beginnings.test(text) ? text.replace(spelt.whole(), MASK) : text);
}

/** Few answers hold as much as the beginning of a secret, and the pattern of a whole one takes longer to make than most answers do. */
type Spellings = { readonly beginnings: RegExp; whole(): RegExp };

/** A command has a password and a token, and asks with them again and again. */
const KEPT_SPELLINGS = 16;
const keptSpellings = new Map<string, Spellings>();

function spellings(secrets: readonly string[]): Spellings {
  const key = secrets.join('\0');
  const spelt = keptSpellings.get(key) ?? makeSpellings(secrets);
  keptSpellings.delete(key);
  keptSpellings.set(key, spelt);
  for (const oldest of [...keptSpellings.keys()].slice(0, -KEPT_SPELLINGS)) keptSpellings.delete(oldest);
  return spelt;
}

function makeSpellings(secrets: readonly string[]): Spellings {
  let whole: RegExp | undefined;
  return {
    beginnings: new RegExp(secrets.map(patternOfBeginning).join('|')),
    whole: () => {
      whole ??= new RegExp(secrets.map(patternOf).join('|'), 'g');
      return whole;
    },
  };
}

/** The same for a text. */
export function strikingText(secrets: readonly string[]): (text: string) => string {
  const strike = strikingBytes(secrets);
  if (strike === undefined) return (text) => text;
  return (text) => Buffer.from(strike(Buffer.from(text).toString('latin1')), 'latin1').toString();
}

/** What may stand between two characters of a word that is split: blanks, the other halves of UTF-16, markup, signs that nobody sees. */
const BETWEEN = String.raw`(?:[\s\0]|\\+[nrt]|<[^<>]{0,200}>|&(?:shy|nbsp|#173|#8203|#xad|#x200b);|\xc2\xad|\xe2\x80\x8b|=\r?\n){0,8}?`;

/** Wherever the pattern of the whole secret fits, this one does. */
function patternOfBeginning(secret: string): string {
  return [...secret].slice(0, LEAST_CHARACTERS).map(spellingsOf).join(BETWEEN);
}

function patternOf(secret: string): string {
  const characters = [...secret];
  const rest = characters.length > LOOKED_FOR_CHARACTERS ? String.raw`[\w.~%+/=;&#\\-]*` : '';
  return characters.slice(0, LOOKED_FOR_CHARACTERS).map(spellingsOf).join(BETWEEN) + rest;
}

const NAMED: Readonly<Record<string, string>> = { '"': 'quot', '&': 'amp', "'": 'apos', '<': 'lt', '>': 'gt' };
const IN_JSON: Readonly<Record<string, string>> = { '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' };
/** HTML calls a letter with one of these by the letter and this. */
const ACCENTS: Readonly<Record<string, string>> = {
  '\u0300': 'grave',
  '\u0301': 'acute',
  '\u0302': 'circ',
  '\u0303': 'tilde',
  '\u0308': 'uml',
  '\u030a': 'ring',
  '\u030c': 'caron',
};
const OLD_ENCODINGS = ['windows-1250', 'iso-8859-2', 'windows-1252'].map(
  (encoding) => new Map(Array.from({ length: 128 }, (_, index) => [decodedByte(encoding, index + 128), index + 128])),
);

function decodedByte(encoding: string, byte: number): string {
  return new TextDecoder(encoding).decode(Uint8Array.of(byte));
}

/** A character as bytes, in JSON, in HTML and in an address, each of them also twice over. */
function spellingsOf(character: string): string {
  const bytes = Buffer.from(character);
  const [letter = '', accent = ''] = character.normalize('NFD');
  const name = NAMED[character] ?? (ACCENTS[accent] === undefined ? undefined : `${letter}${ACCENTS[accent]}`);
  const code = character.codePointAt(0) ?? 0;
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index).toString(16).padStart(4, '0'));
  const old = OLD_ENCODINGS.flatMap((encoding) => encoding.get(character) ?? []).map((byte) => literal(Buffer.of(byte)));
  const utf16 =
    bytes.length === 1 ? [] : [literal(Buffer.from(character, 'utf16le')), literal(Buffer.from(character, 'utf16le').swap16())];
  return `(?:${[
    String.raw`\\{0,4}${literal(bytes)}`,
    ...old,
    ...utf16,
    units.map((unit) => String.raw`\\{1,4}u${hex(unit)}`).join(''),
    `&(?:amp;)*#0*${code};?`,
    `&(?:amp;)*#[xX]0*${hex(code.toString(16))};?`,
    ...(name === undefined ? [] : [`&(?:amp;)*${name};`]),
    [...bytes].map((byte) => `%(?:25)*${hex(byte.toString(16).padStart(2, '0'))}`).join(''),
    ...(IN_JSON[character] === undefined ? [] : [String.raw`\\{1,4}${IN_JSON[character]}`]),
    ...(character === ' ' ? [String.raw`\+`] : []),
  ].join('|')})`;
}

function literal(bytes: Buffer): string {
  return [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}

/** In small or capital digits. */
function hex(digits: string): string {
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}
