import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { findDigestFault } from '../../base/digest.ts';
import { type Answer, HttpError } from '../../base/http-message.ts';
import { type FilePart, readFileParts } from '../../base/multipart.ts';
import { makeHtmlPage } from '../../base/problem.ts';
import { mayAttachPhotograph } from '../../rules/permission.ts';
import { isEncryptedArchive } from '../../rules/photo/encrypted-archive.ts';
import { detectFileKind, hasVirus, type PhotographType } from '../../rules/photo/file-kind.ts';
import { openTiffAt, readAt, removeGps } from '../../rules/photo/gps.ts';
import { countPages } from '../../rules/photo/tiff.ts';
import { makeRefusal } from '../../rules/refusal.ts';
import { lockRecord, type WriteRequest } from '../../rules/write-request.ts';
import type { Mock } from '../../state/mock.ts';
import { makeFindAnswer } from './find-answer.ts';
import { joinHeader } from './import-xml.ts';
import { makeNextPhotographName, savePhotograph } from './save-photograph.ts';

/**
 * Answers `POST /api/pas/nalez/{ident_cely}/upload-foto`, with the checks of A-PHOTO-17 in order.
 */
export async function attachPhotograph(
  mock: Mock,
  request: WriteRequest,
  ident: string,
): Promise<Answer> {
  const parts = await readParts(mock, request);
  try {
    checkRecord(mock, request, ident);
    const part = requireOneFile(parts, request);
    const path = part.path;
    if (path === undefined) throw new Error('an uploaded photograph lies in no file');
    const type = await checkFile(mock, request, part, path);
    await checkDigestAndVirus(mock, request, part, path);
    const release = await lockRecord(mock, request, ident);
    try {
      return await store(mock, request, ident, { part, path, type });
    } finally {
      release();
    }
  } finally {
    await Promise.all(
      parts.map((part) =>
        part.path === undefined ? undefined : mock.photographs.discard(part.path),
      ),
    );
  }
}

async function readParts(mock: Mock, { incoming, say }: WriteRequest): Promise<FilePart[]> {
  const parts = await readFileParts(incoming, {
    maxBodyBytes: mock.settings.body_max_bytes,
    folder: mock.photographs.makeIncomingFolder(),
  });
  if (parts === 'not-multipart')
    throw makeRefusal(415, say('media-type', incoming.headers['content-type'] ?? ''));
  if (parts === 'malformed') throw makeRefusal(400, say('multipart-malformed'));
  if (parts === 'too-large') throw new HttpError(makeHtmlPage(413, 'Request Entity Too Large'));
  return parts;
}

function checkRecord(mock: Mock, { account, say }: WriteRequest, ident: string): void {
  const find = mock.archive.findLive('samostatny_nalez', ident);
  if (find === undefined) throw makeRefusal(404, say('find-unknown', ident));
  if (!mayAttachPhotograph(mock, account, find)) throw makeRefusal(403, say('find-refused', ident));
}

function requireOneFile(parts: readonly FilePart[], { say }: WriteRequest): FilePart {
  const file = parts.find((part) => part.field === 'file');
  if (file === undefined) throw makeRefusal(400, say('file-missing'));
  if (parts.length > 1) throw makeRefusal(400, say('file-many'));
  return file;
}

/**
 * Checks size, then password, then type; undefined for unrecognised bytes, which are refused only
 * behind the lock.
 */
async function checkFile(
  mock: Mock,
  { say }: WriteRequest,
  part: FilePart,
  path: string,
): Promise<PhotographType | undefined> {
  const limit = mock.settings.photo_max_bytes;
  if (part.sizeBytes > limit) throw makeRefusal(422, say('photo-large', String(limit)));
  const kind = detectFileKind(part.bytes);
  switch (kind.kind) {
    case 'photograph':
      return kind.type;
    case 'unrecognised':
      return undefined;
    case 'other':
      throw makeRefusal(422, say('photo-type', kind.type));
    case 'archive': {
      const file = await open(path);
      try {
        const encrypted = await isEncryptedArchive(
          kind.format,
          (offset, length) => readAt(file, offset, length),
          part.sizeBytes,
        );
        throw makeRefusal(422, encrypted ? say('photo-encrypted') : say('photo-type', kind.format));
      } finally {
        await file.close();
      }
    }
    default:
      return kind satisfies never;
  }
}

async function checkDigestAndVirus(
  mock: Mock,
  request: WriteRequest,
  part: FilePart,
  path: string,
): Promise<void> {
  const { say, fault } = request;
  const digest = findDigestFault(
    joinHeader(request.incoming.headers['content-digest']),
    part.sha512,
  );
  if (digest !== undefined)
    throw makeRefusal(digest === 'digest-mismatch' ? 422 : 400, say(digest));
  if (fault === 'antivirus-down') throw makeRefusal(500, say('antivirus-down'));
  if (fault === 'virus' || (mock.settings.antivirus && (await hasVirus(path, part.sizeBytes))))
    throw makeRefusal(422, say('virus'));
}

type CheckedFile = {
  readonly part: FilePart;
  readonly path: string;
  readonly type: PhotographType | undefined;
};

async function store(
  mock: Mock,
  request: WriteRequest,
  ident: string,
  { part, path, type }: CheckedFile,
): Promise<Answer> {
  const { say, hooks, account } = request;
  if (type === undefined) throw makeRefusal(422, say('photo-unrecognised'));
  const name = makeNextPhotographName(mock, ident, part.fileName, say);
  const file = await open(path, 'r+');
  let hadGps: boolean;
  let pages: number;
  try {
    hadGps = await removeGps(file, type);
    pages = /tif$/i.test(name) ? await countPages(openTiffAt(file, 0, Number.MAX_SAFE_INTEGER)) : 1;
  } finally {
    await file.close();
  }
  const sha512 = hadGps ? await hashFile(path) : part.sha512;
  await hooks.beforeSave();
  const uuid = randomUUID();
  const photograph = {
    find: ident,
    uuid,
    name,
    originalName: part.fileName,
    mimetype: type,
    pages,
    sizeBytes: part.sizeBytes,
    sha512: sha512.toString('hex'),
    user: account.user,
  };
  const saved = await mock.photographs.keep(path, uuid, () => savePhotograph(mock, photograph));
  request.incoming.change = { kind: 'photograph-added', ident, name };
  hooks.afterSave();
  await nextTurn();
  return makeFindAnswer(request.incoming.addresses, 201, saved);
}

async function hashFile(path: string): Promise<Buffer> {
  const hash = createHash('sha512');
  await pipeline(createReadStream(path), hash);
  return hash.digest();
}
