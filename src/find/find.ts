import type { Issue } from '../base/issue.ts';
import type { ElementName, FindElements } from './fields.ts';

/** Position of a table, for messages. */
export type TablePlace = {
  /** File as the user named it. */
  readonly file: string;
  readonly sheet?: string;
  /** Unit that `row` counts, where it is no row of a spreadsheet. */
  readonly unit?: Issue['unit'];
};

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
