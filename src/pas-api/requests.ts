import type { Readable } from 'node:stream';
import type { HttpRequest } from '../http/exchange.ts';
import { bytesForm, contentDigest, streamForm } from '../http/request-body.ts';

/** Operations of interface A, at the paths of A-GATE-2. */
export type Operation = 'import' | 'number' | 'photo';

/** The service chooses the form of its errors by `Accept` and refuses others than its own (A-GATE-7). */
const ACCEPT = '*/*';
/** Time limit of requests that change nothing. */
const QUESTION_TIMEOUT_MS = 30_000;

/** Makes the request for a token (A-AUTH-2, A-AUTH-3). */
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

/** Makes the request for the account (A-USER-1). */
export function userInfoRequest(baseUrl: string): HttpRequest {
  const url = `${baseUrl}/api/uzivatel-info/`;
  return { method: 'GET', url, headers: { accept: ACCEPT }, answerTimeoutMs: QUESTION_TIMEOUT_MS };
}

const IMPORT_PATH = '/api/pas/import-xml';

/** Makes the request that creates a record from a document (A-IMPORT-1), with its digest (A-DIGEST-1). */
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

/** Makes the request that sets the registration number of a record (A-NUMBER-1). */
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

/** Makes the request that adds a photograph to a record (A-PHOTO-1); the file is opened once per attempt. */
export function photoRequest(baseUrl: string, identCely: string, file: PhotoFile): HttpRequest {
  return {
    method: 'POST',
    url: baseUrl + photoPath(identCely),
    headers: { accept: ACCEPT, 'content-digest': contentDigest(file.sha512) },
    body: streamForm(() => file.open(), file.sizeBytes, { fileName: file.name, contentType: file.mediaType }),
  };
}

/**
 * Makes a request that changes nothing and passes the same gates as a write (A-GATE-4). A refusal of access concerns the account or
 * the address as a whole; after any other answer only the record was refused.
 */
export function accessProbe(baseUrl: string): HttpRequest {
  return { method: 'GET', url: baseUrl + IMPORT_PATH, headers: { accept: ACCEPT }, answerTimeoutMs: QUESTION_TIMEOUT_MS };
}

/** Makes an import without a find, which the service refuses and every gate or proxy treats as an import. */
export function emptyImport(baseUrl: string): HttpRequest {
  return { ...accessProbe(baseUrl), method: 'POST' };
}
