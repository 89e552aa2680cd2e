import type { Message } from '../base/message.ts';
import type { GeomSystem } from '../place/geometry.ts';

/** How an element is written (S-TYPE-1), and what its value is here. */
export type ValueOf = {
  text: string;
  /** Of the field's `unit`. */
  integer: number;
  /** YYYY-MM-DD */
  date: string;
  boolean: boolean;
  state: TargetState;
  'geom-system': GeomSystem;
  /** What stands in the element is the service's own word: a project, or a person whom it may not know yet. */
  reference: Reference;
  term: Reference;
  /** `POINT (longitude latitude)`, or `POINT (x y)`, both negative */
  point: string;
};

/** A reference to a vocabulary entry, an organisation, a person or a project. Only `id` counts for the service. */
export type Reference = { readonly id: string; readonly text: string };

export type TargetState = 1 | 2 | 3;

export type FieldRow = {
  readonly name: string;
  readonly kind: keyof ValueOf;
  /** English column name. Points have none: their columns are `lon`, `lat` and the like. */
  readonly alias?: string;
  /** The vocabulary, in the harvesting interface's words, that an identifier has to come from. */
  readonly set?: string;
  /**
   * The lowest target state that cannot do without it; absent where it is always optional. A point is needed only in
   * the element that `geom_system` selects.
   */
  readonly requiredFrom?: TargetState;
  /** The element that it stands in; absent for children of `samostatny_nalez` itself. */
  readonly parent?: 'chranene_udaje';
  /** A point's coordinate system. */
  readonly epsg?: GeomSystem;
  readonly unit?: 'cm';
  /** Meaning, for messages, prompts and help. */
  readonly gloss: Message;
  /** How museums call it, folded: Czech and English, whole and abbreviated. The first name is the usual one. */
  readonly called?: string;
  /** Where `pas add` asks for it, in the order of `at`; absent: at the end, of those who want to say more. */
  readonly ask?: Ask;
  /** Where the report has it; absent: at the end, under its gloss. */
  readonly report?: Shown | { readonly with: string } | { readonly elsewhere: true };
  /** It may quote the place, so it is left out where places are. Children of `chranene_udaje` are in any case. */
  readonly tellsPlace?: true;
};

export type Ask = {
  readonly at: number;
  readonly title: Message;
  /**
   * `frame` stays the same for most finds of a day and is confirmed with one key once it is known; `find` is asked for each;
   * `handing-over` only for state 3; `more` only of those who want to say more.
   */
  readonly when: 'find' | 'frame' | 'handing-over' | 'more';
  /** Offered for the next find, or taken by a copy only; absent where it belongs to one find alone. */
  readonly stays?: 'carried' | 'copied';
  /** What may be written, where the title does not say it. */
  readonly hint?: Message;
};

type Shown = { readonly at: number; readonly label: Message; readonly shape?: 'double' | 'wide' };
