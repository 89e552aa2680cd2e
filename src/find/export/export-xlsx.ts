import { wordOf } from './export-csv.ts';
import { coordinatesOf, EXPORT_COLUMNS, type ExportedFind, type ExportValue, valuesOf } from './exported-find.ts';
import { type Cell, headingCell, numberCell, textCell, workbookBytes } from './write-workbook.ts';

/** A workbook with one sheet. Days are dates and numbers are numbers, but for coordinates that would lose digits by it. */
export async function exportXlsx(finds: Iterable<ExportedFind>): Promise<Buffer> {
  const header = EXPORT_COLUMNS.map(headingCell);
  const rows: Cell[][] = [header];
  for (const find of finds) {
    const values = valuesOf(find);
    const coordinates = coordinatesOf(find.elements);
    rows.push(
      EXPORT_COLUMNS.map((name) => {
        const coordinate = coordinates.get(name);
        return coordinate === undefined ? cellOf(name, values.get(name)) : coordinateCell(coordinate);
      }),
    );
  }
  return workbookBytes(rows, 'finds');
}

function cellOf(name: string, value: ExportValue | undefined): Cell {
  const word = wordOf(value);
  if (word === undefined) return null;
  if (typeof word === 'number') return { value: word, type: Number };
  if (name === 'datum_nalezu' && /^(?:19|[2-9]\d)\d\d-\d\d-\d\d$/.test(word)) {
    return { value: new Date(`${word}T00:00:00Z`), type: Date, format: 'yyyy-mm-dd' };
  }
  return textCell(word);
}

function coordinateCell(text: string): Cell {
  return numberCell(text) ?? textCell(text);
}
