import type { Attachments } from './table.ts';
import { openZip, type ZipFile } from './zip-entries.ts';

/** Returns the files of an archive, which is opened on first use. */
export function attachmentsOf(file: string, paths: readonly string[]): Attachments {
  let opened: Promise<ZipFile> | undefined;
  return {
    paths,
    archive: {
      async unpack(path, to, maxBytes) {
        opened ??= openZip(file);
        await (await opened).unpack(path, to, maxBytes);
      },
      async close() {
        (await opened)?.close();
        opened = undefined;
      },
    },
  };
}
