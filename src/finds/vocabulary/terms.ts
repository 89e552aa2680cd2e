import { normalizeId } from '../../base/characters.ts';
import {
  createRowParser,
  isNumber,
  isText,
  makeMemberGuard,
  orNull,
} from '../../base/disk/database.ts';
import { DatabaseError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import {
  compareCzech,
  compareTexts,
  foldForSearch,
  markWordEdges,
  splitWords,
} from '../../base/names.ts';
import { makeFinderKey } from '../person-name.ts';
import { parsePolygon } from '../place/areas.ts';
import type { Term, TermDraft, Vocabulary } from './term.ts';

const COLUMNS = `terms.ident, terms.set_spec as setSpec, terms.label, terms.label_en as labelEn, terms.abbreviation,
  terms.description, terms.description_en as descriptionEn, terms.sort_order as sortOrder, terms.details,
  terms.datestamp_at as datestampMs, terms.gone, terms.gone_at as goneAtMs`;

const TERM = {
  ident: isText,
  setSpec: isText,
  label: isText,
  labelEn: orNull(isText),
  abbreviation: orNull(isText),
  description: orNull(isText),
  descriptionEn: orNull(isText),
  sortOrder: orNull(isNumber),
  details: isText,
  datestampMs: isNumber,
  gone: orNull(makeMemberGuard(['deleted', 'vanished'] as const)),
  goneAtMs: orNull(isNumber),
};
const parseTermRow = createRowParser(TERM);
type TermRow = ReturnType<typeof parseTermRow>;

/** @param rest of the query, behind `from` */
function selectTerms({ sql }: Vocabulary, rest: string, values: unknown): Term[] {
  return sql(`select ${COLUMNS} from ${rest}`).all(values).map(parseTermRow).map(toTerm);
}

/** Returns a term, also a deleted or vanished one; undefined where it was never harvested. */
export function findTermByIdent(vocabulary: Vocabulary, ident: string): Term | undefined {
  const values = [vocabulary.source, ident];
  return selectTerms(vocabulary, 'terms where source = ? and ident = ?', values)[0];
}

/**
 * Returns the term of a typed identifier, in any letter case and normalised by {@link normalizeId};
 * also a deleted or vanished term; undefined where none was harvested.
 */
export function findTermByTypedIdent(vocabulary: Vocabulary, typed: string): Term | undefined {
  const ident = normalizeId(typed);
  return (
    findTermByIdent(vocabulary, ident) ??
    findTermByIdent(vocabulary, ident.toUpperCase()) ??
    findTermByIdent(vocabulary, ident.toLowerCase())
  );
}

const parseNumberedTerm = createRowParser({ ...TERM, id: isNumber });

/** Returns terms of any source by row id, also those that are gone; unknown ids are left out. */
export function findTermsByRowId(
  vocabulary: Vocabulary,
  ids: readonly number[],
): Map<number, Term> {
  const rows = vocabulary
    .sql(`select terms.id, ${COLUMNS} from terms where id in (select value from json_each(?))`)
    .all(JSON.stringify(ids));
  return new Map(rows.map(parseNumberedTerm).map(({ id, ...row }) => [id, toTerm(row)]));
}

/**
 * Returns terms of any set, also those that are gone, that have this name: a label in Czech or
 * English, or another one such as an organisation's short name. Case and accents do not count.
 * People are found by {@link makeFinderKey} of their name as well.
 */
export function findTermsByName(vocabulary: Vocabulary, name: string): Term[] {
  return selectTerms(
    vocabulary,
    'names join terms on terms.id = names.term where names.folded = ? and terms.source = ?',
    [foldForSearch(name), vocabulary.source],
  );
}

/**
 * Returns people of a surname, sorted by identifier, without those who are gone.
 * @param surname as by {@link foldForSearch}
 */
export function listPeopleOfSurname(vocabulary: Vocabulary, surname: string): Term[] {
  // Names are stored as `surname, given name`. The cross join makes SQLite begin with their index.
  const from = `${surname}, `;
  return selectTerms(
    vocabulary,
    `names cross join terms on terms.id = names.term
     where names.folded >= ? and names.folded < ? and terms.source = ? and terms.set_spec = 'osoba' and terms.gone is null
     order by terms.ident`,
    [from, `${from}\u{10ffff}`, vocabulary.source],
  );
}

/**
 * Returns the present terms of a set, or of a family such as `heslo` set by set, in the order that
 * the service gives the set, else by Czech collation.
 */
export function listTermsOfSet(vocabulary: Vocabulary, set: string): Term[] {
  return selectTerms(
    vocabulary,
    `terms where source = :source and (set_spec = :set or set_spec glob :set || ':*') and gone is null
     order by ident`,
    { source: vocabulary.source, set },
  ).sort((a, b) => compareTexts(a.setSpec, b.setSpec) || compareInSet(a, b));
}

type SortKey = { readonly sortOrder: number | null; readonly label: string };

function compareInSet(a: SortKey, b: SortKey): number {
  return (a.sortOrder ?? 0) - (b.sortOrder ?? 0) || compareCzech(a.label, b.label);
}

const NEIGHBOUR = { ident: isText, label: isText, kind: isText };
const parseNeighbour = createRowParser(NEIGHBOUR);
/** A term directly above or below another one, and the kind of their relation. */
export type Neighbour = ReturnType<typeof parseNeighbour>;

/**
 * Returns the terms directly above a term, sorted by identifier; one that was not harvested has an
 * empty label. Returns no term for an unknown one.
 */
export function listDirectSuperiors(vocabulary: Vocabulary, ident: string): Neighbour[] {
  return vocabulary
    .sql(
      `select superiors.superior as ident, coalesce(above.label, '') as label, superiors.kind
       from terms join superiors on superiors.term = terms.id
       left join terms as above on above.source = terms.source and above.ident = superiors.superior
       where terms.source = ? and terms.ident = ? order by superiors.superior`,
    )
    .all(vocabulary.source, ident)
    .map(parseNeighbour);
}

const parseInferior = createRowParser({ ...NEIGHBOUR, sortOrder: orNull(isNumber) });

/** Returns the present terms directly below a term, in the order of {@link listTermsOfSet}. */
export function listInferiors(vocabulary: Vocabulary, ident: string): Neighbour[] {
  const below = vocabulary
    .sql(
      `select terms.ident, terms.label, superiors.kind, terms.sort_order as sortOrder from superiors join terms on terms.id = superiors.term
       where superiors.superior = ? and terms.source = ? and terms.gone is null `,
    )
    .all(ident, vocabulary.source);
  return below
    .map(parseInferior)
    .sort(compareInSet)
    .map(({ sortOrder: _order, ...neighbour }) => neighbour);
}

/**
 * Returns the terms above a term, from the topmost to its direct superior; of several superiors
 * the first by identifier is followed. One that is not stored has the label '' and ends the way up.
 * Empty without a superior. A circle of superiors ends before it repeats a term.
 */
export function listTermsAbove(vocabulary: Vocabulary, ident: string): Neighbour[] {
  const path: Neighbour[] = [];
  const seen = new Set([ident]);
  let [above] = listDirectSuperiors(vocabulary, ident);
  while (above !== undefined && !seen.has(above.ident)) {
    seen.add(above.ident);
    path.unshift(above);
    [above] = listDirectSuperiors(vocabulary, above.ident);
  }
  return path;
}

function toTerm({ details, ...row }: TermRow): Term {
  return { ...row, details: JSON.parse(details) };
}

/**
 * Stores a term with its names, words, superiors and boundary in place of all that was stored of
 * it, even with a newer datestamp, or as gone. Must run inside `Vocabulary.change`.
 * @param datestampMs of the record, milliseconds since 1970 UTC
 */
export function storeTerm(vocabulary: Vocabulary, draft: TermDraft, datestampMs: number): void {
  const { sql, source } = vocabulary;
  const existingId = sql('select id from terms where source = ? and ident = ?')
    .pluck()
    .get(source, draft.ident);
  if (existingId !== undefined) deleteParts(vocabulary, Number(existingId));
  const { lastInsertRowid } = vocabulary
    .sql(
      `insert into terms (source, ident, set_spec, label, label_en, abbreviation, description, description_en, sort_order,
         details, datestamp_at)
       values (:source, :ident, :setSpec, :label, :labelEn, :abbreviation, :description, :descriptionEn, :sortOrder,
         :details, :datestampMs)
       on conflict (source, ident) do update set set_spec = excluded.set_spec, label = excluded.label,
         label_en = excluded.label_en, abbreviation = excluded.abbreviation, description = excluded.description,
         description_en = excluded.description_en, sort_order = excluded.sort_order, details = excluded.details,
         datestamp_at = excluded.datestamp_at, gone = null, gone_at = null`,
    )
    .run({ ...draft, source, details: JSON.stringify(draft.details), datestampMs });
  const id = Number(existingId ?? lastInsertRowid);
  storeSuperiors(vocabulary, id, draft);
  const names = foldNames(draft);
  storeNames(vocabulary, id, names);
  storeWords(vocabulary, id, draft, names);
  storeBoundary(vocabulary, id, draft.boundary);
}

/**
 * Stores a term whose content the service hides from this account, with its identifier as label.
 * One that was stored before keeps its content and datestamp, and is no longer gone. Must run
 * inside `Vocabulary.change`.
 */
export function storeHiddenTerm(
  vocabulary: Vocabulary,
  ident: string,
  setSpec: string,
  datestampMs: number,
): void {
  vocabulary
    .sql(
      `insert into terms (source, ident, set_spec, label, details, datestamp_at)
       values (:source, :ident, :setSpec, :ident, '{"hidden":true}', :datestampMs)
       on conflict (source, ident) do update set gone = null, gone_at = null`,
    )
    .run({ source: vocabulary.source, ident, setSpec, datestampMs });
}

/**
 * Stores that a term is gone, so that finds which use it are reported. The term keeps its content;
 * one that was never stored gets its identifier as label, since a deleted record has nothing else.
 * Must run inside `Vocabulary.change`.
 * @param gone `goneAtMs`: milliseconds since 1970 UTC, by the server's clock
 */
export function storeTombstone(
  vocabulary: Vocabulary,
  gone: {
    readonly ident: string;
    readonly setSpec: string;
    readonly goneAtMs: number;
    readonly why: 'deleted' | 'vanished';
  },
): void {
  vocabulary
    .sql(
      `insert into terms (source, ident, set_spec, label, details, datestamp_at, gone, gone_at)
       values (:source, :ident, :setSpec, :ident, '{}', :goneAtMs, :why, :goneAtMs)
       on conflict (source, ident) do update set gone = excluded.gone, gone_at = excluded.gone_at,
         datestamp_at = excluded.datestamp_at`,
    )
    .run({ source: vocabulary.source, ...gone });
}

/** Deletes the data of a term in the other tables. */
function deleteParts(vocabulary: Vocabulary, term: number): void {
  for (const table of ['superiors', 'names', 'term_words', 'areas', 'area_boxes'])
    vocabulary.sql(`delete from ${table} where term = ?`).run(term);
}

function storeSuperiors(vocabulary: Vocabulary, term: number, { superiors }: TermDraft): void {
  const insert = vocabulary.sql(
    'insert or ignore into superiors (term, superior, kind) values (?, ?, ?)',
  );
  for (const { ident, kind } of superiors) insert.run(term, ident, kind);
}

type FoldedText = { readonly folded: string; readonly weight: number };

/** Returns all names that suffice to name a term, without case and accents. */
function foldNames({ setSpec, label, labelEn, otherNames }: TermDraft): FoldedText[] {
  const names = [
    foldText(label, 3),
    foldText(setSpec === 'osoba' ? makeFinderKey(label) : null, 3),
    foldText(labelEn, 3),
    ...otherNames.map((name) => foldText(name, 2)),
  ];
  return names.filter(({ folded }) => folded !== '');
}

function foldText(text: string | null, weight: number): FoldedText {
  return { folded: foldForSearch(text ?? ''), weight };
}

function storeNames(vocabulary: Vocabulary, term: number, names: readonly FoldedText[]): void {
  const insert = vocabulary.sql('insert or ignore into names (folded, term) values (?, ?)');
  for (const { folded } of names) insert.run(folded, term);
}

/** A word that occurs in several places of a term has the largest weight. */
function storeWords(
  vocabulary: Vocabulary,
  term: number,
  draft: TermDraft,
  names: readonly FoldedText[],
): void {
  const weights = new Map<string, number>();
  const { abbreviation, description, descriptionEn } = draft;
  for (const { folded, weight } of [
    ...names,
    foldText(abbreviation, 2),
    foldText(description, 1),
    foldText(descriptionEn, 1),
  ]) {
    for (const word of splitWords(folded))
      weights.set(word, Math.max(weight, weights.get(word) ?? 0));
  }
  const insert = vocabulary.sql('insert into term_words (word, term, weight) values (?, ?, ?)');
  for (const [word, weight] of weights)
    insert.run(getOrCreateWordId(vocabulary, word), term, weight);
}

function getOrCreateWordId(vocabulary: Vocabulary, word: string): number {
  const seenId = vocabulary.wordIds.get(word);
  if (seenId !== undefined) return seenId;
  const storedId = vocabulary.sql('select id from words where text = ?').pluck().get(word);
  const id = Number(
    storedId ?? vocabulary.sql('insert into words (text) values (?)').run(word).lastInsertRowid,
  );
  if (storedId === undefined)
    vocabulary
      .sql('insert into word_grams (rowid, word) values (?, ?)')
      .run(id, markWordEdges(word));
  vocabulary.wordIds.set(word, id);
  return id;
}

/** An unreadable boundary is left out, so that only the service checks the find's area. */
function storeBoundary(vocabulary: Vocabulary, term: number, boundary: string | null): void {
  if (boundary === null) return;
  let box: ReturnType<typeof parsePolygon>['box'];
  try {
    box = parsePolygon(boundary).box;
  } catch (thrown) {
    if (thrown instanceof RangeError) return;
    throw thrown;
  }
  vocabulary.sql('insert into areas (term, boundary) values (?, ?)').run(term, boundary);
  vocabulary
    .sql('insert into area_boxes values (?, ?, ?, ?, ?)')
    .run(term, box.minX, box.maxX, box.minY, box.maxY);
}

const parseSetCount = createRowParser({ setSpec: isText, terms: isNumber, gone: isNumber });
type SetCount = ReturnType<typeof parseSetCount>;

/**
 * Counts the terms of each set that has any, sorted by set: `terms` are present, `gone` deleted or
 * vanished.
 */
export function countTermsBySet(vocabulary: Vocabulary): SetCount[] {
  return vocabulary
    .sql(
      `select set_spec as setSpec, sum(gone is null) as terms, sum(gone is not null) as gone
       from terms where source = ? group by set_spec order by set_spec`,
    )
    .all(vocabulary.source)
    .map(parseSetCount);
}

/** Tells if a set is the queried one or belongs to it as a family, as `heslo:obdobi` to `heslo`. */
export function isInSet(setSpec: string, query: string): boolean {
  return setSpec === query || setSpec.startsWith(`${query}:`);
}

const parseHarvest = createRowParser({
  id: isNumber,
  setSpec: isText,
  /** Start of the last complete pass by the server's clock; later changes are not stored yet. */
  watermarkMs: orNull(isNumber),
  /** End of the last complete pass by this machine's clock. */
  completedAtMs: orNull(isNumber),
  unfinished: isNumber,
});

type VocabularyHarvest = Omit<ReturnType<typeof parseHarvest>, 'unfinished'> & {
  readonly unfinished: boolean;
};

/**
 * Returns the harvests of this source, one for each set or family that was begun, by its name;
 * `unfinished`: a pass was begun and is not complete.
 */
export function listVocabularyHarvests({ sql, source }: Vocabulary): VocabularyHarvest[] {
  const rows = sql(
    `select id, set_spec as setSpec, watermark_at as watermarkMs, completed_at as completedAtMs,
       pass is not null as unfinished from harvests where source = ? order by set_spec`,
  ).all(source);
  return rows.map(parseHarvest).map((row) => ({ ...row, unfinished: row.unfinished === 1 }));
}

/** Tells if a set was completely harvested at least once, itself or as part of its family. */
export function isSetHarvested(vocabulary: Vocabulary, setSpec: string): boolean {
  return listVocabularyHarvests(vocabulary).some(
    (harvest) => harvest.completedAtMs !== null && isInSet(setSpec, harvest.setSpec),
  );
}

/** A harvest by its row id, and its latest run. */
type HarvestRun = { readonly id: number; readonly run: number };

/**
 * Begins a run of the harvest of a set or family, which is stored at its first use; then
 * {@link assertLatestRun} throws for all earlier runs. Where the subject changed, the harvest
 * begins anew, without rights, watermark and unfinished pass: another account or endpoint sees
 * other records, which a list of changes would not show. Must run inside `Vocabulary.change`.
 * @param subject `{version} {account} {format}`, with an empty account for an anonymous harvest
 */
export function beginVocabularyHarvest(
  { sql, source }: Vocabulary,
  setSpec: string,
  subject: string,
): HarvestRun {
  sql('insert into harvests (source, set_spec) values (?, ?) on conflict do nothing').run(
    source,
    setSpec,
  );
  const id = Number(
    sql('select id from harvests where source = ? and set_spec = ?').pluck().get(source, setSpec),
  );
  sql(
    'update harvests set subject = :subject, rights = null, watermark_at = null, pass = null where id = :id and subject <> :subject',
  ).run({ id, subject });
  const run = sql('update harvests set runs = runs + 1 where id = ? returning runs')
    .pluck()
    .get(id);
  return { id, run: Number(run) };
}

/**
 * Returns the account for which a set is kept up to date by harvests of changes, empty for an
 * anonymous one. Undefined where the next harvest must be a complete one: there was none yet, or
 * its account, endpoint or rights changed.
 */
export function findAccountOfHarvest(
  { sql, source }: Vocabulary,
  setSpec: string,
): string | undefined {
  const subject = sql(
    'select subject from harvests where source = ? and set_spec = ? and watermark_at is not null',
  )
    .pluck()
    .get(source, setSpec);
  return typeof subject === 'string' ? subject.split(' ').slice(1, -1).join(' ') : undefined;
}

/**
 * Asserts that no process has begun a run of the harvest since this one; each would overwrite the
 * position of the other.
 * @throws DatabaseError where one has
 */
export function assertLatestRun(vocabulary: Vocabulary, { id, run }: HarvestRun): void {
  const latest = vocabulary.sql('select runs from harvests where id = ?').pluck().get(id);
  if (latest === run) return;
  throw new DatabaseError(msg`${vocabulary.path}: another pas has taken over this harvest.`, {
    hint: msg`Nothing is lost: run the command again when the other one is done.`,
    passing: true,
  });
}

/**
 * Stores that terms have vanished, as {@link storeTombstone} does, since a complete pass did not
 * list them. Must run inside `Vocabulary.change`.
 * @param beganMs beginning of the pass by the server's clock, milliseconds since 1970 UTC
 */
export function storeVanishedTerms(
  vocabulary: Vocabulary,
  vanished: readonly Term[],
  beganMs: number,
): void {
  for (const { ident, setSpec, datestampMs } of vanished) {
    // A tombstone is not older than the term's own last change.
    const goneAtMs = Math.max(datestampMs, beganMs);
    storeTombstone(vocabulary, { ident, setSpec, goneAtMs, why: 'vanished' });
  }
}
