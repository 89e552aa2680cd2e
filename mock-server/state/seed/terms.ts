import {
  array,
  filledTexts,
  integer,
  object,
  optional,
  optionalTexts,
  type Reader,
  ShapeError,
  text,
} from '../../base/shape.ts';
import { orderChildren } from '../records/child-order.ts';
import type { Body } from '../records/record.ts';
import { makeLanguageText, type References } from './references.ts';
import { runAtRow, type SeedRow } from './seed-files.ts';

const oneOrMore: Reader<string | readonly string[]> = (value, place) =>
  Array.isArray(value) ? array(text({ min: 1 }))(value, place) : text({ min: 1 })(value, place);

/** In the order of the schema. */
const link = object({
  zdroj: text(),
  nazev_kodu: text(),
  kod: text(),
  ...optionalTexts('uri', 'scheme_uri'),
  skos_mapping_relation: text(),
});

/**
 * One entry of `vocabularies/<name>.json`; its order in the vocabulary is that of the file by
 * default.
 */
const term = object({
  ...filledTexts('ident_cely', 'heslo', 'heslo_en'),
  ...optionalTexts('popis', 'popis_en', 'zkratka', 'datestamp', 'deleted'),
  razeni: optional(integer({})),
  /** Superior entries. */
  nadrazene: optional(oneOrMore),
  /** Years: earliest and latest beginning, earliest and latest end. */
  datace: optional(array(integer({}))),
  odkaz: optional(array(link)),
  dokument_typ_material_rada: optional(array(array(text()))),
});
type Term = ReturnType<typeof term>;

/** A term with its vocabulary and its place in it. */
export type PlacedTerm = {
  readonly row: SeedRow;
  readonly vocabulary: string;
  readonly order: number;
  readonly term: Term;
};

/**
 * Parses a term; without `razeni`, its position from 1 is its order.
 * @throws SeedError for an invalid value
 */
export function parseTermRow(row: SeedRow, vocabulary: string, index: number): PlacedTerm {
  const values = runAtRow(row, () => term(row.value));
  if (values.datace !== undefined && values.datace.length !== 4) {
    runAtRow(row, () => {
      throw new ShapeError(
        'datace',
        'needs four years: earliest and latest beginning, earliest and latest end',
      );
    });
  }
  return { row, vocabulary, order: values.razeni ?? index + 1, term: values };
}

/** Makes the bodies of all terms, with each relation in both of its terms. */
export function makeTermBodies(
  terms: readonly PlacedTerm[],
  references: References,
): Map<PlacedTerm, Body> {
  const above = new Map<string, Body[]>();
  const below = new Map<string, Body[]>();
  for (const { row, term } of terms) {
    for (const superior of [term.nadrazene ?? []].flat()) {
      const id = references.makeNumberedId('hier');
      const typ = makeLanguageText('cs', 'podřízenost');
      const upper = runAtRow(row, () => references.to(superior, 'nadrazene'));
      push(above, term.ident_cely, { id, heslo_nadrazene: upper, typ });
      push(below, superior, { id, heslo_podrazene: references.to(term.ident_cely, ''), typ });
    }
  }
  return new Map(
    terms.map((placed) => [
      placed,
      runAtRow(placed.row, () => makeTermBody(placed, above, below, references)),
    ]),
  );
}

function push(lists: Map<string, Body[]>, key: string, item: Body): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function makeTermBody(
  { vocabulary, order, term }: PlacedTerm,
  above: RelatedTerms,
  below: RelatedTerms,
  references: References,
): Body {
  const { popis, popis_en, zkratka, datace, odkaz, dokument_typ_material_rada: documents } = term;
  return orderChildren('heslo', {
    ident_cely: term.ident_cely,
    nazev_heslare: makeLanguageText('cs', vocabulary),
    heslo: makeLanguageText('cs', term.heslo),
    heslo_en: makeLanguageText('en', term.heslo_en),
    popis: popis && makeLanguageText('cs', popis),
    popis_en: popis_en && makeLanguageText('en', popis_en),
    zkratka: zkratka && makeLanguageText('cs', zkratka),
    razeni: String(order),
    hierarchie_vyse: above.get(term.ident_cely),
    hierarchie_nize: below.get(term.ident_cely),
    dokument_typ_material_rada: documents?.map((pair) => makeDocumentPair(pair, references)),
    datace: datace && makeDating(datace),
    odkaz: odkaz?.map((one) => ({ id: references.makeNumberedId('hodk'), ...one })),
  });
}

type RelatedTerms = ReadonlyMap<string, readonly Body[]>;

function makeDocumentPair(
  [kind = '', material = '']: readonly string[],
  references: References,
): Body {
  const place = 'dokument_typ_material_rada';
  return {
    id: references.makeNumberedId('hdtm'),
    dokument_typ: references.to(kind, place),
    dokument_material: references.to(material, place),
  };
}

function makeDating(years: readonly number[]): Body {
  const names = ['rok_od_min', 'rok_od_max', 'rok_do_min', 'rok_do_max'];
  return Object.fromEntries(names.map((name, index) => [name, String(years[index])]));
}
