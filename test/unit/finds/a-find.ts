import type { DocumentProfile } from '../../../src/finds/document.ts';
import type { FindElements } from '../../../src/finds/fields.ts';
import type { Find, LookupTerm, TermCandidate } from '../../../src/finds/find.ts';

export const PROFILE: DocumentProfile = {
  prefix: 'svc',
  schemaBase: 'https://schema.example.org/svc',
  schemaVersion: '2.2',
};

/** Complete for state 3; overrides take single elements away (undefined) or change them. */
export function aFind(
  overrides: { [Name in keyof FindElements]?: FindElements[Name] | undefined } = {},
): Find {
  const elements: FindElements = {
    evidencni_cislo: 'A 1250/2024',
    projekt: { id: 'C-202400101', text: 'C-202400101' },
    hloubka: 25,
    okolnosti: { id: 'HES-000101', text: 'výkop' },
    obdobi: { id: 'HES-000253', text: 'paleolit' },
    presna_datace: '5. stol. př. n. l.',
    druh_nalezu: { id: 'HES-000691', text: 'lahev' },
    specifikace: { id: 'HES-000979', text: 'keramika' },
    pocet: '1',
    poznamka: 'hrdlo odlomeno',
    nalezce: { id: ':tba', text: 'Nováková, Žofie' },
    datum_nalezu: '2024-06-17',
    stav: 3,
    predano: true,
    predano_organizace: { id: 'ORG-000091', text: 'Muzeum' },
    geom_system: '4326',
    pristupnost: { id: 'HES-000866', text: 'badatel' },
    lokalizace: 'pole za mlýnem',
    geom_wkt: 'POINT (15.1712 49.8405)',
  };
  const merged = Object.entries({ ...elements, ...overrides }).filter(
    ([, value]) => value !== undefined,
  );
  return { localId: 'K-017', elements: Object.fromEntries(merged), photos: [] };
}

const TERMS: readonly TermCandidate[] = [
  term('HES-000101', 'výkop', 'heslo:nalezove_okolnosti', 'excavation'),
  term('HES-000253', 'paleolit', 'heslo:obdobi', 'Palaeolithic'),
  term('HES-000300', 'doba bronzová', 'heslo:obdobi', 'Bronze Age'),
  term('HES-000301', 'mince', 'heslo:obdobi'),
  term('HES-000691', 'lahev', 'heslo:predmet_druh', 'bottle'),
  term('HES-000692', 'jehla', 'heslo:predmet_druh', 'needle'),
  term('HES-000693', 'jehla', 'heslo:predmet_druh', 'pin'),
  term('HES-000979', 'keramika', 'heslo:predmet_specifikace', 'ceramic'),
  term('HES-000866', 'badatel', 'heslo:pristupnost', 'researcher'),
  term('ORG-000091', 'Muzeum', 'organizace'),
  term('OS-001507', 'Novák, Jan', 'osoba'),
];
export const DELETED = term('HES-000999', 'zrušené', 'heslo:obdobi');

/** A small harvest. Labels in both languages, one label with two entries, one deleted entry. */
export const lookupTerm: LookupTerm = (setSpec, cell) => {
  if (cell === DELETED.id) return { kind: 'deleted', term: DELETED };
  const byId = TERMS.find((candidate) => candidate.id === cell);
  if (byId !== undefined)
    return byId.setSpec === setSpec
      ? { kind: 'found', term: byId }
      : { kind: 'wrong-set', term: byId };
  const inSet = TERMS.filter((candidate) => candidate.setSpec === setSpec);
  const [first, ...more] = inSet.filter(
    (candidate) => candidate.label === cell || candidate.labelEn === cell,
  );
  if (first === undefined) return { kind: 'unknown', nearest: inSet.slice(0, 2) };
  return more.length > 0
    ? { kind: 'ambiguous', candidates: [first, ...more] }
    : { kind: 'found', term: first };
};

export const nothingHarvested: LookupTerm = () => ({ kind: 'not-harvested' });

function term(id: string, label: string, setSpec: string, labelEn?: string): TermCandidate {
  return { id, label, setSpec, labelEn };
}
