import { writeFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { attachmentsOf } from './attachments.ts';
import { assertInputSize } from './input-file.ts';
import { isKml, parseKml } from './kml-table.ts';
import type { Attachments, Table } from './table.ts';
import { walkTable } from './xml-table.ts';
import { assertNotNested, openZip, type ZipEntry } from './zip-entries.ts';

type Document = { readonly name: string; readonly bytes: Buffer };

/**
 * Reads the placemarks of an archive of KML (KMZ), those of `doc.kml` first. Photographs of the archive are attachments of the
 * table; they are unpacked on demand, so the archive may have any size.
 * @throws FileError where the archive is damaged, a document of it is no KML, or there are no placemarks
 */
export async function readKmzFile(file: string): Promise<Table> {
  const archive = await openZip(file);
  const documents: Document[] = [];
  try {
    assertNotNested(file, archive.paths);
    let sizeBytes = 0;
    for (const name of documentsAmong(archive.paths)) {
      const bytes = await archive.read(name);
      sizeBytes += bytes.length;
      assertInputSize(file, sizeBytes);
      documents.push({ name, bytes });
    }
  } finally {
    archive.close();
  }
  return tableOf(file, documents, attachmentsOf(file, archive.paths));
}

export function readKmz(file: string, entries: ReadonlyMap<string, ZipEntry>): Table {
  assertNotNested(file, entries.keys());
  const paths = [...entries.keys()];
  const documents = documentsAmong(paths).flatMap((name) => {
    const entry = entries.get(name);
    return entry === undefined ? [] : [{ name, bytes: entry.unpack() }];
  });
  const unpack = async (path: string, to: string): Promise<void> => {
    await writeFile(to, entries.get(path)?.unpack() ?? '', { flag: 'wx', mode: 0o600 });
  };
  return tableOf(file, documents, { paths, archive: { unpack, close: async () => {} } });
}

function documentsAmong(paths: readonly string[]): readonly string[] {
  const documents = paths.filter((name) => /\.kml$/i.test(name) && !/(?:^|\/)(?:\.|__MACOSX\/)/.test(name));
  return [...documents.filter((name) => name === 'doc.kml'), ...documents.filter((name) => name !== 'doc.kml')];
}

function tableOf(file: string, documents: readonly Document[], attachments: Attachments): Table {
  return walkTable(file, (walk) => {
    const parts = documents.map(({ name, bytes }) => {
      const document = walk(bytes);
      const folder = posix.dirname(name);
      if (isKml(document.root)) return { document, ...(folder === '.' ? {} : { folder }) };
      throw new FileError(file, msg`${file} is an archive (ZIP) whose ${name} is not KML.`, {
        hint: msg`Save it again from the program that it comes from.`,
      });
    });
    return { ...parseKml(file, parts), attachments };
  });
}
