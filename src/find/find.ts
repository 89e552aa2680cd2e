/** The find as pas keeps it: elements under the contract's own names, values normalised, nothing rendered yet. */

/** A reference to a vocabulary entry, an organisation, a person or a project. Only `id` counts for the service. */
export type Reference = { readonly id: string; readonly text: string };

export type TargetState = 1 | 2 | 3;
export type GeomSystem = '4326' | '5514';

/**
 * The elements of `samostatny_nalez` that a client may send (contract, "Find import document"). `ident_cely` is not
 * among them: an import always says `:tba`. The point stands in the element that `geom_system` selects.
 */
export type FindElements = {
  readonly evidencni_cislo?: string;
  readonly projekt?: Reference;
  /** Centimetres. */
  readonly hloubka?: number;
  readonly okolnosti?: Reference;
  readonly obdobi?: Reference;
  readonly presna_datace?: string;
  readonly druh_nalezu?: Reference;
  readonly specifikace?: Reference;
  readonly pocet?: string;
  readonly poznamka?: string;
  /** `{ id: ':tba', text: 'Surname, Given name' }` for a person whom the service may not know yet. */
  readonly nalezce?: Reference;
  /** YYYY-MM-DD */
  readonly datum_nalezu?: string;
  readonly stav?: TargetState;
  readonly predano?: boolean;
  readonly predano_organizace?: Reference;
  readonly geom_system?: GeomSystem;
  readonly pristupnost?: Reference;
  readonly lokalizace?: string;
  /** `POINT (longitude latitude)` */
  readonly geom_wkt?: string;
  /** `POINT (x y)`, both negative. */
  readonly geom_sjtsk_wkt?: string;
};

export type ElementName = keyof FindElements;

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
  readonly source?: FindSource;
  /** The header of the column that each element was read from, for messages. */
  readonly columns?: Readonly<Partial<Record<ElementName, string>>>;
};

/** The part of a profile that decides how a document looks (contract, "Find import document"). */
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
