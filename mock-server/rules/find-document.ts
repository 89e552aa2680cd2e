import type { XmlDocument } from 'libxml2-wasm';
import { type Addresses, getNamespace, getXsdAddress, NEWEST_VERSION } from '../base/addresses.ts';
import type { Say } from '../base/messages.ts';
import { collapseWhiteSpace, trimText } from '../base/white-space.ts';
import { findChild, findNamespaceOnRoot, type XmlTree } from '../base/xml-tree.ts';
import type { Mock } from '../state/mock.ts';
import { type FindGeometry, type GeomSystem, parseFindPoint } from '../state/records/geometry.ts';
import { assertNoProblems, makeProblem, makeRefusal } from './refusal.ts';

/**
 * Parsed, unresolved values of an import document. Absent, empty and blank values are undefined.
 */
export type FindDocument = {
  /** Line of the find's start tag, for findings without a line of their own. */
  readonly line: number;
  readonly evidencni_cislo: string | undefined;
  readonly projekt: string;
  readonly hloubka: string | undefined;
  readonly entries: Readonly<Record<VocabularyElement, string | undefined>>;
  readonly presna_datace: string | undefined;
  readonly pocet: string | undefined;
  readonly poznamka: string | undefined;
  readonly nalezce: Finder | undefined;
  readonly datum_nalezu: string | undefined;
  readonly stav: 1 | 2 | 3;
  readonly predano: boolean;
  readonly predano_organizace: string | undefined;
  readonly geom_system: GeomSystem;
  readonly lokalizace: string | undefined;
  readonly geometry: FindGeometry | undefined;
};

/** Vocabulary (`nazev_heslare`) whose entries an element may have. */
export const VOCABULARY_OF_ELEMENT = {
  okolnosti: 'nalezove_okolnosti',
  obdobi: 'obdobi',
  druh_nalezu: 'predmet_druh',
  specifikace: 'predmet_specifikace',
  pristupnost: 'pristupnost',
} as const;
export type VocabularyElement = keyof typeof VOCABULARY_OF_ELEMENT;

/** A finder by identifier, or a person to be created if no equal one is known (A-FIELD-16). */
export type Finder =
  | { readonly kind: 'known'; readonly id: string; readonly line: number }
  | {
      readonly kind: 'new';
      readonly surname: string;
      readonly givenName: string;
      readonly line: number;
    };

/**
 * Returns the one find of a document, the root's only child (A-IMPORT-4, step 7).
 * @throws HttpError 400, 422
 */
export function requireOneFind(root: XmlTree, say: Say): XmlTree {
  if (root.children.length === 0 && !root.hasOtherNodes) throw makeRefusal(400, say('root-empty'));
  const finds = root.children.filter((entity) => entity.name === 'samostatny_nalez');
  if (finds.length > 1) throw makeRefusal(422, say('root-many'));
  const find = finds[0];
  if (find === undefined || root.children.length > 1 || root.hasOtherNodes)
    throw makeRefusal(422, say('root-content'));
  return find;
}

/**
 * Parses a find (A-IMPORT-4, steps 8 to 13, each refused alone).
 * @throws HttpError 422
 */
export function parseFindDocument(find: XmlTree, say: Say, deployed: boolean): FindDocument {
  const getText = (name: string) => getTextOf(findChild(find, name));
  const nalezce = parseFinder(findChild(find, 'nalezce'), say);
  const projekt = getIdOf(findChild(find, 'projekt'));
  if (projekt === undefined) return throwFieldError(find.line, 'projekt', say('project-empty'));
  const ident = findChild(find, 'ident_cely');
  if (![':tba', undefined].includes(getTextOf(ident)))
    return throwFieldError(ident?.line, 'ident_cely', say('ident-not-tba'));
  const stav = Number(getText('stav'));
  if (stav !== 1 && stav !== 2 && stav !== 3)
    return throwFieldError(findChild(find, 'stav')?.line, 'stav', say('state-range'));
  const system = getText('geom_system');
  if (system !== '4326' && system !== '5514') {
    return throwFieldError(findChild(find, 'geom_system')?.line, 'geom_system', say('geom-system'));
  }
  const guarded = findChild(find, 'chranene_udaje');
  return {
    line: find.line,
    nalezce,
    projekt,
    stav,
    geom_system: system,
    geometry: parseSelectedGeometry(guarded, system, say, deployed),
    lokalizace: getTextOf(findChild(guarded, 'lokalizace')),
    evidencni_cislo: getText('evidencni_cislo'),
    hloubka: getText('hloubka'),
    presna_datace: getText('presna_datace'),
    pocet: getText('pocet'),
    poznamka: getText('poznamka'),
    datum_nalezu: getText('datum_nalezu'),
    predano: ['true', '1'].includes(getText('predano') ?? ''),
    predano_organizace: getIdOf(findChild(find, 'predano_organizace')),
    entries: {
      okolnosti: getIdOf(findChild(find, 'okolnosti')),
      obdobi: getIdOf(findChild(find, 'obdobi')),
      druh_nalezu: getIdOf(findChild(find, 'druh_nalezu')),
      specifikace: getIdOf(findChild(find, 'specifikace')),
      pristupnost: getIdOf(findChild(find, 'pristupnost')),
    },
  };
}

/**
 * Parses a finder: with `:tba` the text `Surname, Given name`, split at the first comma; else only
 * the id.
 */
function parseFinder(element: XmlTree | undefined, say: Say): Finder | undefined {
  const id = getIdOf(element);
  if (element === undefined || id === undefined) return undefined;
  if (id !== ':tba') return { kind: 'known', id, line: element.line };
  const comma = element.text.indexOf(',');
  const surname = trimText(element.text.slice(0, Math.max(0, comma)));
  const givenName = collapseWhiteSpace(element.text.slice(comma + 1));
  if (comma < 0 || surname === '' || givenName === '')
    return throwFieldError(element.line, 'nalezce', say('finder-text'));
  return { kind: 'new', surname, givenName, line: element.line };
}

function parseSelectedGeometry(
  guarded: XmlTree | undefined,
  system: GeomSystem,
  say: Say,
  deployed: boolean,
): FindGeometry | undefined {
  const name = system === '4326' ? 'geom_wkt' : 'geom_sjtsk_wkt';
  const element = findChild(guarded, name);
  if (element === undefined) return undefined;
  // The contract fixes the attribute; the deployed service does not compare it (A-POINT-3).
  if (!deployed && Number(element.attributes.get('EPSG')) !== Number(system)) {
    return throwFieldError(element.line, name, say('wkt-epsg', system));
  }
  // An absent geometry is none; a blank one is malformed, except on the deployed service
  // (A-POINT-10).
  if (deployed && element.text === '') return undefined;
  const geometry = parseFindPoint(element.text, system, deployed);
  return typeof geometry === 'string'
    ? throwFieldError(element.line, name, say(geometry))
    : geometry;
}

function throwFieldError(line: number | undefined, field: string, text: string): never {
  assertNoProblems([makeProblem(line ?? null, field, text)]);
  throw new Error('a problem refuses');
}

function getTextOf(element: XmlTree | undefined): string | undefined {
  return element === undefined || element.text === '' ? undefined : element.text;
}

/** Returns the unchanged attribute: texts are trimmed, references are not (A-VALUE-1). */
function getIdOf(element: XmlTree | undefined): string | undefined {
  return element?.attributes.get('id') || undefined;
}

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';

/**
 * Checks the declared schema: the service's prefix bound on the root, and the exact pair in
 * `xsi:schemaLocation` (A-DECLARE-2, A-DECLARE-3). Pairs of other namespaces are ignored.
 * @param used addresses by which the client reached the server; the server's own are accepted as
 * well
 * @returns the addresses in the document
 * @throws HttpError 422
 */
export function checkDeclaration(
  mock: Mock,
  used: Addresses,
  document: XmlDocument,
  say: Say,
): Addresses {
  const { prefix } = used;
  const bound = findNamespaceOnRoot(document, prefix);
  const named = [used, mock.addresses].find(
    (addresses) => getNamespace(addresses, NEWEST_VERSION) === bound,
  );
  if (named === undefined)
    throw makeRefusal(422, say('schema-prefix', prefix, getNamespace(used, NEWEST_VERSION)));
  const xsd = getXsdAddress(named, NEWEST_VERSION);
  const location = document.root.attrs.find(
    (attribute) => attribute.name === 'schemaLocation' && attribute.namespaceUri === XSI,
  )?.value;
  const tokens = (location ?? '').split(/\s+/).filter((token) => token !== '');
  if (tokens.length === 0) throw makeRefusal(422, say('schema-location-missing'));
  if (tokens.length % 2 === 1) throw makeRefusal(422, say('schema-location-odd'));
  const pairs = tokens.flatMap((token, index) =>
    index % 2 === 0 ? [[token, tokens[index + 1]]] : [],
  );
  // The last pair of a namespace counts.
  const declared = pairs.findLast(([name]) => name === bound)?.[1];
  if (declared !== xsd) throw makeRefusal(422, say('schema-location-wrong', xsd));
  const allowed = mock.settings.allowed_schema_versions;
  // An empty list does not restrict.
  const isRefused = allowed !== null && allowed.length > 0 && !allowed.includes(NEWEST_VERSION);
  if (isRefused) throw makeRefusal(422, say('schema-version', NEWEST_VERSION));
  return named;
}
