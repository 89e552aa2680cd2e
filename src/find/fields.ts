import { t } from '../base/language.ts';
import type { ElementName, TargetState } from './find.ts';

/** How an element is written (contract, "Find import document", element types). */
type FieldKind = 'text' | 'integer' | 'date' | 'boolean' | 'state' | 'geom-system' | 'reference' | 'term' | 'point';

export type Field = {
  readonly name: ElementName;
  readonly kind: FieldKind;
  /** English column name. Points have none: their columns are `lon`, `lat` and the like. */
  readonly alias?: string;
  /**
   * The lowest target state that cannot do without it; absent where it is always optional. A point is needed only in
   * the element that `geom_system` selects.
   */
  readonly requiredFrom?: TargetState;
  /** The vocabulary, in the harvesting interface's words, that an identifier has to come from. */
  readonly set?: string;
  /** The element that it stands in; absent for children of `samostatny_nalez` itself. */
  readonly parent?: 'chranene_udaje';
  /** A point's coordinate system. */
  readonly epsg?: '4326' | '5514';
  /** English meaning, for messages, prompts and help. */
  readonly gloss: string;
};

/**
 * The elements that a client fills, in the order of the schema. Requirements are those of the contract's table, the sets
 * those that the deployed service checks. `ident_cely`, which comes first, always says `:tba` and is not a choice.
 */
export const FIELDS: readonly Field[] = [
  { name: 'evidencni_cislo', kind: 'text', alias: 'registration_number', requiredFrom: 3, gloss: t`museum registration number` },
  { name: 'projekt', kind: 'reference', alias: 'project', requiredFrom: 1, gloss: t`survey project` },
  { name: 'hloubka', kind: 'integer', alias: 'depth_cm', requiredFrom: 2, gloss: t`depth in whole centimetres` },
  term('okolnosti', 'context', 'heslo:nalezove_okolnosti', 2, t`find context`),
  term('obdobi', 'period', 'heslo:obdobi', 2, t`period`),
  { name: 'presna_datace', kind: 'text', alias: 'dating', gloss: t`dating in detail, free text` },
  term('druh_nalezu', 'object_type', 'heslo:predmet_druh', 2, t`object type`),
  term('specifikace', 'specification', 'heslo:predmet_specifikace', 2, t`object specification, as a rule the material`),
  { name: 'pocet', kind: 'text', alias: 'count', gloss: t`number of items, free text` },
  { name: 'poznamka', kind: 'text', alias: 'note', gloss: t`note` },
  { name: 'nalezce', kind: 'reference', alias: 'finder', set: 'osoba', requiredFrom: 2, gloss: t`finder` },
  { name: 'datum_nalezu', kind: 'date', alias: 'found_on', requiredFrom: 2, gloss: t`date of the find` },
  { name: 'stav', kind: 'state', alias: 'target_state', requiredFrom: 1, gloss: t`target state: 1, 2 or 3` },
  { name: 'predano', kind: 'boolean', alias: 'handed_over', requiredFrom: 3, gloss: t`handed over to the organisation` },
  term('predano_organizace', 'receiving_organisation', 'organizace', 3, t`receiving organisation`),
  { name: 'geom_system', kind: 'geom-system', alias: 'crs', requiredFrom: 1, gloss: t`coordinate system: 4326 or 5514` },
  term('pristupnost', 'accessibility', 'heslo:pristupnost', 1, t`accessibility`),
  {
    name: 'lokalizace',
    kind: 'text',
    alias: 'location',
    requiredFrom: 2,
    parent: 'chranene_udaje',
    gloss: t`description of the place`,
  },
  point('geom_wkt', '4326', t`point, longitude and latitude`),
  point('geom_sjtsk_wkt', '5514', t`point, S-JTSK x and y`),
];

const byName = new Map(FIELDS.map((field) => [field.name, field]));

export function fieldOf(name: ElementName): Field {
  const field = byName.get(name);
  if (field === undefined) throw new Error(`the table of fields lacks ${name}`);
  return field;
}

export function isElementName(name: string): name is ElementName {
  return byName.has(name as ElementName);
}

/** The element that holds the point when `geom_system` says so. */
export function pointElement(system: '4326' | '5514'): 'geom_wkt' | 'geom_sjtsk_wkt' {
  return system === '4326' ? 'geom_wkt' : 'geom_sjtsk_wkt';
}

function term(name: ElementName, alias: string, set: string, requiredFrom: TargetState, gloss: string): Field {
  return { name, kind: 'term', alias, set, requiredFrom, gloss };
}

function point(name: ElementName, epsg: '4326' | '5514', gloss: string): Field {
  return { name, kind: 'point', epsg, parent: 'chranene_udaje', requiredFrom: 2, gloss };
}
