import { makeZip, type ZipPart } from './make-zip.ts';

export type OdsSheet = {
  readonly name: string;
  readonly hidden?: boolean;
  /** A text or a number for each cell, or the XML of `<table:table-row>` itself. */
  readonly rows: readonly (readonly (string | number)[] | string)[];
};

const SPACES = Object.entries({
  office: 'urn:oasis:names:tc:opendocument:xmlns:office:1.0',
  table: 'urn:oasis:names:tc:opendocument:xmlns:table:1.0',
  text: 'urn:oasis:names:tc:opendocument:xmlns:text:1.0',
  style: 'urn:oasis:names:tc:opendocument:xmlns:style:1.0',
  calcext: 'urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0',
})
  .map(([prefix, uri]) => `xmlns:${prefix}="${uri}"`)
  .join(' ');

/** A spreadsheet as LibreOffice writes it, in its least form. */
export function makeOds(
  sheets: readonly OdsSheet[],
  more: readonly ZipPart[] = [],
  textStyles = '',
): Buffer {
  const tables = sheets.map(
    ({ name, hidden = false, rows }) =>
      `<table:table table:name="${name}" table:style-name="${hidden ? 'ta2' : 'ta1'}">${rows.map(rowXml).join('')}</table:table>`,
  );
  const styles = [true, false].map(
    (display, index) =>
      `<style:style style:name="ta${index + 1}" style:family="table"><style:table-properties table:display="${display}"/></style:style>`,
  );
  const content = `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${SPACES}><office:automatic-styles>${styles.join('')}${textStyles}</office:automatic-styles><office:body><office:spreadsheet>${tables.join('')}</office:spreadsheet></office:body></office:document-content>`;
  return makeZip([
    { name: 'mimetype', content: 'application/vnd.oasis.opendocument.spreadsheet' },
    { name: 'content.xml', content },
    ...more,
  ]);
}

function rowXml(row: OdsSheet['rows'][number]): string {
  if (typeof row === 'string') return row;
  return `<table:table-row>${row.map(cellXml).join('')}</table:table-row>`;
}

function cellXml(value: string | number): string {
  if (value === '') return '<table:table-cell/>';
  const type = typeof value === 'number' ? `"float" office:value="${value}"` : '"string"';
  return `<table:table-cell office:value-type=${type}><text:p>${escaped(`${value}`)}</text:p></table:table-cell>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
