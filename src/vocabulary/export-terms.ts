import { BYTE_ORDER_MARK, formatCsvCell } from '../text/csv.ts';
import type { Superior, Term } from './term.ts';

export type ExportedTerm = Term & { readonly superiors: readonly Superior[] };

const CSV_HEADER = [
  'id',
  'set',
  'label',
  'label_en',
  'abbreviation',
  'description',
  'description_en',
  'order',
  'superiors',
  'year_from_min',
  'year_from_max',
  'year_to_min',
  'year_to_max',
  'changed_at',
  'gone',
] as const;

/**
 * Yields lines of a CSV table for spreadsheets: UTF-8 with byte order mark, comma, quoted where
 * needed.
 */
export function* formatTermCsv(terms: Iterable<ExportedTerm>): Generator<string> {
  yield `${BYTE_ORDER_MARK}${CSV_HEADER.join(',')}`;
  for (const term of terms) {
    const { dating } = term.details;
    const cells = [
      term.ident,
      term.setSpec,
      term.label,
      term.labelEn,
      term.abbreviation,
      term.description,
      term.descriptionEn,
      term.sortOrder,
      term.superiors.map(({ ident }) => ident).join(' '),
      dating?.fromMin,
      dating?.fromMax,
      dating?.toMin,
      dating?.toMax,
      new Date(term.datestampMs).toISOString(),
      term.gone,
    ];
    yield cells.map((cell) => formatCsvCell(cell)).join(',');
  }
}

const TURTLE_HEAD = [
  '@prefix skos: <http://www.w3.org/2004/02/skos/core#> .',
  '@prefix dct: <http://purl.org/dc/terms/> .',
  '@prefix owl: <http://www.w3.org/2002/07/owl#> .',
  '@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .',
];

/** SKOS relations of links; any other relation is written as a plain reference. */
const SKOS_RELATION = /^skos:(exactMatch|closeMatch|broadMatch|narrowMatch|relatedMatch)$/;

/** Yields lines of SKOS in Turtle: a concept scheme for each set, a concept for each term. */
export function* formatTurtle(terms: Iterable<ExportedTerm>, oaiBase: string): Generator<string> {
  yield* TURTLE_HEAD;
  const schemes = new Set<string>();
  for (const term of terms) {
    const scheme = formatIri(`${oaiBase}/set/${term.setSpec}`);
    if (schemes.size !== schemes.add(term.setSpec).size) {
      yield '';
      yield `${scheme} a skos:ConceptScheme ; dct:identifier ${formatLiteral(term.setSpec)} .`;
    }
    yield '';
    yield `${formatConcept(oaiBase, term.ident)} a skos:Concept ;`;
    const properties = [...listProperties(term, oaiBase, scheme)];
    yield properties.map((property) => `  ${property}`).join(' ;\n') + ' .';
  }
}

function* listProperties(term: ExportedTerm, oaiBase: string, scheme: string): Generator<string> {
  yield `skos:inScheme ${scheme}`;
  yield `skos:notation ${formatLiteral(term.ident)}`;
  yield `skos:prefLabel ${formatLiteral(term.label, 'cs')}`;
  if (term.labelEn !== null) yield `skos:prefLabel ${formatLiteral(term.labelEn, 'en')}`;
  if (term.abbreviation !== null) yield `skos:altLabel ${formatLiteral(term.abbreviation, 'cs')}`;
  if (term.description !== null) yield `skos:definition ${formatLiteral(term.description, 'cs')}`;
  if (term.descriptionEn !== null)
    yield `skos:definition ${formatLiteral(term.descriptionEn, 'en')}`;
  for (const { ident } of term.superiors) yield `skos:broader ${formatConcept(oaiBase, ident)}`;
  for (const { uri, relation } of term.details.links ?? []) {
    if (uri !== null && URL.canParse(uri))
      yield `${SKOS_RELATION.test(relation) ? relation : 'dct:references'} ${formatIri(uri)}`;
  }
  yield `dct:modified "${new Date(term.datestampMs).toISOString()}"^^xsd:dateTime`;
  if (term.gone !== null) yield 'owl:deprecated true';
}

function formatConcept(oaiBase: string, ident: string): string {
  return formatIri(`${oaiBase}/id/${ident}`);
}

/** Escapes an address (Turtle 1.1, production IRIREF). */
function formatIri(address: string): string {
  return `<${address.replace(/[\u0000-\u0020<>"{}|^`\\]/g, (character) => encodeURIComponent(character))}>`;
}

/** Escapes a literal (Turtle 1.1, section 6.4). */
function formatLiteral(text: string, language?: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(
      /[\n\r\t]/g,
      (character) => ({ '\n': '\\n', '\r': '\\r', '\t': '\\t' })[character] ?? character,
    );
  return `"${escaped}"${language === undefined ? '' : `@${language}`}`;
}
