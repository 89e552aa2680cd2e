import { formatDay, type Message, msg, msgid, ngettext, t } from '../../base/message.ts';
import {
  type ElementName,
  FIELDS,
  type Field,
  type FindElements,
  getElementLabel,
  getField,
  getPoint,
  getPointElement,
} from '../../finds/fields.ts';
import type { Find } from '../../finds/find.ts';
import { formatRecordState, formatWithIdentifier } from '../../finds/harvested-find.ts';
import { formatPosition } from '../../finds/place/read-position.ts';
import type { QuestionName } from '../../finds/questions.ts';
import type { EvidenceVerdict } from '../attempts.ts';
import type { Entry, EntryKind, EntryState } from '../entry.ts';

/** Kinds of entries for people; programs read the kind itself. */
export const KIND_WORDS: Readonly<Record<EntryKind, Message>> = {
  import: msg`import`,
  number: msg`number`,
  photo: msg`photo`,
};

/** States of entries for people; programs read the state itself. */
export const STATE_WORDS: Readonly<Record<EntryState, Message>> = {
  draft: msg`draft`,
  queued: msg`queued`,
  sending: msg`sending`,
  accepted: msg`accepted`,
  refused: msg`refused`,
  uncertain: msg`uncertain`,
  dropped: msg`dropped`,
};

/** Verdicts of lookups and persons, for people. */
export const VERDICT_WORDS: Readonly<Record<EvidenceVerdict, Message>> = {
  found: msg`found`,
  absent: msg`absent`,
  undecided: msg`undecided`,
  person: msg`decided by a person`,
};

/** Formats kind and find of an entry: `import of K-017`; a record has its identifier. */
export function formatEntry({ kind, find }: Pick<Entry, 'kind' | 'find'>): Message {
  return {
    import: msg`import of ${find}`,
    number: msg`number of ${find}`,
    photo: msg`photo of ${find}`,
  }[kind];
}

/** Formats what a find has for a question of `pas add`; undefined where it has nothing for it. */
export function formatAnswer(name: QuestionName, find: Find): string | undefined {
  if (name === 'local_id') return find.localId === '' ? undefined : find.localId;
  if (name === 'photos')
    return find.photos.length === 0
      ? undefined
      : find.photos.map((path) => path.split(/[\\/]/).at(-1)).join('; ');
  if (name === 'point') return formatPointOfFind(find.elements);
  return formatValueWithUnit(getField(name), find.elements[name]);
}

/**
 * Formats the value of an element in the language of pas, with its unit; a term or person by the
 * text alone. Undefined where the value is absent.
 */
export function formatValueWithUnit(
  { kind, unit }: Field,
  value: FindElements[ElementName],
): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'object') return value.text || value.id;
  if (typeof value === 'boolean') return value ? t`yes` : t`no`;
  if (kind === 'date') return formatDay(String(value));
  if (kind === 'state') return formatRecordState(Number(value));
  return unit === undefined ? String(value) : `${value} ${unit}`;
}

/**
 * Formats a find's point; a text that is no point stays as it is; undefined where none is given.
 */
export function formatPointOfFind(elements: FindElements): string | undefined {
  const point = getPoint(elements);
  if (point !== undefined) return formatPosition({ system: point.system, point });
  const { geom_system: system } = elements;
  return system === undefined ? undefined : elements[getPointElement(system)];
}

/**
 * Returns label and text of each element that a find has, in the order of the schema. System and
 * point are one pair, labelled Coordinates; a term or person is shown with its identifier.
 */
export function listLabelledElements(
  elements: FindElements,
): (readonly [label: string, text: string])[] {
  const point = formatPointOfFind(elements);
  return FIELDS.flatMap((field) => {
    const value = elements[field.name];
    if (value === undefined) return [];
    if (field.kind === 'geom-system' && point !== undefined)
      return [[t`Coordinates`, point] as const];
    if (field.kind === 'point' && point !== undefined && field.epsg === elements.geom_system)
      return [];
    const text =
      typeof value === 'object' ? formatWithIdentifier(value) : formatValueWithUnit(field, value);
    return [[getElementLabel(field), text ?? ''] as const];
  });
}

/**
 * Formats a find as one line: `K-018  fragment of vessel, ceramics · Bronze Age · 49.84050 N
 * 15.17120 E · 30 cm · 2 photographs`.
 */
export function formatFindLine(find: Find): string {
  const what = [formatAnswer('druh_nalezu', find), formatAnswer('specifikace', find)]
    .filter(isText)
    .join(', ');
  const rest = (['obdobi', 'point', 'hloubka'] as const).map((name) => formatAnswer(name, find));
  const { length } = find.photos;
  const photos =
    length === 0
      ? undefined
      : ngettext(msgid`${length} photograph`, `${length} photographs`, length);
  return `${find.localId}  ${[what, ...rest, photos].filter(isText).join(' · ')}`;
}

function isText(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}
