import type { Exchange, HttpResponse } from './exchange.ts';

const MASK = '***';
/** Shorter secrets occur in many words, and would be masked in the documents of a success. */
const MIN_CHARACTERS = 6;
/** The Base64 of a shorter secret is a few letters, which occur in many words. */
const MIN_BASE64_BYTES = 5;

/**
 * Wraps `send` to mask secrets that an answer repeats, as debug pages and proxies do: answers are
 * shown in messages and stored. A secret of less than six characters stays in answers 200 and 201,
 * where it may be a part of any word.
 * @param words passwords, which may also be words of a find: they are masked only in answers other
 * than 200 and 201
 */
export function withMaskedAnswers(
  secrets: readonly string[],
  send: Exchange,
  words: readonly string[] = [],
): Exchange {
  const maskSuccess = makeAnswerMask(secrets.filter(({ length }) => length >= MIN_CHARACTERS));
  const maskFailure = makeAnswerMask([...secrets, ...words]);
  return async (request) => {
    const response = await send(request);
    return [200, 201].includes(response.status) ? maskSuccess(response) : maskFailure(response);
  };
}

/**
 * Makes a function that replaces secrets in the headers and the body of an answer by `***`, also
 * within a word, and also percent-encoded, escaped as in JSON and in Base64.
 */
export function makeAnswerMask(
  secrets: readonly string[],
): (response: HttpResponse) => HttpResponse {
  // Pages of a harvest are large, and often no secret is known.
  if (secrets.length === 0) return (response) => response;
  const mask = createBytesMask(secrets);
  return ({ status, headers, body }) => ({
    status,
    headers: Object.fromEntries(
      // Node decodes the bytes of a header as Latin-1.
      Object.entries(headers).map(([name, value]) => [name, mask(value)]),
    ),
    body: Buffer.from(mask(body.toString('latin1')), 'latin1'),
  });
}

/**
 * Makes a function that replaces secrets in a text as {@link makeAnswerMask} does in an answer.
 */
export function makeTextMask(secrets: readonly string[]): (text: string) => string {
  const mask = createBytesMask(secrets);
  return (text) => Buffer.from(mask(Buffer.from(text).toString('latin1')), 'latin1').toString();
}

/** Makes a function that masks the spellings of secrets in bytes that are given as Latin-1. */
function createBytesMask(secrets: readonly string[]): (bytes: string) => string {
  const spellings = new Set(
    secrets
      .filter((secret) => secret !== '')
      .flatMap(listSpellings)
      .map((spelling) => Buffer.from(spelling).toString('latin1')),
  );
  // A long spelling may contain a shorter one.
  const longestFirst = [...spellings].toSorted((a, b) => b.length - a.length);
  return (bytes) =>
    longestFirst.reduce((masked, spelling) => masked.replaceAll(spelling, MASK), bytes);
}

/** Returns a secret as it is, percent-encoded, JSON-escaped and in Base64. */
function listSpellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const asUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return [
    secret,
    encodeURIComponent(bytes.toString()),
    new URLSearchParams({ '': secret }).toString().slice(1),
    json,
    json.replace(/[^ -~]/g, asUnit),
    ...(bytes.length < MIN_BASE64_BYTES ? [] : encodeInBase64(bytes)),
  ];
}

/**
 * Returns the Base64 of a secret at each offset that a user name before it may cause, without the
 * letters that depend on its neighbours.
 */
function encodeInBase64(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(before === 0 ? 0 : before + 1, Math.floor(((before + bytes.length) * 8) / 6));
  });
}
