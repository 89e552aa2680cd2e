import { type Message, msg } from '../base/message.ts';
import { NEW_PERSON } from './field.ts';
import type { ColumnName } from './fields.ts';
import { QUESTIONS } from './questions.ts';

/**
 * Names of the questions in a form for phones, by which a returned form is read. Elements have
 * their own names.
 */

/** A geopoint in WGS 84: latitude, longitude, altitude, accuracy. */
export const FORM_POINT = 'point';
/** Metres. The phone warns of a less accurate point, and so does the import. */
export const FORM_WORST_ACCURACY_M = 20;
/** Group that repeats once per photograph, and its question. */
export const FORM_PHOTOS = 'photos';
export const FORM_PHOTO = 'photo';
/**
 * Choice for a value that the list lacks, which is then typed: a finder as `Surname, Given name`,
 * or a project's identifier.
 */
export const FORM_NOT_LISTED = NEW_PERSON;
export const FORM_WRITTEN = { nalezce: 'nalezce_jmeno', projekt: 'projekt_cislo' } as const;

/**
 * An element that a form for phones asks for twice: by a list, and by a text for what is not
 * listed.
 */
export type TypableElement = keyof typeof FORM_WRITTEN;

/** Tells if a form also has a text question for this element, for values that its list lacks. */
export function isTypableElement(name: string): name is TypableElement {
  return name in FORM_WRITTEN;
}

/**
 * Returns the name of the question that filters a long list; the choice in that list already
 * implies its answer.
 */
export function makeFilterQuestionName(name: string): string {
  return `${name}_skupina`;
}

/** Separator of the Czech and the English name of a choice: lists have one text for both. */
export const FORM_LABEL_GAP = ' · ';

const LABELS: Readonly<Record<string, Message>> = {
  [FORM_POINT]: msg`Place on the map`,
  [FORM_PHOTO]: msg`Photograph`,
  [FORM_WRITTEN.nalezce]: msg`Name of the finder`,
  [FORM_WRITTEN.projekt]: msg`Identifier of the project`,
};

/**
 * Returns the label of a question or group of a form.
 * @throws Error where the form has neither of this name
 */
export function getFormLabel(name: string): Message {
  const label = LABELS[name] ?? QUESTIONS.find((question) => question.name === name)?.title;
  if (label !== undefined) return label;
  const narrowed = QUESTIONS.find((question) => makeFilterQuestionName(question.name) === name);
  if (narrowed === undefined) throw new Error(`the form asks for no ${name}`);
  const { title } = narrowed;
  return msg`${title}: group`;
}

/** Layers and tables of a form for phones; FORM_TABLE describes the meaning of its columns. */
export const FINDS_LAYER = 'finds';
export const PHOTOS_LAYER = 'photos';
export const FORM_TABLE = 'pas_form';

/**
 * Meaning of a form column: a table column, a typed value, a filter of a list, or the find and file
 * of a photograph.
 */
export type FormMeaning =
  | ColumnName
  | `written_${TypableElement}`
  | 'narrows_list'
  | 'photo_of'
  | 'photo_file';

/** A row of the table that describes the columns of a form. */
export type FormColumn = {
  readonly layer: string;
  readonly column: string;
  readonly meaning: FormMeaning;
};

/** GeoPackage of finds in the folder of a form. */
export const FORM_FILE = 'finds.gpkg';

/** Folder in which QField stores photographs, beside the GeoPackage. */
export const PHOTO_FOLDER = 'DCIM';
