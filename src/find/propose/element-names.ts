import { editDistance } from '../../base/edit-distance.ts';
import type { ColumnName } from '../columns.ts';
import { foldName } from '../names.ts';

/** How museums call what the elements are, folded: Czech and English, whole and abbreviated. The first name is the usual one. */
const NAMES: Readonly<Partial<Record<ColumnName, string>>> = {
  local_id:
    'inventarni cislo, inv cislo, inv c, ic, i c, inv, cislo nalezu, c nalezu, cislo, c, poradove cislo, por c, ' +
    'prirustkove cislo, prir c, pr c, cislo sacku, c sacku, sacek, id, id nalezu, kod, oznaceni, signatura, ' +
    'inventory number, inv no, inventory no, catalogue number, catalog no, cat no, accession no, accession number, ' +
    'object id, object number, find id, find no, find number, bag no, number, no, nr',
  evidencni_cislo:
    'evidencni cislo, ev cislo, ev c, evid c, evid cislo, evc, e c, registration number, reg no, registration no, ' +
    'museum number, museum no',
  projekt: 'projekt, cislo projektu, c projektu, id projektu, project, project id, project no, survey, akce, c akce',
  hloubka:
    'hloubka, hl, hloub, hloubka ulozeni, hl nalezu, hloubka nalezu, hl pod povrchem, depth, find depth, ' +
    'depth below surface',
  okolnosti:
    'okolnosti, nalezove okolnosti, okolnosti nalezu, okol, nal okol, nal okolnosti, zpusob nalezu, zp nalezu, ' +
    'zpusob ziskani, zpusob, context, circumstances, find circumstances, how found, method',
  obdobi: 'obdobi, obd, epocha, pravek, kultura, kult, datace, datovani, dat, period, culture, age, dating',
  presna_datace:
    'presna datace, datace presna, datace, datovani, dat, chronologie, stupen, stoleti, presne datovani, dating, ' +
    'exact dating, precise dating, date range, century, phase',
  druh_nalezu:
    'druh nalezu, druh predmetu, druh, predmet, urceni, nazev, nazev predmetu, typ, typ predmetu, artefakt, nalez, co, ' +
    'object type, object, object name, type, find type, artefact, artifact, name, identification',
  specifikace: 'specifikace, material, mat, mater, surovina, sur, hmota, specification, raw material, fabric',
  pocet: 'pocet, poc, pocet kusu, pocet ks, ks, kusu, mnozstvi, count, quantity, qty, number of items, pieces, pcs',
  poznamka: 'poznamka, pozn, poznamky, popis, note, notes, remark, remarks, comment, comments, description',
  nalezce:
    'nalezce, nal, nalezl, nasel, nalez ucinil, jmeno nalezce, sberatel, odevzdal, finder, found by, collector, ' +
    'name of finder, detectorist',
  datum_nalezu:
    'datum nalezu, datum, dat nalezu, dat, dat nal, den nalezu, nalezeno, nalezeno dne, dne, rok nalezu, rok, ' +
    'date found, found on, date, find date, date of find, date of discovery, year, year found',
  stav: 'cilovy stav, stav zaznamu, stav, target state, record state, state',
  predano: 'predano, odevzdano, predano muzeu, handed over, deposited',
  predano_organizace:
    'predano organizace, organizace, muzeum, instituce, ulozeno, ulozeni, misto ulozeni, sbirka, ' +
    'receiving organisation, organisation, museum, institution, repository, held by',
  geom_system: 'souradnicovy system, sour system, system, crs, srs, epsg, coordinate system',
  pristupnost: 'pristupnost, pristup, accessibility, access',
  lokalizace:
    'lokalizace, lok, lokalita, poloha, misto nalezu, misto, nazev lokality, trat, nalezova situace, nal misto, ' +
    'location, site, findspot, find spot, place, locality, provenance',
  wkt: 'wkt, gps, souradnice, souradnice gps, gps souradnice, coordinates, position, geometrie, geometry, point, bod',
  photos: 'foto, fotografie, fotky, fotka, fotodokumentace, snimek, snimky, obr, obrazek, photo, photos, image, picture',
};

/** Words that say what a number is measured in, and no more. */
const UNIT_WORDS = new Set(['m', 'cm', 'mm', 'dm', 'v', 'in']);

export type NameFit = { readonly score: number; readonly like: string };

/** How well a header names an element: 1 is a name of it; undefined where it is like none. */
export function nameFit(header: string, element: ColumnName): NameFit | undefined {
  const words = wordsOf(header);
  if (words.length === 0) return undefined;
  if (foldName(header) === element) return { score: 1, like: element };
  let best: NameFit | undefined;
  for (const name of NAMES[element]?.split(', ') ?? []) {
    const score = fitOf(words, name.split(' '));
    if (score > (best?.score ?? 0)) best = { score, like: name };
  }
  return best;
}

/** `hl. (m)` → `hl`, `inv. č.` → `inv c`. */
function wordsOf(header: string): string[] {
  const all = foldName(header)
    .split('_')
    .filter((word) => word !== '');
  const meaningful = all.filter((word, index) => index === 0 || !UNIT_WORDS.has(word));
  return meaningful.length === 0 ? all : meaningful;
}

/** An abbreviation begins the word that it stands for; what is left over counts against it. */
function fitOf(own: readonly string[], name: readonly string[]): number {
  if (own.join(' ') === name.join(' ')) return 1;
  const begins = own.length === name.length && own.every((word, index) => isBeginning(word, name[index] ?? ''));
  if (begins) return 0.85;
  const shared = name.filter((word) => own.includes(word)).length;
  // `datum zápisu` names a date, but not the one of the find.
  if (shared === name.length && (name[0]?.length ?? 0) > 2) return Math.max(0.5, 0.85 - 0.15 * (own.length - shared));
  const [first = ''] = own;
  return own.length === 1 && name.length === 1 && isTypingError(first, name[0] ?? '') ? 0.75 : 0;
}

function isBeginning(word: string, whole: string): boolean {
  return word === whole || (word !== '' && whole.startsWith(word));
}

function isTypingError(word: string, name: string): boolean {
  return Math.min(word.length, name.length) >= 5 && editDistance(word, name, 1) <= 1;
}
