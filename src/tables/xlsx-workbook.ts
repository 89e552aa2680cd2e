import { posix } from 'node:path';
import { getAttribute, getChildren, walkDescendants, type XmlElement } from '../xml/element.ts';
import { parseXml, walkXml } from '../xml/parse.ts';
import type { HeaderRows } from './header-row.ts';
import { formatCellName, SheetContents } from './sheet-contents.ts';
import { makeTableOfSheets, parsePart, type Sheet } from './sheet-table.ts';
import { assertTableSize, type Table } from './table.ts';
import { type BookValues, parseCellStyles, parseRichText, parseSheetPart } from './xlsx-sheet.ts';
import type { ZipEntry } from './zip-entries.ts';

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const STRICT_RELATIONS = 'http://purl.oclc.org/ooxml/officeDocument/relationships';

/** Lists the sheets of a workbook in their order. */
function listSheets(file: string, entries: ReadonlyMap<string, ZipEntry>): readonly Sheet[] {
  const parts: Parts = new Map([...entries].map(([name, entry]) => [name.toLowerCase(), entry]));
  const workbook = parts.get('xl/workbook.xml');
  if (workbook === undefined) throw new Error(`${file} has no workbook`);
  const root = parseRoot(file, workbook);
  const relations = parseRelations(file, workbook, parts);
  const findPart = (kind: string) => relations.find(({ type }) => type.endsWith(`/${kind}`))?.part;
  const readBookValues = (): BookValues => {
    const styles = findPart('styles');
    const properties = getChildren(root, 'workbookPr')[0];
    return {
      sharedTexts: parseSharedTexts(file, findPart('sharedStrings')),
      styles: styles === undefined ? [] : parseCellStyles(parseRoot(file, styles)),
      from1904: /^(?:1|true)$/.test((properties && getAttribute(properties, 'date1904')) ?? ''),
    };
  };
  return [...walkDescendants(root, 'sheet', root.namespace)].flatMap((sheet) => {
    const name = getAttribute(sheet, 'name');
    const id = getAttribute(sheet, 'id', RELATIONS) ?? getAttribute(sheet, 'id', STRICT_RELATIONS);
    const part = relations.find((relation) => relation.id === id)?.part;
    // A sheet may also be a chart, which is another kind of part.
    if (name === undefined || part === undefined || !/\/worksheets\//i.test(part.name)) return [];
    return [
      {
        name,
        hidden: (getAttribute(sheet, 'state') ?? 'visible') !== 'visible',
        hasValues: () => ['<v>', '<is>', ':v>', ':is>'].some((tag) => part.bytes.includes(tag)),
        read: () => {
          const contents = new SheetContents({ file, sheet: name });
          parsePart(file, part, (bytes) => parseSheetPart(bytes, readBookValues(), contents));
          addRemarks(file, part, parts, contents);
          return contents;
        },
      },
    ];
  });
}

const SHARED_TEXTS = new Set(['si']);

function parseSharedTexts(file: string, entry: ZipEntry | undefined): BookValues['sharedTexts'] {
  if (entry === undefined) return [];
  return parsePart(file, entry, (bytes) => {
    const texts: ReturnType<typeof parseRichText>[] = [];
    for (const { element } of walkXml(bytes, MAX_NODES).readParts(SHARED_TEXTS)) {
      texts.push(parseRichText(element));
      assertTableSize(file, { texts: texts.length });
    }
    return texts;
  });
}

/** Parts by name in lower case: some programs write references in another case. */
type Parts = ReadonlyMap<string, ZipEntry>;

type Relation = {
  readonly id: string | undefined;
  readonly type: string;
  readonly part: ZipEntry | undefined;
};

function parseRelations(file: string, { name }: ZipEntry, parts: Parts): readonly Relation[] {
  const folder = posix.dirname(name);
  const list = parts.get(`${folder}/_rels/${posix.basename(name)}.rels`.toLowerCase());
  const related = list === undefined ? [] : getChildren(parseRoot(file, list), 'Relationship');
  return related.map((relation) => {
    const target = getAttribute(relation, 'Target') ?? '';
    const path = target.startsWith('/') ? target.slice(1) : posix.join(folder, target);
    return {
      id: getAttribute(relation, 'Id'),
      type: getAttribute(relation, 'Type') ?? '',
      part: parts.get(path.toLowerCase()),
    };
  });
}

/** Adds the places of comments and pictures of a sheet. */
function addRemarks(
  file: string,
  sheet: ZipEntry,
  parts: Parts,
  { comments, pictures }: SheetContents,
): void {
  for (const { type, part } of parseRelations(file, sheet, parts)) {
    if (part === undefined) continue;
    if (type.endsWith('/comments'))
      parsePartElements(file, part, ['comment'], (comment) =>
        comments.push(getAttribute(comment, 'ref') ?? ''),
      );
    if (type.endsWith('/drawing'))
      parsePartElements(file, part, ANCHORS, (anchor) => {
        if (anchor.children.some(({ name }) => name === 'pic'))
          pictures.push(getAnchorCell(anchor));
      });
  }
}

const ANCHORS: readonly string[] = ['twoCellAnchor', 'oneCellAnchor', 'absoluteAnchor'];

function parsePartElements(
  file: string,
  part: ZipEntry,
  names: readonly string[],
  take: (element: XmlElement) => void,
): void {
  parsePart(file, part, (bytes) => {
    for (const { element } of walkXml(bytes, MAX_NODES).readParts(new Set(names))) take(element);
  });
}

/** Returns the cell under the upper left corner. */
function getAnchorCell({ children }: XmlElement): string {
  const from = children.find(({ name }) => name === 'from');
  const getNumber = (name: string): number =>
    Number(from?.children.find((child) => child.name === name)?.text.trim() ?? 0);
  return formatCellName(getNumber('col') + 1, getNumber('row') + 1);
}

/** Limit for nodes of the workbook's index parts; a workbook of a thousand sheets has a tenth. */
const MAX_NODES = 100_000;

function parseRoot(file: string, entry: ZipEntry): XmlElement {
  return parsePart(file, entry, (bytes) => parseXml(bytes, undefined, MAX_NODES).root);
}

/**
 * Reads a sheet of a workbook (XLSX). Dates are read as days, numbers with the digits that the
 * spreadsheet shows.
 * @param named sheet; otherwise the first visible one with content
 * @param headerRows rows of the header; otherwise they are detected
 * @throws FileError where it has no such sheet, or is malformed
 */
export function parseXlsx(
  file: string,
  entries: ReadonlyMap<string, ZipEntry>,
  named: string | undefined,
  headerRows: HeaderRows | undefined,
): Table {
  return makeTableOfSheets(file, listSheets(file, entries), named, headerRows);
}

/**
 * Reads all visible sheets with content, with the header in the first row.
 * @throws FileError as {@link parseXlsx}
 */
export function parseXlsxSheets(file: string, entries: ReadonlyMap<string, ZipEntry>): Table[] {
  const sheets = listSheets(file, entries);
  const filled = sheets.filter((sheet) => !sheet.hidden && sheet.hasValues());
  return filled.map(({ name }) => makeTableOfSheets(file, sheets, name, { first: 1, last: 1 }));
}
