import type { Readable } from 'node:stream';
import { contentDigest } from '../http/digest.ts';
import type { HttpRequest } from '../http/exchange.ts';
import { bytesForm, streamForm } from '../http/multipart.ts';

/**
 * The requests of interface A, at the paths of A-GATE-2. Every one asks for any content type:
 * the service chooses the form of its errors by `Accept`, and refuses what it thinks it cannot give (A-GATE-7).
 */
export type Operation = 'import' | 'number' | 'photo';

const ACCEPT = '*/*';
/** A question that changes nothing is answered soon or not at all. */
const QUESTION_TIMEOUT_MS = 30_000;

export function tokenRequest(baseUrl: string, username: string, password: string): HttpRequest {
  const bytes = Buffer.from(JSON.stringify({ username, password }));
  return {
    method: 'POST',
    url: `${baseUrl}/api/token-auth/`,
    headers: { accept: ACCEPT },
    body: { contentType: 'application/json', lengthBytes: bytes.length, open: () => bytes },
    answerTimeoutMs: QUESTION_TIMEOUT_MS,
  };
}

export function userInfoRequest(baseUrl: string): HttpRequest {
  const url = `${baseUrl}/api/uzivatel-info/`;
  return { method: 'GET', url, headers: { accept: ACCEPT }, answerTimeoutMs: QUESTION_TIMEOUT_MS };
}

const IMPORT_PATH = '/api/pas/import-xml';

export function importRequest(baseUrl: string, document: Buffer, sha512: Buffer): HttpRequest {
  return {
    method: 'POST',
    url: baseUrl + IMPORT_PATH,
    headers: { accept: ACCEPT, 'content-digest': contentDigest(sha512) },
    body: bytesForm(document, { fileName: 'find.xml', contentType: 'application/xml' }),
  };
}

function numberPath(identCely: string): string {
  return `/api/pas/nalez/${encodeURIComponent(identCely)}/evidencni-cislo`;
}

export function numberRequest(baseUrl: string, identCely: string, value: string): HttpRequest {
  return {
    method: 'PATCH',
    url: `${baseUrl}${numberPath(identCely)}?evidencni_cislo=${encodeURIComponent(value)}`,
    headers: { accept: ACCEPT },
  };
}

function photoPath(identCely: string): string {
  return `/api/pas/nalez/${encodeURIComponent(identCely)}/upload-foto`;
}

type PhotoFile = {
  readonly name: string;
  readonly mediaType: string;
  readonly sha512: Buffer;
  readonly sizeBytes: number;
  open(): Readable;
};

export function photoRequest(baseUrl: string, identCely: string, file: PhotoFile): HttpRequest {
  return {
    method: 'POST',
    url: baseUrl + photoPath(identCely),
    headers: { accept: ACCEPT, 'content-digest': contentDigest(file.sha512) },
    body: streamForm(() => file.open(), file.sizeBytes, { fileName: file.name, contentType: file.mediaType }),
  };
}

/**
 * A request that changes nothing and passes the same gates as a write. Refused for access as well, it shows that the
 * account or the address as a whole is refused; any other answer shows that only one record was.
 */
export function accessProbe(baseUrl: string): HttpRequest {
  return { method: 'GET', url: baseUrl + IMPORT_PATH, headers: { accept: ACCEPT }, answerTimeoutMs: QUESTION_TIMEOUT_MS };
}

/** An import without a find, which the service refuses. Whatever stands between it and finds stands between it and this. */
export function emptyImport(baseUrl: string): HttpRequest {
  return { ...accessProbe(baseUrl), method: 'POST' };
}
