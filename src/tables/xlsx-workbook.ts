import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { attributeOf, childrenOf, descendantsOf, type XmlElement } from '../xml/element.ts';
import { parseXml, XmlSyntaxError } from '../xml/parse.ts';
import type { ZipEntry } from './zip-entries.ts';

export type Sheet = {
  readonly name: string;
  readonly hidden: boolean;
  /** The sheet's own part of the workbook, as text. */
  source(): string;
};

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const STRICT_RELATIONS = 'http://purl.oclc.org/ooxml/officeDocument/relationships';

/**
 * The sheets of a workbook in their order.
 *
 * @throws FileError where the archive is something else than a workbook, or names a part that it does not have
 */
export function sheetsOf(file: string, entries: ReadonlyMap<string, ZipEntry>): readonly Sheet[] {
  const workbook = entries.get('xl/workbook.xml');
  if (workbook === undefined) throw noWorkbook(file, entries);
  for (const entry of entries.values()) refuseDoctype(file, entry);
  const { root } = parsePart(file, workbook);
  const relations = entries.get('xl/_rels/workbook.xml.rels');
  const targets = new Map(
    relations === undefined
      ? []
      : childrenOf(parsePart(file, relations).root, 'Relationship').map((one) => [
          attributeOf(one, 'Id'),
          attributeOf(one, 'Target'),
        ]),
  );
  return [...descendantsOf(root, 'sheet', root.namespace)].flatMap((sheet) => {
    const name = attributeOf(sheet, 'name');
    const target = targets.get(attributeOf(sheet, 'id', RELATIONS) ?? attributeOf(sheet, 'id', STRICT_RELATIONS));
    const part = target === undefined ? undefined : entries.get(partName(target));
    // A sheet may also be a chart, which is no part of this kind.
    if (name === undefined || part === undefined || !part.name.includes('/worksheets/')) return [];
    return [
      { name, hidden: (attributeOf(sheet, 'state') ?? 'visible') !== 'visible', source: () => part.unpack().toString('utf8') },
    ];
  });
}

function partName(target: string): string {
  return target.startsWith('/') ? target.slice(1) : `xl/${target}`;
}

/** Of the parts that say what there is; a workbook of a thousand sheets has a tenth. */
const MOST_NODES = 100_000;

function parsePart(file: string, entry: ZipEntry): { readonly root: XmlElement } {
  try {
    return parseXml(entry.unpack(), undefined, MOST_NODES);
  } catch (thrown) {
    if (!(thrown instanceof XmlSyntaxError)) throw thrown;
    throw new FileError(file, msg`${file} is a damaged workbook: in ${entry.name}, ${thrown.says}.`, {
      cause: thrown,
      hint: msg`Save it again in the spreadsheet.`,
    });
  }
}

/** No spreadsheet writes one; it is how entities come in. */
function refuseDoctype(file: string, entry: ZipEntry): void {
  if (!/\.(xml|rels)$/.test(entry.name) || !entry.unpack().includes('<!DOCTYPE')) return;
  throw new FileError(file, msg`${file} has a DTD in ${entry.name}, which no spreadsheet writes. It is not read.`);
}

function noWorkbook(file: string, entries: ReadonlyMap<string, ZipEntry>): FileError {
  const hint = msg`Save it as .xlsx or as CSV UTF-8.`;
  return entries.has('content.xml')
    ? new FileError(file, msg`${file} is an OpenDocument file, which is not read.`, { hint })
    : new FileError(file, msg`${file} is an archive (ZIP), but not a workbook.`, { hint });
}
