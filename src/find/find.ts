import { type Message, msg } from '../base/message.ts';
import type { ElementName, FindElements } from './fields.ts';

/** Origin of a find, for messages. */
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
  /** Header of the column from which each element was read, for messages. */
  readonly columns?: Readonly<Partial<Record<ElementName, string>>>;
};

/** The part of a profile that determines the form of a document (A-DECLARE-1). */
export type DocumentProfile = {
  /** `svc` in the contract; the deployed service has its own. */
  readonly prefix: string;
  /** `{schema_base}`, without a final slash. */
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

type NamesProblem = { readonly isCertain: boolean; readonly message: Message; readonly todo: Message };

/**
 * Compares the names in documents with those in which the service writes its own.
 * @param told prefix and namespace of an answer of the service; a namespace of no schema tells nothing
 */
export function findNamesProblem(
  profile: DocumentProfile,
  { prefix, namespace }: { readonly prefix: string; readonly namespace: string },
): NamesProblem | undefined {
  const [, base, version] = /^(.+)\/(\d+\.\d+)\/$/.exec(namespace) ?? [];
  if (base === undefined || version === undefined) return undefined;
  if (prefix !== profile.prefix || base !== profile.schemaBase)
    return {
      isCertain: true,
      message: msg`The service refuses every import of this profile: it names its schema ${prefix} at ${base}, and the profile ${profile.prefix} at ${profile.schemaBase}.`,
      todo: msg`Set prefix = "${prefix}" and schema_base = "${base}" in the profile.`,
    };
  if (version === profile.schemaVersion) return undefined;
  return {
    isCertain: false,
    message: msg`The service may refuse every import of this profile: it uses schema version ${version}, and the profile ${profile.schemaVersion}.`,
    todo: msg`Ask the operator which schema_version imports need.`,
  };
}
