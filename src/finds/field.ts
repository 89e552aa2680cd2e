import type { Message } from '../base/message.ts';
import type { GeomSystem } from './place/geometry.ts';

/** Type of an element's value, by the kind of the element (S-TYPE-1). */
export type ValueByKind = {
  text: string;
  /** In the field's `unit`. */
  integer: number;
  /** YYYY-MM-DD */
  date: string;
  boolean: boolean;
  state: TargetState;
  'geom-system': GeomSystem;
  /**
   * A project, or a person who may have no identifier yet: the element holds the service's own
   * text.
   */
  reference: Reference;
  term: Reference;
  /** `POINT (longitude latitude)`, or `POINT (x y)`, both negative */
  point: string;
};

/**
 * A reference to a vocabulary entry, an organisation, a person or a project. The service reads `id`
 * only.
 */
export type Reference = { readonly id: string; readonly text: string };

/** Identifier of a person whom the service may not know yet (A-FIELD-16). */
export const NEW_PERSON = ':tba';

/** Returns the cell for a reference: a new person's name, else the identifier. */
export function formatReferenceCell({ id, text }: Reference): string {
  return id === NEW_PERSON ? text : id;
}

/** State that an import requests: 1 registered, 2 submitted, 3 confirmed. */
export type TargetState = 1 | 2 | 3;

/**
 * A row of the table of elements: the only description of an element, for documents, table
 * columns, questions, forms, exports and reports.
 */
export type FieldRow = {
  readonly name: string;
  readonly kind: keyof ValueByKind;
  /** English column name. Points have none: their columns are `lon`, `lat` and others. */
  readonly alias?: string;
  /** Set of the harvesting interface that has the identifiers of the element. */
  readonly set?: string;
  /**
   * Lowest target state that requires the element. A point is required only in the element that
   * `geom_system` selects.
   */
  readonly requiredFrom?: TargetState;
  /** Parent element; absent for children of `samostatny_nalez`. */
  readonly parent?: 'chranene_udaje';
  /** A point's coordinate system. */
  readonly epsg?: GeomSystem;
  readonly unit?: 'cm';
  readonly gloss: Message;
  /** Name of the element for people; absent: the gloss. */
  readonly label?: Message;
  /**
   * Museums' names of the element, folded: Czech and English, full and abbreviated. The first name
   * is the usual one.
   */
  readonly called?: string;
  /** Question of `pas add`, in the order of `at`; absent: asked last, on request. */
  readonly ask?: OrderedQuestion;
  /** Position among the facts of a find in the report; absent: at the end, null: shown elsewhere. */
  readonly reportedAt?: number | null;
  /** Element behind which the report shows this one. */
  readonly reportedWith?: string;
  /** Width in the report of a text that may be long; absent: single. */
  readonly shape?: 'double' | 'wide';
  /**
   * The text may reveal the location, so it is omitted where locations are. Children of
   * `chranene_udaje` always are.
   */
  readonly revealsLocation?: true;
};

/** How `pas add` and forms for phones ask for an element, and what the next find takes over. */
export type FieldQuestion = {
  /**
   * `frame`: constant for most finds of a day, confirmed with one key once it is known; `find`:
   * asked for each find; `handing-over`: for state 3 only; `more`: on request.
   */
  readonly when: 'find' | 'frame' | 'handing-over' | 'more';
  /**
   * `carried`: suggested for the next find, too; `copied`: taken by a copy only; absent: belongs to
   * one find.
   */
  readonly stays?: 'carried' | 'copied';
  /** Permitted answers, where the label does not state them. */
  readonly hint?: Message;
};
type OrderedQuestion = FieldQuestion & { readonly at: number };
