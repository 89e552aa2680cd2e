import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { walkXml, XmlSyntaxError, type XmlWalk } from '../xml/parse.ts';
import { isGpx, parseGpx } from './gpx-table.ts';
import { isKml, parseKml } from './kml-table.ts';
import { readFindRecords } from './svc-table.ts';
import type { Table } from './table.ts';

/** Limit for the nodes of a find, waypoint or placemark, and of the document around them. */
const MAX_NODES = 1_000_000;

/**
 * Reads XML: waypoints of GPX, placemarks of KML, or finds in the service's own form. A DTD is refused and nothing is fetched.
 * @throws FileError where the document is not well-formed, or of another kind
 */
export function readXmlTable(file: string, bytes: Buffer): Table {
  return walkTable(file, (walk) => {
    const document = walk(bytes);
    if (isKml(document.root)) return parseKml(file, [{ document }]);
    const table = isGpx(document.root) ? parseGpx(file, document) : readFindRecords(file, document);
    if (table !== undefined) return table;
    const { name, namespace } = document.root;
    const root = namespace === '' ? name : `${name} (${namespace})`;
    throw new FileError(
      file,
      msg`${file} is XML with the root ${root}, and contains no GPX waypoints, KML placemarks or finds of the service.`,
      {
        hint: msg`pas reads GPX, KML, import documents, and find records as they are harvested in the native format.`,
      },
    );
  });
}

/** Reads a table from documents. @throws FileError where one of them is not well-formed */
export function walkTable(file: string, read: (walk: (bytes: Buffer) => XmlWalk) => Table): Table {
  try {
    return read((bytes) => walkXml(withDeclarationFirst(bytes), MAX_NODES));
  } catch (thrown) {
    if (!(thrown instanceof XmlSyntaxError)) throw thrown;
    throw new FileError(file, msg`${file} is not valid XML: ${thrown.says}.`, {
      cause: thrown,
      hint: msg`The file may be cut short or damaged. Save it again from the program that it comes from.`,
    });
  }
}

/** Moves blank lines before the XML declaration behind it, so that the line numbers stay. */
function withDeclarationFirst(bytes: Buffer): Buffer {
  const head = bytes.toString('latin1', 0, 1024);
  const [whole = '', mark = '', blanks = '', declaration = ''] = /^(\u00ef\u00bb\u00bf)?(\s+)(<\?xml\s[^>]*\?>)/.exec(head) ?? [];
  if (whole === '') return bytes;
  return Buffer.concat([Buffer.from(mark + declaration + blanks, 'latin1'), bytes.subarray(whole.length)]);
}
