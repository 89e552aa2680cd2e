import type { FileError } from '../base/errors.ts';
import { isReadable, makeUnreadable, type Reading } from '../base/issue.ts';
import type { PointInSystem } from '../place/geometry.ts';
import { getChildText, makeLineCounter, type XmlElement } from '../xml/element.ts';
import type { XmlWalk } from '../xml/parse.ts';
import { listStrayTexts, makeStrayTextMessage } from '../xml/source-text.ts';
import { makeTableOfRecords, type ReadRecord, type Table } from './table.ts';

/** A document, and the folder in its archive to which its links are relative. */
export type XmlPart = { readonly document: XmlWalk; readonly folder?: string };

/** An element that is a record, and its ancestors from the root. */
type RecordElement = { readonly element: XmlElement; readonly around: readonly XmlElement[] };

/** How a kind of XML holds records. */
export type XmlDialect = {
  readonly unit: 'feature' | 'waypoint' | 'find';
  /** Elements that are parsed; those that are no records are skipped, one at a time. */
  readonly names: ReadonlySet<string>;
  isRecord(part: RecordElement, root: XmlElement): boolean;
  /** Returns the point, or the fault that keeps the record from being read. */
  parsePlace(record: XmlElement): Reading<PointInSystem | undefined>;
  /** Elements of a record between whose children no text may stand. */
  listParts(record: XmlElement): readonly XmlElement[];
  collectValues(part: RecordElement, folder: string): Map<string, string>;
};

/**
 * Reads the records of documents. A fault names the record, since its number among hundreds is hard
 * to find on a device.
 * @param parts several where an archive has more documents; then lines have no meaning
 * @param none error of documents without records
 * @throws XmlSyntaxError
 */
export function readXmlRecords(
  file: string,
  parts: readonly XmlPart[],
  dialect: XmlDialect,
  none: FileError,
): Table {
  const { unit } = dialect;
  const readRecords = function* (): Generator<ReadRecord> {
    let row = 0;
    for (const { document, folder = '' } of parts) {
      const countLine = makeLineCounter(document);
      const findLine = (at: number) => (parts.length > 1 ? undefined : countLine(at));
      for (const part of document.readParts(dialect.names)) {
        if (!dialect.isRecord(part, document.root)) continue;
        row += 1;
        const { element } = part;
        const line = findLine(element.start);
        const find = getChildText(element, 'name');
        const point = dialect.parsePlace(element);
        const [stray] = dialect
          .listParts(element)
          .flatMap((each) => [...listStrayTexts(document, each)]);
        if (!isReadable(point)) yield { row, line, find, ...point };
        else if (stray !== undefined)
          yield {
            row,
            line: findLine(stray.start),
            find,
            ...makeUnreadable('stray-text', makeStrayTextMessage(stray)),
          };
        else yield { row, line, values: dialect.collectValues(part, folder), point: point.value };
      }
    }
  };
  return makeTableOfRecords({ file, unit }, readRecords, [], none);
}
