import { workbookParts } from '../../support/make-workbook.ts';
import { makeZip } from '../../support/make-zip.ts';
import { COLUMNS, type RandomCell, type RandomRow } from './random-cells.ts';

const HEADER = ['local_id', ...COLUMNS, 'lat'];

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** As Excel writes them. */
export function makeWorkbook(rows: readonly RandomRow[]): Buffer {
  const formats = [
    ...new Set(rows.flatMap((row) => COLUMNS.map((column) => row[column].format))),
  ].filter((code) => code !== 'General');
  const makeStyle = (format: string): number => formats.indexOf(format) + 1;
  const cellXml = ({ stored, format }: RandomCell): { xml: string } => {
    const open = `<c r="@" s="${makeStyle(format)}"`;
    switch (stored.kind) {
      case 'text':
        return {
          xml: `${open} t="inlineStr"><is><t xml:space="preserve">${escaped(stored.text)}</t></is></c>`,
        };
      case 'error':
        return { xml: `${open} t="e"><f>A1</f><v>${stored.text}</v></c>` };
      case 'number':
        return { xml: `${open}><v>${stored.value}</v></c>` };
      case 'day':
        return { xml: `${open}><v>${stored.days}</v></c>` };
      case 'truth':
        return { xml: `${open} t="b"><v>${stored.isTrue ? 1 : 0}</v></c>` };
      case 'unsaved':
        return { xml: `${open}><f>B1+1</f><v></v></c>` };
    }
  };
  const sheet = {
    name: 'Nálezy',
    rows: [
      HEADER,
      ...rows.map((row, index) => [
        `R-${index + 2}`,
        ...COLUMNS.map((column) => cellXml(row[column])),
        49.84,
      ]),
    ],
  };
  const numFmts = formats
    .map((code, index) => `<numFmt numFmtId="${164 + index}" formatCode="${escaped(code)}"/>`)
    .join('');
  const xfs = [
    '<xf numFmtId="0"/>',
    ...formats.map((_, index) => `<xf numFmtId="${164 + index}"/>`),
  ].join('');
  const styles = `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts>${numFmts}</numFmts><cellStyleXfs><xf/></cellStyleXfs><cellXfs>${xfs}</cellXfs></styleSheet>`;
  return makeZip(
    workbookParts([sheet]).map((part) =>
      part.name.endsWith('styles.xml') ? { ...part, content: styles } : part,
    ),
  );
}
