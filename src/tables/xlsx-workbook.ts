import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { attributeOf, childrenOf, descendantsOf, type XmlElement } from '../xml/element.ts';
import { parseXml, walkXml, XmlSyntaxError } from '../xml/parse.ts';
import type { Sheet } from './sheet-table.ts';
import { refuseTooLarge } from './table.ts';
import { readSheet } from './xlsx-sheet.ts';
import { type BookValues, dateStylesOf, richTextOf } from './xlsx-values.ts';
import type { ZipEntry } from './zip-entries.ts';

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const STRICT_RELATIONS = 'http://purl.oclc.org/ooxml/officeDocument/relationships';

/**
 * The sheets of a workbook in their order.
 *
 * @throws FileError where the archive is something else than a workbook, or names a part that it does not have
 */
export function sheetsOf(file: string, entries: ReadonlyMap<string, ZipEntry>): readonly Sheet[] {
  const workbook = entries.get('xl/workbook.xml');
  if (workbook === undefined) throw noWorkbook(file);
  for (const entry of entries.values()) if (entry.hasDoctype) throw withDoctype(file, entry);
  const root = rootOf(file, workbook);
  const relations = entries.get('xl/_rels/workbook.xml.rels');
  const related = relations === undefined ? [] : childrenOf(rootOf(file, relations), 'Relationship');
  const partOf = (isIt: (relation: XmlElement) => boolean): ZipEntry | undefined => {
    const relation = related.find(isIt);
    const target = relation && attributeOf(relation, 'Target');
    return target === undefined ? undefined : entries.get(partName(target));
  };
  const partOfKind = (kind: string) => partOf((relation) => attributeOf(relation, 'Type')?.endsWith(`/${kind}`) === true);
  const values = (): BookValues => {
    const styles = partOfKind('styles');
    const properties = childrenOf(root, 'workbookPr')[0];
    return {
      sharedTexts: sharedTextsOf(file, partOfKind('sharedStrings')),
      dateStyles: styles === undefined ? [] : dateStylesOf(rootOf(file, styles)),
      from1904: /^(?:1|true)$/.test((properties && attributeOf(properties, 'date1904')) ?? ''),
    };
  };
  return [...descendantsOf(root, 'sheet', root.namespace)].flatMap((sheet) => {
    const name = attributeOf(sheet, 'name');
    const id = attributeOf(sheet, 'id', RELATIONS) ?? attributeOf(sheet, 'id', STRICT_RELATIONS);
    const part = partOf((relation) => id !== undefined && attributeOf(relation, 'Id') === id);
    // A sheet may also be a chart, which is no part of this kind.
    if (name === undefined || part === undefined || !part.name.includes('/worksheets/')) return [];
    return [
      {
        name,
        hidden: (attributeOf(sheet, 'state') ?? 'visible') !== 'visible',
        hasValues: () => {
          const bytes = part.unpack();
          return ['<v>', '<is>', ':v>', ':is>'].some((tag) => bytes.includes(tag));
        },
        read: () => readPart(file, part, (bytes) => readSheet({ file, sheet: name }, bytes, values())),
      },
    ];
  });
}

const SHARED_TEXTS = new Set(['si']);

function sharedTextsOf(file: string, entry: ZipEntry | undefined): readonly string[] {
  if (entry === undefined) return [];
  return readPart(file, entry, (bytes) => {
    const texts: string[] = [];
    for (const { element } of walkXml(bytes, MOST_NODES).parts(SHARED_TEXTS)) {
      texts.push(richTextOf(element));
      refuseTooLarge(file, { texts: texts.length });
    }
    return texts;
  });
}

function partName(target: string): string {
  return target.startsWith('/') ? target.slice(1) : `xl/${target}`;
}

/** Elements and attributes of the parts that say what there is; a workbook of a thousand sheets has a tenth. */
const MOST_NODES = 100_000;

function rootOf(file: string, entry: ZipEntry): XmlElement {
  return readPart(file, entry, (bytes) => parseXml(bytes, undefined, MOST_NODES).root);
}

function readPart<T>(file: string, entry: ZipEntry, read: (bytes: Buffer) => T): T {
  try {
    return read(entry.unpack());
  } catch (thrown) {
    if (!(thrown instanceof XmlSyntaxError)) throw thrown;
    throw new FileError(file, msg`${file} is a damaged workbook: in ${entry.name}, ${thrown.says}.`, {
      cause: thrown,
      hint: msg`Save it again in the spreadsheet.`,
    });
  }
}

function withDoctype(file: string, entry: ZipEntry): FileError {
  return new FileError(file, msg`${file} has a DTD in ${entry.name}, which no spreadsheet writes. It is not read.`);
}

function noWorkbook(file: string): FileError {
  return new FileError(file, msg`${file} is an archive (ZIP), but not a workbook.`, {
    hint: msg`Save it as .xlsx or as CSV UTF-8.`,
  });
}
