import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { walkXml, XmlSyntaxError } from '../xml/parse.ts';
import { isGpx, readGpx } from './gpx-table.ts';
import { readFindRecords } from './svc-table.ts';
import type { Table } from './table.ts';

/** Of a find or waypoint, and of all that is around them. */
const MOST_NODES = 1_000_000;

/**
 * Reads what is written in XML: waypoints of GPX, or finds in the service's own form. A DTD is refused and nothing is fetched.
 *
 * @throws FileError where the document is not well-formed, or is of neither kind
 */
export function readXmlTable(file: string, bytes: Buffer): Table {
  try {
    const document = walkXml(bytes, MOST_NODES);
    const table = isGpx(document.root) ? readGpx(file, document) : readFindRecords(file, document);
    if (table !== undefined) return table;
    const { name, namespace } = document.root;
    const root = namespace === '' ? name : `${name} (${namespace})`;
    throw new FileError(
      file,
      msg`${file} is XML with the root ${root}, and holds neither waypoints of GPX nor finds of the service.`,
      {
        hint: msg`Read are GPX, import documents, and find records as they are harvested in the native format.`,
      },
    );
  } catch (thrown) {
    if (!(thrown instanceof XmlSyntaxError)) throw thrown;
    throw new FileError(file, msg`${file} is not XML that can be read: ${thrown.says}.`, {
      cause: thrown,
      hint: msg`The file may be cut short or damaged. Save it again from the program that it comes from.`,
    });
  }
}
