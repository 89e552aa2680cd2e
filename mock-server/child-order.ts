import type { Body } from './records/record.ts';

/** Children of a find in the order of the 2.2 schema. */
export const FIND_CHILDREN = [
  'ident_cely',
  'evidencni_cislo',
  'igsn',
  'projekt',
  'okres',
  'hloubka',
  'okolnosti',
  'obdobi',
  'presna_datace',
  'druh_nalezu',
  'specifikace',
  'pocet',
  'poznamka',
  'nalezce',
  'datum_nalezu',
  'stav',
  'predano',
  'predano_organizace',
  'geom_system',
  'pristupnost',
  'chranene_udaje',
  'historie',
  'soubor',
] as const;

/** The children of a project that come after its list of finds. */
export const PROJECT_CHILDREN_AFTER_FINDS = ['dokument'] as const;

/** The same children in the given order; what has no value is left out. */
export function inOrder(children: Readonly<Record<string, Body[string] | undefined>>, order: readonly string[]): Body {
  const ordered: Record<string, Body[string]> = {};
  for (const name of order) {
    const value = children[name];
    if (value !== undefined) ordered[name] = value;
  }
  return ordered;
}
