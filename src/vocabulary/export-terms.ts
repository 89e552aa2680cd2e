import { BYTE_ORDER_MARK, formatCsvCell } from '../text/csv.ts';
import type { Superior, Term } from './term.ts';

export type ExportedTerm = Term & { readonly superiors: readonly Superior[] };

const CSV_HEADER = [
  'id',
  'set',
  'label',
  'label_en',
  'abbreviation',
  'description',
  'description_en',
  'order',
  'superiors',
  'year_from_min',
  'year_from_max',
  'year_to_min',
  'year_to_max',
  'changed_at',
  'gone',
] as const;

/**
 * Yields lines of a CSV table for spreadsheets: UTF-8 with byte order mark, comma, quoted where
 * needed.
 */
export function* formatTermCsv(terms: Iterable<ExportedTerm>): Generator<string> {
  yield `${BYTE_ORDER_MARK}${CSV_HEADER.join(',')}`;
  for (const term of terms) {
    const { dating } = term.details;
    const cells = [
      term.ident,
      term.setSpec,
      term.label,
      term.labelEn,
      term.abbreviation,
      term.description,
      term.descriptionEn,
      term.sortOrder,
      term.superiors.map(({ ident }) => ident).join(' '),
      dating?.fromMin,
      dating?.fromMax,
      dating?.toMin,
      dating?.toMax,
      new Date(term.datestampMs).toISOString(),
      term.gone,
    ];
    yield cells.map((cell) => formatCsvCell(cell)).join(',');
  }
}
