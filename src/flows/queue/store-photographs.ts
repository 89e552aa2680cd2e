import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { UsageError } from '../../base/errors.ts';
import { type Issue, makeErrorIssue, makeWarningIssue } from '../../base/issue.ts';
import { cmd, msg } from '../../base/message.ts';
import type { Photograph } from '../../outbox/entry.ts';
import {
  findOtherSpelling,
  inspectPhotograph,
  OTHER_SPELLING,
  type Photograph as PhotographFile,
} from '../../photo/photograph.ts';
import { type PhotoGps, removeGps } from '../../photo/remove-gps.ts';
import { openContentStore } from '../../store/content-store.ts';

/** A photograph to be queued, with size and digest of what would be sent. */
export type Sendable = PhotographFile & Counterpart;

export type KeptPhotograph = Photograph & Counterpart;

/**
 * Link between the two versions of a photograph, with and without GPS data, only one of which may
 * be sent.
 */
type Counterpart = {
  /** Digest of the other version; lower-case hexadecimal. */
  readonly counterpartSha512Hex?: string;
  /** GPS data were removed, so the other version is the original. */
  readonly isStripped?: boolean;
};

export type PhotographKeeping = {
  readonly inspectPhotograph: (
    path: string,
  ) => Promise<{ readonly photograph?: Sendable; readonly issues: readonly Issue[] }>;
  readonly storePhotograph: (photograph: Sendable) => Promise<KeptPhotograph>;
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
      const { path = givenPath, remark } = findOtherSpelling(givenPath) ?? {};
      const { photograph, issues } = await inspectPhotograph(path, { maxBytes });
      if (photograph === undefined) return { issues };
      const { gps } = photograph;
      const stuckIssue = stripGps && !keepGps ? findStuckIssue(photograph) : undefined;
      if (stuckIssue !== undefined) return { issues: [stuckIssue] };
      return {
        photograph: { ...photograph, ...describeSendable(photograph, stripGps) },
        issues: [
          ...(remark === undefined ? [] : [makeWarningIssue(OTHER_SPELLING, remark)]),
          ...issues,
          ...checkLocations(path, gps, stripGps),
        ],
      };
    },
    async storePhotograph({ path, mimeType, sha512Hex, counterpartSha512Hex, isStripped }) {
      const keptPhotograph = {
        // A line break would end a line of a list, and is nothing to send.
        name: basename(path).replace(/\p{Cc}+/gu, ' '),
        source: resolve(path),
        mediaType: mimeType,
        counterpartSha512Hex,
        isStripped,
      };
      if (isStripped === true) {
        const { parts } = removeGps(await readFile(path), mimeType);
        const original =
          counterpartSha512Hex === undefined
            ? {}
            : { originalSha512: Buffer.from(counterpartSha512Hex, 'hex') };
        return assertUnchanged(path, sha512Hex, {
          ...keptPhotograph,
          ...original,
          ...(await content.add(Readable.from(parts))),
        });
      }
      return { ...keptPhotograph, ...(await content.add(path)) };
    },
  };
}

/** Refuses a file that changed since its inspection for GPS data. */
function assertUnchanged(
  path: string,
  sha512Hex: string,
  keptPhotograph: KeptPhotograph,
): KeptPhotograph {
  if (keptPhotograph.sha512.toString('hex') !== sha512Hex)
    throw new UsageError(msg`${path} changed while it was read.`);
  return keptPhotograph;
}

function describeSendable(
  { sha512Hex, gps }: PhotographFile,
  stripGps: boolean,
): Partial<Sendable> {
  if (gps.kind !== 'removable') return {};
  const { withoutSha512Hex, withoutBytes } = gps;
  return stripGps
    ? {
        sha512Hex: withoutSha512Hex,
        sizeBytes: withoutBytes,
        counterpartSha512Hex: sha512Hex,
        isStripped: true,
      }
    : { counterpartSha512Hex: withoutSha512Hex };
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
      if (stripGps || !gps.tells) return [];
      if (gps.tellsOutsideExif) {
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
