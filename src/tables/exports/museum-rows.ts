import { joinNames } from '../../base/csv.ts';
import { forEachLanguage, t } from '../../base/language.ts';
import { NEW_PERSON } from '../../finds/field.ts';
import { FIELDS, type Field, getElementLabel, getPoint } from '../../finds/fields.ts';
import type { Change } from '../../finds/harvested-find.ts';
import { ENTRY_STATES, type EntryState } from '../../outbox/entry.ts';
import {
  formatElementValue,
  formatPointOfFind,
  STATE_WORDS,
} from '../../outbox/views/entry-words.ts';
import { formatChange } from '../../outbox/views/records-at-service.ts';
import { chooseLabel, type ExportedFind, toBothSystems } from './exported-find.ts';
import type { RowCell } from './write-rows.ts';

const COLUMNS: readonly Field[] = FIELDS.filter(
  ({ kind }) => kind !== 'geom-system' && kind !== 'point',
);

/** Elements with a column for the code; a project is its code. */
const isCoded = ({ name, kind }: Field): boolean =>
  kind === 'term' || (kind === 'reference' && name !== 'projekt');

/**
 * Yields a table for museum systems such as Demus and MUSEION, which match the Czech headings
 * whatever the language of pas: a row per find, with the Czech label and the code of each term, and
 * with the point in both systems.
 */
export async function makeMuseumRows(
  finds: Iterable<ExportedFind>,
): Promise<Iterable<readonly RowCell[]>> {
  const { cs } = await forEachLanguage(makeHeadings);
  return (function* () {
    yield cs;
    for (const find of finds) yield makeRow(find);
  })();
}

function makeHeadings(): readonly string[] {
  return [
    t`Find`,
    t`Identifier`,
    ...COLUMNS.flatMap((field) => {
      const { unit } = field;
      const label = getElementLabel(field);
      if (unit !== undefined) return [`${label} (${unit})`];
      return isCoded(field) ? [label, t`${label} (code)`] : [label];
    }),
    t`Longitude (WGS 84)`,
    t`Latitude (WGS 84)`,
    'S-JTSK X (EPSG:5514)',
    'S-JTSK Y (EPSG:5514)',
    t`Measured in (EPSG)`,
    t`Photographs`,
    t`Changed in the service`,
  ];
}

function makeRow(find: ExportedFind): readonly RowCell[] {
  const point = getPoint(find.elements);
  const both = point === undefined ? {} : toBothSystems(point);
  const coordinates = [both['4326']?.x, both['4326']?.y, both['5514']?.x, both['5514']?.y];
  return [
    find.localId,
    find.identCely ?? '',
    ...COLUMNS.flatMap((field) => makeCells(find, field)),
    ...coordinates.map((text) => (text === undefined ? '' : { decimal: text })),
    point?.system ?? '',
    joinNames(find.photos, '; '),
    (find.changed ?? []).map(formatDifference).join('; '),
  ];
}

/** Uses the element's own name, so that the table is the same in every language. */
function formatDifference({ element, sent, now }: Change): string {
  return `${element}: ${sent ?? '–'} → ${now ?? '–'}`;
}

function makeCells({ elements, getLabels }: ExportedFind, field: Field): readonly RowCell[] {
  const value = elements[field.name];
  if (value === undefined) return isCoded(field) ? ['', ''] : [''];
  if (typeof value === 'object') {
    if (!isCoded(field)) return [value.id];
    return [getLabels?.(value.id)?.cs || value.text, value.id === NEW_PERSON ? '' : value.id];
  }
  if (field.kind === 'date') return [{ written: String(value) }];
  return [value];
}

/** Yields finds for readers: a heading, then a line per find, with labels in place of codes. */
export function* makeReaderRows(finds: Iterable<ExportedFind>): Generator<readonly string[]> {
  yield [
    t`Find`,
    t`Sending state`,
    t`Identifier`,
    ...COLUMNS.map((field) => getElementLabel(field)),
    t`Coordinates`,
    t`Photographs`,
    t`Changed in the service`,
  ];
  for (const find of finds) {
    const state = ENTRY_STATES.find((each: EntryState) => each === find.state);
    yield [
      find.localId,
      state === undefined ? t`not queued` : String(STATE_WORDS[state]),
      find.identCely ?? '',
      ...COLUMNS.map((field) => formatField(find, field)),
      formatPointOfFind(find.elements) ?? '',
      joinNames(find.photos, '; '),
      (find.changed ?? []).map(formatChange).join('; '),
    ];
  }
}

function formatField({ elements, getLabels }: ExportedFind, field: Field): string {
  const value = elements[field.name];
  const labels =
    field.kind === 'term' && typeof value === 'object' ? getLabels?.(value.id) : undefined;
  if (labels === undefined) return formatElementValue(field, value) ?? '';
  return chooseLabel(labels);
}
