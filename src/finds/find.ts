import type { Issue } from '../base/issue.ts';
import type { ElementName, FindElements } from './fields.ts';

/** Rule of the error that a person keeps a find as a draft, complete or not. */
export const KEPT_AS_DRAFT = 'kept-as-draft';

/** Position of a table, for messages. */
export type TablePlace = {
  /** File as the user named it. */
  readonly file: string;
  readonly sheet?: string;
  /** Unit that `row` counts, where it is no row of a spreadsheet. */
  readonly unit?: Issue['unit'];
};

/** Position in a table. */
export type RowNumber = {
  /**
   * Row number as in a spreadsheet: the header is row 1, blank rows count, a line break inside
   * quotes does not. Features, waypoints and finds are counted from 1.
   */
  readonly row: number;
  /** Line of a text file where the row begins, from 1. */
  readonly line?: number;
};

/** Position that is merged into the issues of a row. */
export type RowPlace = TablePlace & RowNumber;

/** A find as it was entered or read from a row, before it is stored. */
export type Find = {
  /** The user's own key; importing the same key again updates the same find. */
  readonly localId: string;
  readonly elements: FindElements;
  /** Photographs named with the find, as absolute paths. */
  readonly photos: readonly string[];
  /** Named photographs that do not exist at their path. */
  readonly missingPhotos?: readonly string[];
  readonly source?: RowPlace;
  /** Elements that have a column in its table; absent for all. */
  readonly covered?: ReadonlySet<ElementName>;
  /** The table lists the photographs of the find; absent for yes. */
  readonly coversPhotos?: boolean;
  /** Returns the header of the column from which an element was read, for messages. */
  readonly getColumn?: (element: ElementName) => string | undefined;
};

/** A vocabulary entry, organisation, person or area that a text may mean. */
export type TermCandidate = {
  readonly id: string;
  /** Czech label, or the person's or organisation's name. */
  readonly label: string;
  readonly labelEn?: string;
  readonly setSpec: string;
  /** Distinguishes people of one name: years, and the surname at birth. */
  readonly about?: string;
};

/** Result of {@link LookupTerm}: one entry, or why there is not exactly one. */
export type TermLookupResult =
  /** `isOwn`: resolved by a mapping of the user. */
  | { readonly kind: 'found'; readonly term: TermCandidate; readonly isOwn?: true }
  | TermFailure
  /** The museum's own term is mapped to an entry that is not, or no longer, in this set. */
  | {
      readonly kind: 'mapping-conflict';
      readonly ownTerm: string;
      /** Target of the mapping: an identifier, or a label. */
      readonly target: string;
      readonly failure: TermFailure;
    }
  /** The set was not harvested, so no lookup is possible. */
  | { readonly kind: 'not-harvested' };

/** Why a text names no usable entry of a set. */
type TermFailure =
  | { readonly kind: 'ambiguous'; readonly candidates: readonly TermCandidate[] }
  | {
      readonly kind: 'unknown';
      /** The nearest entries, or all of a small set; empty where none is near. */
      readonly nearest: readonly TermCandidate[];
    }
  /** The identifier exists in another vocabulary, or was deleted. */
  | { readonly kind: 'wrong-set' | 'deleted'; readonly term: TermCandidate };

/**
 * Looks up a cell (identifier, Czech or English label, the museum's own term) in one set, such as
 * `heslo:obdobi`.
 */
export type LookupTerm = (setSpec: string, cell: string) => TermLookupResult;

/** `outside`: in no area that was harvested. */
export type AreaLookupResult =
  | { readonly kind: 'inside'; readonly area: TermCandidate }
  | { readonly kind: 'outside' | 'not-harvested' };

/** Finds the cadastral area of a WGS 84 point. */
export type LookupArea = (longitude: number, latitude: number) => AreaLookupResult;

/**
 * Result of {@link LookupProject}; `hidden`: its record exists, but its content was not
 * shown.
 */
export type ProjectLookupResult =
  | {
      readonly kind: 'found';
      readonly survey: boolean;
      readonly type: string;
      /** Null where the record has none. */
      readonly stav: number | null;
      /** Name of the organisation; empty where the record has none. */
      readonly organisation: string;
    }
  /**
   * `list`: all projects of the service (`whole`), or all that the account may see (`as-shown`),
   * were harvested.
   */
  | { readonly kind: 'unknown'; readonly list?: 'whole' | 'as-shown' }
  | { readonly kind: 'hidden' | 'deleted' | 'not-harvested' };

/** Looks up a project by its identifier, in exactly this letter case. */
export type LookupProject = (ident: string) => ProjectLookupResult;

/**
 * Finds who else has a registration number.
 * @param find local id or record that is checked, which does not count
 * @returns the name of the other find or record; undefined where the number is free
 */
export type LookupNumber = (number: string, find: string) => string | undefined;

/**
 * Makes the local id that follows the latest one and is not taken: K-018 after K-017. The last run
 * of digits is counted up, except a year behind a slash (18/2024 after 17/2024); an id without
 * digits gets `-2` and so on. Without a latest one it is `001`, taken or not.
 * @param latest ids of finds, newest first; those that programs made are passed over
 */
export function makeNextLocalId(
  latest: readonly string[],
  isTaken: (id: string) => boolean,
): string {
  const last = latest.find((id) => !isMadeByProgram(id));
  if (last === undefined) return FIRST;
  const [, head, digits, tail] = LAST_NUMBER.exec(last) ?? [];
  if (digits === undefined) return findFirstFree((number) => `${last}-${number}`, 2, isTaken);
  return findFirstFree(
    (number) => `${head}${String(number).padStart(digits.length, '0')}${tail}`,
    Number(digits) + 1,
    isTaken,
  );
}

const LAST_NUMBER = /^(.*?)(\d{1,15})(\D*|\/(?:19|20)\d\d)$/s;
const FIRST = '001';

/** Tells if an id is the digest of a row or the UUID of a form, which cannot be incremented. */
function isMadeByProgram(id: string): boolean {
  return isRowDigest(id) || /[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/i.test(id);
}

function findFirstFree(
  makeName: (number: number) => string,
  from: number,
  isTaken: (id: string) => boolean,
): string {
  for (let number = from; ; number++) if (!isTaken(makeName(number))) return makeName(number);
}

/**
 * Tells if a local id is the digest of its row's content, `row-` and 16 hexadecimal digits, and
 * `-2` and so on for equal rows: the rows of a table without a column of ids get one.
 */
export function isRowDigest(localId: string): boolean {
  return /^row-[0-9a-f]{16}(?:-\d+)?$/.test(localId);
}
