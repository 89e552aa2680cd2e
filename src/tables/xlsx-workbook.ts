import { posix } from 'node:path';
import { FileError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { attributeOf, childrenOf, descendantsOf, type XmlElement } from '../xml/element.ts';
import { parseXml, walkXml, XmlSyntaxError } from '../xml/parse.ts';
import type { HeaderRows } from './header-row.ts';
import { cellName, type Remarks, type Sheet, tableOfSheets } from './sheet-table.ts';
import { assertTableSize, type Table } from './table.ts';
import { type BookValues, cellStylesOf, readSheet, richTextOf } from './xlsx-sheet.ts';
import { readZip, type ZipEntry } from './zip-entries.ts';

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const STRICT_RELATIONS = 'http://purl.oclc.org/ooxml/officeDocument/relationships';

/**
 * Lists the sheets of a workbook in their order.
 * @throws FileError where the archive is no workbook, or lacks a part that it names
 */
function sheetsOf(file: string, entries: ReadonlyMap<string, ZipEntry>): readonly Sheet[] {
  const parts = partsOf(entries);
  const workbook = parts.get('xl/workbook.xml');
  if (workbook === undefined) throw noWorkbook(file);
  for (const entry of entries.values()) if (entry.hasDoctype) throw withDoctype(file, entry);
  const root = rootOf(file, workbook);
  const relations = relationsOf(file, workbook, parts);
  const partOfKind = (kind: string) => relations.find(({ type }) => type.endsWith(`/${kind}`))?.part;
  const values = (): BookValues => {
    const styles = partOfKind('styles');
    const properties = childrenOf(root, 'workbookPr')[0];
    return {
      sharedTexts: sharedTextsOf(file, partOfKind('sharedStrings')),
      styles: styles === undefined ? [] : cellStylesOf(rootOf(file, styles)),
      from1904: /^(?:1|true)$/.test((properties && attributeOf(properties, 'date1904')) ?? ''),
    };
  };
  return [...descendantsOf(root, 'sheet', root.namespace)].flatMap((sheet) => {
    const name = attributeOf(sheet, 'name');
    const id = attributeOf(sheet, 'id', RELATIONS) ?? attributeOf(sheet, 'id', STRICT_RELATIONS);
    const part = relations.find((relation) => relation.id === id)?.part;
    // A sheet may also be a chart, which is another kind of part.
    if (name === undefined || part === undefined || !/\/worksheets\//i.test(part.name)) return [];
    return [
      {
        name,
        hidden: (attributeOf(sheet, 'state') ?? 'visible') !== 'visible',
        hasValues: () => {
          const bytes = part.unpack();
          return ['<v>', '<is>', ':v>', ':is>'].some((tag) => bytes.includes(tag));
        },
        read: () => ({
          ...readPart(file, part, (bytes) => readSheet({ file, sheet: name }, bytes, values())),
          ...readRemarks(file, part, parts),
        }),
      },
    ];
  });
}

const SHARED_TEXTS = new Set(['si']);

function sharedTextsOf(file: string, entry: ZipEntry | undefined): readonly string[] {
  if (entry === undefined) return [];
  return readPart(file, entry, (bytes) => {
    const texts: string[] = [];
    for (const { element } of walkXml(bytes, MAX_NODES).parts(SHARED_TEXTS)) {
      texts.push(richTextOf(element));
      assertTableSize(file, { texts: texts.length });
    }
    return texts;
  });
}

/** Parts by name, independent of case: some programs write references in another case. */
type Parts = { get(name: string): ZipEntry | undefined };

function partsOf(entries: ReadonlyMap<string, ZipEntry>): Parts {
  const byName = new Map([...entries].map(([name, entry]) => [name.toLowerCase(), entry]));
  return { get: (name) => byName.get(name.toLowerCase()) };
}

type Relation = { readonly id: string | undefined; readonly type: string; readonly part: ZipEntry | undefined };

function relationsOf(file: string, { name }: ZipEntry, parts: Parts): readonly Relation[] {
  const folder = posix.dirname(name);
  const list = parts.get(`${folder}/_rels/${posix.basename(name)}.rels`);
  const related = list === undefined ? [] : childrenOf(rootOf(file, list), 'Relationship');
  return related.map((relation) => {
    const target = attributeOf(relation, 'Target') ?? '';
    const path = target.startsWith('/') ? target.slice(1) : posix.join(folder, target);
    return { id: attributeOf(relation, 'Id'), type: attributeOf(relation, 'Type') ?? '', part: parts.get(path) };
  });
}

/** Returns the cells with comments and pictures of a sheet. */
function readRemarks(file: string, sheet: ZipEntry, parts: Parts): Remarks {
  const partsOfKind = (kind: string) =>
    relationsOf(file, sheet, parts).flatMap(({ type, part }) => (type.endsWith(`/${kind}`) && part !== undefined ? [part] : []));
  const comments: string[] = [];
  for (const part of partsOfKind('comments'))
    readElements(file, part, ['comment'], (comment) => comments.push(attributeOf(comment, 'ref') ?? ''));
  const pictures: string[] = [];
  for (const part of partsOfKind('drawing'))
    readElements(file, part, ['twoCellAnchor', 'oneCellAnchor', 'absoluteAnchor'], (anchor) => {
      if (anchor.children.some(({ name }) => name === 'pic')) pictures.push(anchoredAt(anchor));
    });
  return { comments, pictures };
}

function readElements(file: string, part: ZipEntry, names: readonly string[], take: (element: XmlElement) => void): void {
  readPart(file, part, (bytes) => {
    for (const { element } of walkXml(bytes, MAX_NODES).parts(new Set(names))) take(element);
  });
}

/** Returns the cell under the upper left corner. */
function anchoredAt({ children }: XmlElement): string {
  const from = children.find(({ name }) => name === 'from');
  const numberIn = (name: string): number => Number(from?.children.find((child) => child.name === name)?.text.trim() ?? 0);
  return cellName(numberIn('col') + 1, numberIn('row') + 1);
}

/** Limit for nodes of the workbook's index parts; a workbook of a thousand sheets has a tenth. */
const MAX_NODES = 100_000;

function rootOf(file: string, entry: ZipEntry): XmlElement {
  return readPart(file, entry, (bytes) => parseXml(bytes, undefined, MAX_NODES).root);
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

/**
 * Reads a sheet of a workbook (XLSX). Dates are read as days, numbers with the digits that the spreadsheet shows.
 * @param named sheet; otherwise the first visible one with content
 * @param headerRows rows of the header; otherwise they are detected
 * @throws FileError where the archive is no workbook, or has no such sheet
 */
export function readXlsx(
  file: string,
  entries: ReadonlyMap<string, ZipEntry>,
  named: string | undefined,
  headerRows: HeaderRows | undefined,
): Table {
  return tableOfSheets(file, sheetsOf(file, entries), named, headerRows);
}

/** Reads all visible sheets with content, with the header in the first row. @throws FileError as {@link readXlsx} */
export async function readXlsxSheets(file: string, bytes: Buffer): Promise<Table[]> {
  const sheets = sheetsOf(file, await readZip(file, bytes));
  const filled = sheets.filter((sheet) => !sheet.hidden && sheet.hasValues());
  return filled.map(({ name }) => tableOfSheets(file, sheets, name, { first: 1, last: 1 }));
}
