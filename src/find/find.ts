import type { ElementName, FindElements } from './fields.ts';

export type FindSource = {
  readonly file: string;
  readonly sheet?: string;
  readonly row: number;
  /** Unit that `row` counts, where it is no row of a spreadsheet. */
  readonly unit?: 'feature' | 'waypoint' | 'find';
  readonly line?: number;
};

export type Find = {
  /** The user's own key; importing the same key again updates the same find. */
  readonly localId: string;
  readonly elements: FindElements;
  /** Photographs named with the find, as absolute paths. */
  readonly photos: readonly string[];
  /** Named photographs that do not exist at their path. */
  readonly missingPhotos?: readonly string[];
  readonly source?: FindSource;
  /** Elements that have a column in its table; absent for all. */
  readonly covered?: ReadonlySet<ElementName>;
  /** The table lists the photographs of the find; absent for yes. */
  readonly coversPhotos?: boolean;
  /** Returns the header of the column from which an element was read, for messages. */
  readonly getColumn?: (element: ElementName) => string | undefined;
};
