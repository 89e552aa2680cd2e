import { createReadStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type InspectedPhotograph, inspectPhotograph } from '../find/photograph.ts';
import { ChangedFileError, verifiedStream } from '../http/digest.ts';
import type { Photograph } from '../outbox/entry.ts';
import { openContentStore } from '../store/content-store.ts';

export type PhotographKeeping = {
  readonly inspectPhotograph: (path: string) => Promise<InspectedPhotograph>;
  readonly keepPhotograph: (path: string, mediaType: string) => Promise<Photograph>;
};

/**
 * How photographs are looked at and kept: copied under their digest, or linked where they lie.
 * @param folder where copies go
 */
export function keepingPhotographs(
  folder: string,
  options: { readonly maxBytes: number; readonly link: boolean },
): PhotographKeeping {
  const { maxBytes, link } = options;
  const content = openContentStore(folder);
  return {
    inspectPhotograph: (path) => inspectPhotograph(path, { maxBytes }),
    keepPhotograph: async (path, mediaType) => {
      const name = basename(path);
      if (!link) return { name, mediaType, ...(await content.add(path)) };
      const { photograph } = await inspectPhotograph(path, { maxBytes });
      if (photograph === undefined) throw new UsageError(t`${path} changed while it was read.`);
      return {
        name,
        mediaType,
        sha512: Buffer.from(photograph.sha512Hex, 'hex'),
        sizeBytes: photograph.sizeBytes,
        link: resolve(path),
      };
    },
  };
}

/** What is sent is checked against its digest on the way, and never completed when it is not what was queued. */
export function openKeptPhotograph(folder: string, photograph: Photograph): Readable {
  const source: Readable =
    photograph.link === undefined ? openContentStore(folder).open(photograph.sha512) : createReadStream(photograph.link);
  const verified = verifiedStream(photograph);
  // Gone, or no longer readable: for the entry that is the same as changed.
  source.on('error', () => verified.destroy(new ChangedFileError()));
  verified.on('close', () => source.destroy());
  return source.pipe(verified);
}
