import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { UsageError } from '../../base/errors.ts';
import { type Issue, makeErrorIssue, makeWarningIssue } from '../../base/issue.ts';
import { cmd, msg } from '../../base/message.ts';
import {
  findPhotoFile,
  inspectPhotograph,
  PHOTO_SPELLING,
  type PhotographFile,
} from '../../photos/photograph.ts';
import { type PhotoGps, removeGps } from '../../photos/remove-gps.ts';
import type { Photograph } from '../facts.ts';
import { makeContentStore } from './content-store.ts';

/** A photograph that may be queued, described before it is copied. */
export type Sendable = Photograph & { readonly source: string };

/** Means to inspect photographs, and to copy them into the data home. */
export type PhotographKeeping = {
  /**
   * Reads a photograph, and stores nothing. Without `photograph` in the result the file cannot be
   * queued, for the reasons that the issues say.
   */
  readonly inspectPhotograph: (
    path: string,
  ) => Promise<{ readonly photograph?: Sendable; readonly issues: readonly Issue[] }>;
  /**
   * Copies an inspected photograph into the data home, under its digest.
   * @throws UsageError where the file changed since its inspection
   */
  readonly storePhotograph: (photograph: Sendable) => Promise<void>;
};

type KeepingOptions = {
  readonly maxBytes: number;
  /** Remove GPS data from what is queued. The file itself is never changed. */
  readonly stripGps?: boolean;
};

/**
 * Makes the functions that inspect photographs and copy them into the data home, under their
 * digest.
 * @param folder of the copies
 * @param options `maxBytes`: largest photograph that the profile allows
 */
export function makePhotographKeeping(folder: string, options: KeepingOptions): PhotographKeeping {
  const { maxBytes, stripGps = false } = options;
  const content = makeContentStore(folder);
  return {
    async inspectPhotograph(givenPath) {
      const { path = givenPath, remark } = findPhotoFile(givenPath) ?? {};
      const { photograph, issues } = await inspectPhotograph(path, maxBytes);
      if (photograph === undefined) return { issues };
      const stuckIssue = stripGps ? findStuckIssue(photograph) : undefined;
      if (stuckIssue !== undefined) return { issues: [stuckIssue] };
      return {
        photograph: makeSendable(photograph, stripGps),
        issues: [
          ...(remark === undefined ? [] : [makeWarningIssue(PHOTO_SPELLING, remark)]),
          ...issues,
          ...checkLocations(path, photograph.gps, stripGps),
        ],
      };
    },
    async storePhotograph({ source, mediaType, sha512, originalSha512 }) {
      const stored = await content.add(
        originalSha512 === undefined
          ? source
          : Readable.from(removeGps(await readFile(source), mediaType).parts),
      );
      if (stored.sha512 !== sha512) throw new UsageError(msg`${source} changed while it was read.`);
    },
  };
}

function makeSendable(
  { path, mediaType, sizeBytes, sha512, gps }: PhotographFile,
  stripGps: boolean,
): Sendable {
  const described = {
    // A line break would end a line of a list, and is nothing to send.
    name: basename(path).replace(/\p{Cc}+/gu, ' '),
    source: resolve(path),
    mediaType,
  };
  return gps.kind === 'removable' && stripGps
    ? { ...described, ...gps.without, originalSha512: sha512 }
    : { ...described, sha512, sizeBytes };
}

/** Explains why a place may stay in the photograph whatever pas removes. */
function findStuckIssue({ path, gps, hasVideo }: PhotographFile): Issue | undefined {
  if (gps.kind !== 'fixed' && gps.kind !== 'unknown' && !hasVideo) return undefined;
  return makeErrorIssue(
    'photo-gps-stuck',
    msg`pas cannot remove the place from ${path} (HEIC or Motion Photo), so with strip_gps = true it is not queued. Save it as JPEG, without a video, or queue it with its place after ${cmd`pas profile set strip_gps=false`}.`,
  );
}

function checkLocations(path: string, gps: PhotoGps, stripGps: boolean): Issue[] {
  switch (gps.kind) {
    case 'none':
    case 'unknown':
      return [];
    case 'removable':
      if (stripGps || gps.finding === 'other') return [];
      return [
        makeWarningIssue(
          'photo-gps',
          msg`${path} contains the place where it was taken (GPS). The service removes it from EXIF only, and recompresses the picture then. To remove it here and leave the picture unchanged: ${cmd`pas profile set strip_gps=true`}, then queue it again.`,
        ),
      ];
    case 'fixed':
      return [
        makeWarningIssue(
          'photo-gps-kept',
          msg`${path} contains the place where it was taken (GPS). Neither the service nor pas can remove it from HEIC; to hide the place, save the photograph as JPEG.`,
        ),
      ];
  }
}
