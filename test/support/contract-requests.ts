import { createHash } from 'node:crypto';
import { Described } from '../contract/openapi.ts';

const SERVICE = new Described('service');

/** As the path is meant to be asked. */
function getMethod(url: string): string {
  if (/evidencni-cislo/.test(url)) return 'PATCH';
  return /uzivatel-info/.test(url) ? 'GET' : 'POST';
}

/** Address of requests. */
export type Served = { readonly url: string };

/** Answer as a raw client sees it. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON, or undefined. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
};

/**
 * @throws Error where a described answer is not as described; so every test of the contract holds
 * the description, too
 */
export async function rawAnswer(
  response: Response,
  method = getMethod(response.url),
): Promise<RawAnswer> {
  const text = await response.text();
  const { status, headers } = response;
  const path = new URL(response.url).pathname.replace(/^\/t\/[^/]+/, '');
  const isScripted = /omething else answered|Odpověděl někdo jiný/.test(text);
  const fault = isScripted
    ? undefined
    : SERVICE.fault({ method, path, status, headers: Object.fromEntries(headers), body: text });
  if (fault !== undefined) throw new Error(fault);
  const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json');
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

export async function fetchToken(mock: Served, username: string): Promise<string> {
  const response = await fetch(`${mock.url}/api/token-auth/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"username": "${username}", "password": "${username}"}`,
  });
  const { token } = (await response.json()) as { token: string };
  return token;
}

export function contentDigest(bytes: Buffer | string): string {
  return `sha-512=:${createHash('sha512').update(bytes).digest('base64')}:`;
}

export type Part = {
  readonly name: string;
  readonly fileName?: string;
  readonly type?: string;
  readonly bytes: Buffer | string;
};

/** A multipart body typed by hand. */
export function multipart(parts: readonly Part[], boundary = 'xYzZY'): Buffer {
  const chunks = parts.flatMap((part) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"${part.fileName === undefined ? '' : `; filename="${part.fileName}"`}\r\n` +
      `Content-Type: ${part.type ?? 'application/octet-stream'}\r\n\r\n`,
    part.bytes,
    '\r\n',
  ]);
  return Buffer.concat([...chunks, `--${boundary}--\r\n`].map((chunk) => Buffer.from(chunk)));
}

export type WriteOptions = {
  readonly token?: string;
  /** null sends none; default: the right one. */
  readonly digest?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly parts?: readonly Part[];
};

/** POST of one file to a write endpoint. */
export async function postFile(
  mock: Served,
  path: string,
  file: Part,
  options: WriteOptions = {},
): Promise<RawAnswer> {
  const digest = options.digest === undefined ? contentDigest(file.bytes) : options.digest;
  const response = await fetch(mock.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'multipart/form-data; boundary=xYzZY',
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...(digest === null ? {} : { 'content-digest': digest }),
      ...options.headers,
    },
    body: multipart(options.parts ?? [file]),
  });
  return rawAnswer(response);
}

export async function importXml(
  mock: Served,
  xml: string,
  options: WriteOptions = {},
): Promise<RawAnswer> {
  const file = {
    name: 'file',
    fileName: 'find.xml',
    type: 'application/xml',
    bytes: Buffer.from(xml),
  };
  return postFile(mock, '/api/pas/import-xml', file, options);
}

export async function setNumber(
  mock: Served,
  ident: string,
  query: string,
  token: string,
): Promise<RawAnswer> {
  const response = await fetch(`${mock.url}/api/pas/nalez/${ident}/evidencni-cislo${query}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}` },
  });
  return rawAnswer(response);
}

/** The text of the first element of this name in an answer. */
export function elementText(xml: string, name: string): string | undefined {
  return new RegExp(`<svc:${name}(?:\\s[^>]*)?>([^<]*)</svc:${name}>`).exec(xml)?.[1];
}
