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
  const spellings = listSpellings(secrets);
  return ({ status, headers, body }) => ({
    status,
    headers: Object.fromEntries(
      // Node decodes the bytes of a header as Latin-1.
      Object.entries(headers).map(([name, value]) => [name, maskBytes(value, spellings)]),
    ),
    // A page of a harvest is large, and hardly ever has a secret.
    body: spellings.some((spelling) => body.includes(spelling, 0, 'latin1'))
      ? Buffer.from(maskBytes(body.toString('latin1'), spellings), 'latin1')
      : body,
  });
}

/**
 * Makes a function that replaces secrets in a text as {@link makeAnswerMask} does in an answer.
 */
export function makeTextMask(secrets: readonly string[]): (text: string) => string {
  const spellings = listSpellings(secrets);
  return (text) => {
    const masked = maskBytes(Buffer.from(text).toString('latin1'), spellings);
    return Buffer.from(masked, 'latin1').toString();
  };
}

/** Replaces spellings in bytes; both are given as Latin-1. */
function maskBytes(bytes: string, spellings: readonly string[]): string {
  return spellings.reduce((masked, spelling) => masked.replaceAll(spelling, MASK), bytes);
}

/** Returns the bytes of all spellings of secrets as Latin-1. */
function listSpellings(secrets: readonly string[]): string[] {
  const spellings = secrets
    .filter((secret) => secret !== '')
    .flatMap(spellSecret)
    .map((spelling) => Buffer.from(spelling).toString('latin1'));
  // A long spelling may contain a shorter one.
  return [...new Set(spellings)].sort((a, b) => b.length - a.length);
}

/** Returns a secret as it is, percent-encoded, JSON-escaped and in Base64. */
function spellSecret(secret: string): string[] {
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
