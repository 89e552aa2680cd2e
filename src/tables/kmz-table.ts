import { posix } from 'node:path';
import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { isKml, readKml } from './kml-table.ts';
import type { Table } from './table.ts';
import { walkTable } from './xml-table.ts';
import { refuseNested, type ZipEntry } from './zip-entries.ts';

const isDocument = ({ name }: ZipEntry): boolean => /\.kml$/i.test(name) && !/(?:^|\/)(?:\.|__MACOSX\/)/.test(name);

/**
 * Reads the placemarks of an archive of KML (KMZ), those of `doc.kml` first. Photographs of the archive belong to the table.
 *
 * @throws FileError where a document of it is none of KML, or there are no placemarks
 */
export function readKmz(file: string, entries: ReadonlyMap<string, ZipEntry>): Table {
  refuseNested(file, entries);
  const documents = [...entries.values()].filter(isDocument);
  const inOrder = [...documents.filter(({ name }) => name === 'doc.kml'), ...documents.filter(({ name }) => name !== 'doc.kml')];
  const others = new Map([...entries].filter(([name]) => !/\.kml$|\/$/i.test(name)));
  return walkTable(file, (walk) => {
    const parts = inOrder.map(({ name, unpack }) => {
      const document = walk(unpack());
      const folder = posix.dirname(name);
      if (isKml(document.root)) return { document, ...(folder === '.' ? {} : { folder }) };
      throw new FileError(file, msg`${file} is an archive (ZIP) whose ${name} is no KML.`, {
        hint: msg`Save it again from the program that it comes from.`,
      });
    });
    return { ...readKml(file, parts), files: others };
  });
}
