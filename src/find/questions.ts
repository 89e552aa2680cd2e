import { t } from '../base/language.ts';
import type { ColumnName } from './columns.ts';
import { FIELDS } from './fields.ts';
import type { ElementName, FindElements, TargetState } from './find.ts';

/**
 * What `pas add` asks, in this order. `frame` stays the same for most finds of a day and is confirmed with one key once it is known;
 * `find` is asked for each; `handing-over` only for state 3; `more` only of those who want to say more.
 */
export type Question = {
  readonly name: QuestionName;
  readonly title: string;
  readonly how: 'text' | 'term' | 'state' | 'yes-no' | 'point' | 'photos';
  readonly when: 'find' | 'frame' | 'handing-over' | 'more';
  /** The last find's value is offered for the next one. */
  readonly carries: boolean;
  /** What may be written, where the title does not say it. */
  readonly hint?: string;
};

/** A point is one question, whichever elements and columns it fills. */
export type QuestionName =
  | Extract<ColumnName, 'local_id' | 'photos'>
  | 'point'
  | Exclude<ElementName, 'geom_system' | 'geom_wkt' | 'geom_sjtsk_wkt'>;

export const QUESTIONS: readonly Question[] = [
  { name: 'local_id', title: t`Number of the find`, how: 'text', when: 'find', carries: false },
  { name: 'projekt', title: t`Project`, how: 'term', when: 'frame', carries: true },
  { name: 'stav', title: t`Target state`, how: 'state', when: 'frame', carries: true },
  { name: 'nalezce', title: t`Finder`, how: 'term', when: 'frame', carries: true, hint: t`Surname, Given name` },
  { name: 'datum_nalezu', title: t`Date of the find`, how: 'text', when: 'frame', carries: true },
  { name: 'pristupnost', title: t`Accessibility`, how: 'term', when: 'frame', carries: true },
  { name: 'druh_nalezu', title: t`Object`, how: 'term', when: 'find', carries: true },
  { name: 'specifikace', title: t`Material`, how: 'term', when: 'find', carries: true },
  { name: 'obdobi', title: t`Period`, how: 'term', when: 'find', carries: true },
  { name: 'okolnosti', title: t`Context`, how: 'term', when: 'find', carries: true },
  { name: 'point', title: t`Coordinates, or a photograph`, how: 'point', when: 'find', carries: false },
  { name: 'lokalizace', title: t`Place in words`, how: 'text', when: 'find', carries: true },
  { name: 'hloubka', title: t`Depth (cm)`, how: 'text', when: 'find', carries: false },
  { name: 'predano', title: t`Handed over`, how: 'yes-no', when: 'handing-over', carries: true },
  { name: 'predano_organizace', title: t`Receiving organisation`, how: 'term', when: 'handing-over', carries: true },
  { name: 'evidencni_cislo', title: t`Registration number`, how: 'text', when: 'handing-over', carries: false },
  { name: 'photos', title: t`Photographs`, how: 'photos', when: 'more', carries: false, hint: t`files, with ; between them` },
  { name: 'pocet', title: t`Number of items`, how: 'text', when: 'more', carries: false },
  { name: 'presna_datace', title: t`Dating in detail`, how: 'text', when: 'more', carries: false },
  { name: 'poznamka', title: t`Note`, how: 'text', when: 'more', carries: false },
];

export function questionOf(name: QuestionName): Question {
  const question = QUESTIONS.find((each) => each.name === name);
  if (question === undefined) throw new Error(`the table of questions lacks ${name}`);
  return question;
}

/** The elements that an answer fills. */
export function elementsOf(name: QuestionName): readonly ElementName[] {
  switch (name) {
    case 'local_id':
    case 'photos':
      return [];
    case 'point':
      return ['geom_system', 'geom_wkt', 'geom_sjtsk_wkt'];
    default:
      return [name];
  }
}

/** The question whose answer fills an element. */
export function questionFor(element: string): Question | undefined {
  return QUESTIONS.find(({ name }) => elementsOf(name).some((each) => each === element));
}

/** Asked of everybody: the rest waits until somebody wants to say more. */
export function isAsked({ when }: Question, stav: TargetState): boolean {
  return when !== 'more' && (when !== 'handing-over' || stav === 3);
}

/** Whether a find for this state can do without an answer. */
export function isOptional(name: QuestionName, stav: TargetState): boolean {
  if (name === 'local_id') return false;
  if (name === 'point') return stav < 2;
  return elementsOf(name).every((element) => (FIELDS.find((field) => field.name === element)?.requiredFrom ?? 4) > stav);
}

/** What the next find can take from this one. Everything that tells one find from another stays behind. */
export function carriedFrom(elements: FindElements): FindElements {
  return only(
    elements,
    QUESTIONS.filter(({ carries }) => carries),
  );
}

/** All but what belongs to one find alone: its point, depth, number, note and the like. */
export function copiedFrom(elements: FindElements): FindElements {
  return only(
    elements,
    QUESTIONS.filter(({ name }) => !NOT_COPIED.includes(name)),
  );
}

const NOT_COPIED: readonly QuestionName[] = ['local_id', 'point', 'hloubka', 'pocet', 'photos', 'poznamka', 'evidencni_cislo'];

function only(elements: FindElements, questions: readonly Question[]): FindElements {
  const names = new Set<string>(questions.flatMap(({ name }) => elementsOf(name)));
  return Object.fromEntries(Object.entries(elements).filter(([name]) => names.has(name)));
}
