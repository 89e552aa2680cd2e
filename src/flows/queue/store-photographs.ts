import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { UsageError } from '../../base/errors.ts';
import { type Issue, makeErrorIssue, makeWarningIssue } from '../../base/issue.ts';
import { cmd, msg } from '../../base/message.ts';
import type { Photograph } from '../../outbox/entry.ts';
import {
  findPhotoFile,
  inspectPhotograph,
  OTHER_SPELLING,
  type PhotographFile,
} from '../../photo/photograph.ts';
import { type PhotoGps, removeGps } from '../../photo/remove-gps.ts';
import { openContentStore } from '../../store/content-store.ts';

/** A photograph that may be queued, described before it is copied. */
export type Sendable = Photograph & {
  readonly source: string;
  /** Digest without the GPS data that it has. */
  readonly withoutGpsSha512?: Buffer;
};

/**
 * Lists the digests of both versions of a photograph, with and without GPS data, only one of which
 * may be sent; lower-case hexadecimal, first that of the version to send.
 */
export function listDigests({ sha512, originalSha512, withoutGpsSha512 }: Sendable): string[] {
  return [sha512, originalSha512, withoutGpsSha512].flatMap((each) => each?.toString('hex') ?? []);
}

export type PhotographKeeping = {
  readonly inspectPhotograph: (
    path: string,
  ) => Promise<{ readonly photograph?: Sendable; readonly issues: readonly Issue[] }>;
  /** @throws UsageError where the file changed since its inspection */
  readonly storePhotograph: (photograph: Sendable) => Promise<void>;
};

type KeepingOptions = {
  readonly maxBytes: number;
  /** Remove GPS data from what is queued. The file itself is never changed. */
  readonly stripGps?: boolean;
  /** Queue also photographs from which GPS data cannot be removed. */
  readonly keepGps?: boolean;
};

/**
 * Rules about GPS data: in EXIF only; also where the service leaves them, which `--strip-gps`
 * corrects; not removable.
 */
export const LOCATION_RULE = 'photo-gps';
export const XMP_LOCATION_RULE = 'photo-gps-xmp';
export const LOCATION_KEPT_RULE = 'photo-gps-kept';

/**
 * Makes the functions that inspect photographs and copy them under their digest.
 * @param folder of the copies
 */
export function makePhotographKeeping(folder: string, options: KeepingOptions): PhotographKeeping {
  const { maxBytes, stripGps = false, keepGps = false } = options;
  const content = openContentStore(folder);
  return {
    async inspectPhotograph(givenPath) {
      const { path = givenPath, remark } = findPhotoFile(givenPath) ?? {};
      const { photograph, issues } = await inspectPhotograph(path, maxBytes);
      if (photograph === undefined) return { issues };
      const stuckIssue = stripGps && !keepGps ? findStuckIssue(photograph) : undefined;
      if (stuckIssue !== undefined) return { issues: [stuckIssue] };
      return {
        photograph: makeSendable(photograph, stripGps),
        issues: [
          ...(remark === undefined ? [] : [makeWarningIssue(OTHER_SPELLING, remark)]),
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
      if (!stored.sha512.equals(sha512))
        throw new UsageError(msg`${source} changed while it was read.`);
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
  if (gps.kind === 'removable' && stripGps)
    return { ...described, ...gps.without, originalSha512: sha512 };
  const withoutGpsSha512 = gps.kind === 'removable' ? gps.without.sha512 : undefined;
  return { ...described, sha512, sizeBytes, withoutGpsSha512 };
}

/** Explains why a place may stay in the photograph whatever pas removes. */
function findStuckIssue({ path, gps, hasVideo }: PhotographFile): Issue | undefined {
  const rule = 'photo-gps-stuck';
  if (gps.kind === 'fixed' || gps.kind === 'unknown')
    return makeErrorIssue(
      rule,
      msg`pas cannot remove the place from ${path} (HEIC), so --strip-gps does not queue it. Save it as JPEG, or queue it with its place: ${cmd`pas photo add`} FIND FILE --strip-gps --keep-gps`,
    );
  return hasVideo
    ? makeErrorIssue(
        rule,
        msg`pas cannot remove a place from the video in ${path} (Motion Photo), so --strip-gps does not queue it. Save the picture without its video, or queue it with a place that the video may have: ${cmd`pas photo add`} FIND FILE --strip-gps --keep-gps`,
      )
    : undefined;
}

function checkLocations(path: string, gps: PhotoGps, stripGps: boolean): Issue[] {
  switch (gps.kind) {
    case 'none':
    case 'unknown':
      return [];
    case 'removable':
      if (stripGps || gps.finding === 'other') return [];
      if (gps.finding === 'place-outside-exif') {
        return [
          makeWarningIssue(
            XMP_LOCATION_RULE,
            msg`${path} contains the place where it was taken (GPS in XMP). The service removes only places in EXIF, so this one would stay; --strip-gps removes it here.`,
          ),
        ];
      }
      return [
        makeWarningIssue(
          LOCATION_RULE,
          msg`${path} contains the place where it was taken (GPS). The service removes it from EXIF, but recompresses the picture; --strip-gps removes it here and leaves the picture unchanged.`,
        ),
      ];
    case 'fixed':
      return [
        makeWarningIssue(
          LOCATION_KEPT_RULE,
          msg`${path} contains the place where it was taken (GPS). Neither the service nor pas can remove it from HEIC; to hide the place, save the photograph as JPEG.`,
        ),
      ];
  }
}
