import { currentLanguage, t } from '../../base/language.ts';
import { FIELDS, type Field } from '../../find/fields.ts';
import { ENTRY_STATES, type EntryState } from '../../outbox/entry.ts';
import type { ExportedFind } from '../../tables/exported-find.ts';
import { joinNames } from '../../text/csv.ts';
import { STATE_WORDS } from './entry-words.ts';
import { elementLabel, elementText, pointText } from './find-texts.ts';
import { changeText } from './remote-state.ts';

const SHOWN: readonly Field[] = FIELDS.filter(({ kind }) => kind !== 'geom-system' && kind !== 'point');

/** Yields finds for readers: a heading, then a line per find, with labels in place of codes. */
export function* peopleRows(finds: Iterable<ExportedFind>): Generator<readonly string[]> {
  yield [
    t`Find`,
    t`State of sending`,
    t`Identifier`,
    ...SHOWN.map((field) => elementLabel(field)),
    t`Coordinates`,
    t`Photographs`,
    t`Changed at the service`,
  ];
  for (const find of finds) {
    const state = ENTRY_STATES.find((each: EntryState) => each === find.state);
    yield [
      find.localId,
      state === undefined ? t`not queued` : String(STATE_WORDS[state]),
      find.identCely ?? '',
      ...SHOWN.map((field) => saidOf(find, field)),
      pointText(find.elements) ?? '',
      joinNames(find.photos, '; '),
      (find.changed ?? []).map(changeText).join('; '),
    ];
  }
}

function saidOf({ elements, labelsOf }: ExportedFind, field: Field): string {
  const value = elements[field.name];
  const labels = field.kind === 'term' && typeof value === 'object' ? labelsOf?.(value.id) : undefined;
  if (labels === undefined) return elementText(field, value) ?? '';
  return (currentLanguage() === 'cs' ? labels.cs : labels.en) || labels.cs;
}
