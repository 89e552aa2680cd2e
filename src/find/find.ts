import type { ElementName, FindElements } from './fields.ts';

/** The find as pas keeps it: elements under the contract's own names, values normalised, nothing rendered yet. */
/** Where a find came from, for messages. */
export type FindSource = {
  readonly file: string;
  readonly sheet?: string;
  readonly row: number;
  /** What `row` counts, where it is no row of a spreadsheet. */
  readonly unit?: 'feature' | 'waypoint' | 'find';
  readonly line?: number;
};

export type Find = {
  /** The user's own key; importing the same key again means the same find. */
  readonly localId: string;
  readonly elements: FindElements;
  /** Photographs named with the find, as absolute paths. */
  readonly photos: readonly string[];
  /** Photographs that are named with the find, and are not where they should be. */
  readonly missingPhotos?: readonly string[];
  readonly source?: FindSource;
  /** Elements that its table has columns for, and so says something about; absent for all. */
  readonly covered?: ReadonlySet<ElementName>;
  /** Its table says which photographs belong to it; absent for yes. */
  readonly coversPhotos?: boolean;
  /** The header of the column that each element was read from, for messages. */
  readonly columns?: Readonly<Partial<Record<ElementName, string>>>;
};

/** The part of a profile that decides how a document looks (A-DECLARE-1). */
export type DocumentProfile = {
  /** `svc` in the contract; the deployed service has its own. */
  readonly prefix: string;
  /** `{schema_base}`, without a slash at the end. */
  readonly schemaBase: string;
  /** `2.2` */
  readonly schemaVersion: string;
};

/** `{schema_base}/<x.y>/` */
export function namespaceOf(profile: DocumentProfile): string {
  return `${profile.schemaBase}/${profile.schemaVersion}/`;
}

/** `{schema_base}/<x.y>/svc.xsd` */
export function schemaLocationOf(profile: DocumentProfile): string {
  return `${namespaceOf(profile)}${profile.prefix}.xsd`;
}
