import { BYTE_ORDER_MARK, csvCell } from '../../base/csv.ts';
import { coordinatesOf, EXPORT_COLUMNS, type ExportedFind, type ExportValue, valuesOf } from './exported-find.ts';

const SEPARATORS = { semicolon: ';', comma: ',', tab: '\t' } as const;
type Separator = keyof typeof SEPARATORS;

/**
 * A table that Excel and LibreOffice open as it is meant: marked as UTF-8, CRLF, formulas as texts. With semicolons it has
 * decimal commas, as spreadsheets expect where they expect semicolons. Reading it again gives the same finds.
 */
export function* exportCsv(finds: Iterable<ExportedFind>, separator: Separator): Generator<string> {
  const delimiter = SEPARATORS[separator];
  yield `${BYTE_ORDER_MARK}${EXPORT_COLUMNS.join(delimiter)}\r\n`;
  for (const find of finds) {
    const values = valuesOf(find);
    const coordinates = coordinatesOf(find.elements);
    const cells = EXPORT_COLUMNS.map((name) => {
      const coordinate = coordinates.get(name);
      if (coordinate !== undefined) return separator === 'semicolon' ? coordinate.replace('.', ',') : coordinate;
      return csvCell(wordOf(values.get(name)), delimiter);
    });
    yield `${cells.join(delimiter)}\r\n`;
  }
}

/** A spreadsheet writes its own words for true and false. */
export function wordOf(value: ExportValue | undefined): string | number | undefined {
  return typeof value === 'boolean' ? (value ? 'ano' : 'ne') : value;
}
