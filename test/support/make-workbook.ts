import { makeZip, type ZipPart } from './make-zip.ts';

/**
 * A cell: a text, a number, a date by its day number, or the XML of `<c>` itself, in which `@` is
 * its address.
 */
export type WorkbookCell =
  | string
  | number
  | { readonly day: number }
  | { readonly xml: string }
  | null;

export type WorkbookSheet = {
  readonly name: string;
  readonly state?: 'hidden' | 'veryHidden';
  readonly rows?: readonly (readonly WorkbookCell[])[];
  /** Such as `B3:B4`. */
  readonly merged?: readonly string[];
  readonly hiddenRows?: readonly number[];
};

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** A workbook as Excel writes it, in its least form. Style 1 is a date. */
export function makeWorkbook(
  sheets: readonly WorkbookSheet[],
  more: readonly ZipPart[] = [],
): Buffer {
  return makeZip([...workbookParts(sheets), ...more]);
}

export function workbookParts(sheets: readonly WorkbookSheet[]): ZipPart[] {
  const list = sheets.map(
    ({ name, state }, index) =>
      `<sheet name="${name}" sheetId="${index + 1}"${state ? ` state="${state}"` : ''} r:id="rId${index + 1}"/>`,
  );
  const targets = sheets.map(
    (_, index) =>
      `<Relationship Id="rId${index + 1}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${index + 1}.xml"/>`,
  );
  const styles = `<Relationship Id="rId99" Type="${RELATIONS}/styles" Target="styles.xml"/>`;
  return [
    {
      name: '[Content_Types].xml',
      content: `${DECLARATION}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    },
    {
      name: 'xl/workbook.xml',
      content: `${DECLARATION}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets>${list.join('')}</sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `${DECLARATION}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${targets.join('')}${styles}</Relationships>`,
    },
    {
      name: 'xl/styles.xml',
      content: `${DECLARATION}<styleSheet xmlns="${MAIN}"><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0" xfId="0"/><xf numFmtId="14" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    },
    ...sheets.map((sheet, index) => ({
      name: `xl/worksheets/sheet${index + 1}.xml`,
      content: sheetXml(sheet),
    })),
  ];
}

function sheetXml({ rows = [], merged = [], hiddenRows = [] }: WorkbookSheet): string {
  const lines = rows.map((cells, index) => {
    const row = index + 1;
    const hidden = hiddenRows.includes(row) ? ' hidden="1"' : '';
    return `<row r="${row}"${hidden}>${cells.map((cell, column) => cellXml(cell, `${columnName(column)}${row}`)).join('')}</row>`;
  });
  const ranges = merged.map((ref) => `<mergeCell ref="${ref}"/>`).join('');
  const mergeCells =
    ranges === '' ? '' : `<mergeCells count="${merged.length}">${ranges}</mergeCells>`;
  return `${DECLARATION}<worksheet xmlns="${MAIN}"><sheetData>${lines.join('')}</sheetData>${mergeCells}</worksheet>`;
}

/** A … Z, AA … ZZ. */
function columnName(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : String.fromCharCode(64 + Math.floor(column / 26)) + last;
}

/** Spreadsheets write such characters by their numbers. */
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g;

function cellXml(cell: WorkbookCell, address: string): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return `<c r="${address}"><v>${cell}</v></c>`;
  if (typeof cell === 'string') {
    const text = cell
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replace(NOT_IN_XML, (sign) => `_x${sign.charCodeAt(0).toString(16).padStart(4, '0')}_`);
    return `<c r="${address}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
  }
  return 'day' in cell
    ? `<c r="${address}" s="1"><v>${cell.day}</v></c>`
    : cell.xml.replaceAll('@', address);
}
