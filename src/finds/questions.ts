import { type Message, msg } from '../base/message.ts';
import {
  type ElementName,
  FIELDS,
  type Field,
  type FieldQuestion,
  type FindElements,
  NEW_PERSON,
  POINT_ELEMENTS,
  type TargetState,
} from './fields.ts';

/**
 * A question about a find, of `pas add` and of forms for phones. A point is one question, whichever
 * elements and columns it fills.
 */
export type Question = FieldQuestion & {
  readonly name: QuestionName;
  readonly title: Message;
  /** Lowest target state that requires an answer. */
  readonly requiredFrom?: TargetState;
  readonly how: 'text' | 'term' | 'state' | 'yes-no' | 'point' | 'photos';
};

/** The element that the answer fills; `point` stands for all elements of the point. */
export type QuestionName =
  | 'local_id'
  | 'photos'
  | 'point'
  | Exclude<ElementName, (typeof POINT_ELEMENTS)[number]>;

const HOW = {
  text: 'text',
  integer: 'text',
  date: 'text',
  boolean: 'yes-no',
  state: 'state',
  reference: 'term',
  term: 'term',
  point: undefined,
  'geom-system': undefined,
} as const;

type PlacedQuestion = Question & { readonly at: number };

/** Questions that fill no single element. */
const OTHERS: readonly PlacedQuestion[] = [
  {
    at: 0,
    name: 'local_id',
    title: msg`Number of the find`,
    how: 'text',
    when: 'find',
    requiredFrom: 1,
  },
  {
    at: 100,
    name: 'point',
    title: msg`Coordinates, or a photograph`,
    how: 'point',
    when: 'find',
    requiredFrom: 2,
  },
  {
    at: 160,
    name: 'photos',
    title: msg`Photographs`,
    how: 'photos',
    when: 'more',
    hint: msg`files, with ; between them`,
  },
];

const ASKED_LAST = { at: Number.POSITIVE_INFINITY, when: 'more' } as const;

/** All questions, in the order in which they are asked. */
export const FIND_QUESTIONS: readonly Question[] = [
  ...OTHERS,
  ...FIELDS.flatMap(listFieldQuestions),
].sort((a, b) => a.at - b.at);

function listFieldQuestions(field: Field): PlacedQuestion[] {
  const { name, kind, gloss, label = gloss, unit, ask = ASKED_LAST, requiredFrom } = field;
  const how = HOW[kind];
  if (how === undefined) return [];
  const title = unit === undefined ? label : msg`${label} (${unit})`;
  return [{ name: name as QuestionName, how, title, requiredFrom, ...ask }];
}

/**
 * Returns the elements that the answer to a question fills: one, all of the point, or none for the
 * local id and photographs.
 */
export function listElementsOfQuestion(name: QuestionName): readonly ElementName[] {
  switch (name) {
    case 'local_id':
    case 'photos':
      return [];
    case 'point':
      return POINT_ELEMENTS;
    default:
      return [name];
  }
}

/** Returns the question whose answer fills an element; undefined where none does. */
export function findQuestionOfElement(element: string): Question | undefined {
  return FIND_QUESTIONS.find(({ name }) =>
    listElementsOfQuestion(name).some((each) => each === element),
  );
}

/**
 * Tells if `pas add` asks a question of its own accord: all except those that are asked on request
 * (`more`), and, unless the find is for state 3, those about handing over.
 */
export function isAskedByDefault({ when }: Question, stav: TargetState): boolean {
  return when !== 'more' && (when !== 'handing-over' || stav === 3);
}

/** Tells if a find for this target state may do without an answer to a question. */
export function isOptionalQuestion({ requiredFrom }: Question, stav: TargetState): boolean {
  return requiredFrom === undefined || requiredFrom > stav;
}

/**
 * Returns the elements that another find repeats: with `carried` those that are suggested for the
 * next find, such as project and finder; with `copied` also those that only a copy has. Others
 * belong to one find, such as point, depth, registration number and note.
 */
export function pickRepeatedElements(
  elements: FindElements,
  stays: 'carried' | 'copied',
): FindElements {
  const picked = FIND_QUESTIONS.filter(
    (question) => question.stays === 'carried' || question.stays === stays,
  );
  const names = new Set<string>(picked.flatMap(({ name }) => listElementsOfQuestion(name)));
  return Object.fromEntries(Object.entries(elements).filter(([name]) => names.has(name)));
}

// Names of the questions in a form for phones, by which a returned form is read. Elements have
// their own names.

/** A geopoint in WGS 84: latitude, longitude, altitude, accuracy. */
export const FORM_POINT = 'point';
/** Metres. The phone warns of a less accurate point, and so does the import. */
export const FORM_WORST_ACCURACY_M = 20;
/** Question of a group that repeats once per photograph. */
export const FORM_PHOTO = 'photo';
/**
 * Choice for a value that the list lacks, which is then typed: a finder as `Surname, Given name`,
 * or a project's identifier.
 */
export const FORM_NOT_LISTED = NEW_PERSON;
/** Text questions for what the lists of these elements lack. */
export const FORM_WRITTEN = { nalezce: 'nalezce_jmeno', projekt: 'projekt_cislo' } as const;

/**
 * An element that a form for phones asks for twice: by a list, and by a text for what is not
 * listed.
 */
export type TypableElement = keyof typeof FORM_WRITTEN;

/**
 * Tells if a form for phones has a second question for this element, in which a value that the list
 * lacks is written; see {@link FORM_WRITTEN}.
 */
export function hasWrittenQuestion(name: string): name is TypableElement {
  return Object.hasOwn(FORM_WRITTEN, name);
}

/** Separator of the Czech and the English name of a choice: lists have one text for both. */
export const FORM_LABEL_GAP = ' · ';

const LABELS: Readonly<Record<string, Message>> = {
  [FORM_POINT]: msg`Place on the map`,
  [FORM_PHOTO]: msg`Photograph`,
  [FORM_NOT_LISTED]: msg`not in the list: write it below`,
  [FORM_WRITTEN.nalezce]: msg`Name of the finder`,
  [FORM_WRITTEN.projekt]: msg`Identifier of the project`,
};

/**
 * Returns the label of a question or group of a form for phones, by its name there.
 * @throws Error where the form has neither of this name
 */
export function getFormLabel(name: string): Message {
  const label = LABELS[name] ?? FIND_QUESTIONS.find((question) => question.name === name)?.title;
  if (label === undefined) throw new Error(`the form asks for no ${name}`);
  return label;
}

/** Layers of a form for QField. Columns have the names of elements, or of FORM_WRITTEN. */
export const FINDS_LAYER = 'finds';
export const PHOTOS_LAYER = 'photos';
/** Column of {@link PHOTOS_LAYER}: local id of the find. */
export const FORM_FIND = 'find';
