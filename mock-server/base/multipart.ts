import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import { getErrorMessage, isStorageFailure } from './error-message.ts';
import {
  ClientDisconnected,
  type IncomingBody,
  isAnnouncingMoreThan,
  isWithoutBody,
  onDisconnect,
} from './http-message.ts';

/** A file of a form, read to its end and measured. */
export type FilePart = {
  /** Name of the form field. */
  readonly field: string;
  /** As uploaded, without folders. */
  readonly fileName: string;
  readonly sizeBytes: number;
  readonly sha512: Buffer;
  /** First bytes, enough to detect the type; all of them when kept in memory. */
  readonly bytes: Buffer;
  /** File with the whole part; undefined where it is in memory. */
  readonly path: string | undefined;
};

type MultipartFault = 'not-multipart' | 'malformed' | 'too-large';

type MultipartOptions = {
  /** Maximum length of the body, including boundaries. */
  readonly maxBodyBytes: number;
  /** Folder for streamed files; undefined keeps them in memory. */
  readonly folder?: string;
};

const HEAD_BYTES = 64 * 1024;
/** Limits of parts, each of which costs far more than its bytes. As Django's default for files. */
const LIMITS = { files: 100, fields: 1000 } as const;

/**
 * Reads all file parts of a `multipart/form-data` body in order; plain fields are skipped.
 * @returns the parts, or the reason for their absence; a failure leaves nothing on disk
 * @throws ClientDisconnected, or an error of the disk
 */
export async function readFileParts(
  incoming: IncomingBody,
  options: MultipartOptions,
): Promise<FilePart[] | MultipartFault> {
  const { message } = incoming;
  if (isWithoutBody(incoming)) return [];
  if (!isMultipart(message)) return 'not-multipart';
  if (isAnnouncingMoreThan(incoming, options.maxBodyBytes)) return 'too-large';
  const parser = createParser(message);
  if (parser === undefined) return 'malformed';
  const pending: Promise<FilePart>[] = [];
  const paths: string[] = [];
  parser.on('file', (field, stream, info) => {
    const fileName = toPlainName(info.filename);
    if (fileName === undefined) {
      stream.resume().on('error', () => {});
      return;
    }
    const path = options.folder === undefined ? undefined : join(options.folder, randomUUID());
    if (path !== undefined) paths.push(path);
    const part = readPart(field, stream, fileName, path);
    // The parser would wait for a part that is no longer read.
    part.catch((thrown: unknown) =>
      parser.destroy(thrown instanceof Error ? thrown : new Error(getErrorMessage(thrown))),
    );
    pending.push(part);
  });
  const outcome = await feedParser(incoming, parser, options.maxBodyBytes);
  const settled = await Promise.allSettled(pending);
  const failed = settled.find((part) => part.status === 'rejected');
  if (outcome === 'complete' && failed === undefined) return Promise.all(pending);
  await Promise.all(paths.map((path) => rm(path, { force: true })));
  if (outcome === 'gone') throw new ClientDisconnected();
  if (outcome === 'complete' || isStorageFailure(failed?.reason)) throw failed?.reason;
  return outcome;
}

/**
 * Returns a file name as the service reads it: without folders and invisible characters. The
 * service decides by the name alone, not by the type, if a part is a file.
 */
function toPlainName(fileName: string | undefined): string | undefined {
  const name = fileName?.replace(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, '');
  return name === undefined || ['', '.', '..'].includes(name) ? undefined : name;
}

/**
 * Reads the plain fields of a small multipart form; undefined where it is invalid.
 * @throws ClientDisconnected
 */
export async function readFormFields(
  incoming: IncomingBody,
  maxBodyBytes: number,
): Promise<Map<string, string> | undefined> {
  const parser = createParser(incoming.message);
  if (parser === undefined) return undefined;
  const fields = new Map<string, string>();
  parser.on('field', (name, value) => fields.set(name, value));
  parser.on('file', (_field, stream) => stream.resume().on('error', () => {}));
  const outcome = await feedParser(incoming, parser, maxBodyBytes);
  if (outcome === 'gone') throw new ClientDisconnected();
  return outcome === 'complete' ? fields : undefined;
}

function isMultipart(message: IncomingMessage): boolean {
  return /^multipart\/form-data\b/i.test(message.headers['content-type'] ?? '');
}

function createParser(message: IncomingMessage): busboy.Busboy | undefined {
  try {
    return busboy({ headers: message.headers, defParamCharset: 'utf8', limits: LIMITS });
  } catch {
    return undefined;
  }
}

/** Pipes the body without destroying the message, so that it can be answered after a fault. */
function feedParser(
  { message, sample, inviteBody }: IncomingBody,
  parser: busboy.Busboy,
  maxBytes: number,
): Promise<'complete' | 'malformed' | 'too-large' | 'gone'> {
  inviteBody();
  return new Promise((resolve) => {
    let sizeBytes = 0;
    let stopped = false;
    const stop = (fault: 'malformed' | 'too-large' | 'gone'): void => {
      if (stopped) return;
      stopped = true;
      message.unpipe(parser);
      parser.on('error', () => {});
      parser.destroy();
      // The rest of the request is discarded, so that the connection can be answered.
      message.resume();
      resolve(fault);
    };
    sample.follow(message);
    message.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBytes) stop('too-large');
    });
    onDisconnect(message, () => stop('gone'));
    for (const event of ['error', 'filesLimit', 'fieldsLimit'])
      parser.once(event, () => stop('malformed'));
    parser.once('close', () => resolve('complete'));
    if (!stopped) message.pipe(parser);
  });
}

async function readPart(
  field: string,
  stream: Readable,
  fileName: string,
  path: string | undefined,
): Promise<FilePart> {
  const hash = createHash('sha512');
  const chunks: Buffer[] = [];
  let keptBytes = 0;
  let sizeBytes = 0;
  stream.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    sizeBytes += chunk.length;
    if (path === undefined || keptBytes < HEAD_BYTES) {
      chunks.push(chunk);
      keptBytes += chunk.length;
    }
  });
  await pipeline(
    stream,
    path === undefined ? makeNowhere() : createWriteStream(path, { mode: 0o600 }),
  );
  return { field, fileName, sizeBytes, sha512: hash.digest(), bytes: Buffer.concat(chunks), path };
}

function makeNowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
