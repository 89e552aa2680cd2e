import { join } from 'node:path';
import { normalizeId } from '../../base/characters.ts';
import type { Clock } from '../../base/clock.ts';
import { memoize } from '../../base/collections.ts';
import {
  type Database,
  guardDatabase,
  isNumber,
  migrateDatabase,
  openPreparedDatabase,
  parseValue,
  toDatabaseError,
} from '../../base/disk/database.ts';
import {
  canAbbreviate,
  compareCzech,
  computeEditDistance,
  splitNameWords,
} from '../../base/names.ts';
import { packageRoot } from '../../base/own-files.ts';
import type {
  LookupArea,
  LookupProject,
  LookupTerm,
  ProjectLookupResult,
  TermCandidate,
  TermLookupResult,
} from '../find.ts';
import { makeFinderKey } from '../person-name.ts';
import { type BoundingBox, isInPolygon, type Polygon, parsePolygon } from '../place/areas.ts';
import { searchTerms } from './search.ts';
import type { Term, TermDetails, Vocabulary } from './term.ts';
import {
  findAccountOfHarvest,
  findTermByIdent,
  findTermByTypedIdent,
  findTermsByName,
  findTermsByRowId,
  isInSet,
  isSetHarvested,
  listPeopleOfSurname,
  listTermsOfSet,
} from './terms.ts';

const IDENTIFIER = /^(?:[A-Z]{1,4}-\d{6}|ruian-\d{2,6})$/i;
const MAX_CANDIDATES = 5;

/** Size up to which all entries of a set are offered in place of an unknown one. */
const MAX_SMALL_SET = 10;

/** A search takes milliseconds, and so many unknown texts of a table are no slips of the pen. */
const MAX_SEARCHES = 300;

type Search = (typed: string, setSpec: string) => readonly Term[];

/**
 * Makes a lookup by identifier, else by Czech or English name; of people in any order of words. A
 * name is `not-harvested` until its whole set was harvested once, an identifier until it or the set
 * was. The user's own mappings do not count here. Results are cached; after {@link MAX_SEARCHES}
 * unknown names, no further one is searched for similar entries.
 */
export function makeTermLookup(vocabulary: Vocabulary): LookupTerm {
  const lookUpByName = makeNameLookup(vocabulary);
  const getLookup = memoize((setSpec: string) => {
    // The rest of a set may have another entry of the same name.
    const isComplete = isSetHarvested(vocabulary, setSpec);
    return memoize((text: string): TermLookupResult => {
      const cell = text.trim();
      if (IDENTIFIER.test(normalizeId(cell))) return lookUpByIdentifier(vocabulary, setSpec, cell);
      return isComplete ? lookUpByName(setSpec, cell) : { kind: 'not-harvested' };
    });
  });
  return (setSpec, text) => getLookup(setSpec)(text);
}

/** Makes a lookup by name in a set that was harvested; an unknown name gets the nearest terms. */
function makeNameLookup(vocabulary: Vocabulary): LookupTerm {
  const search = makeLimitedSearch(vocabulary);
  const findSmallSet = memoize((setSpec: string): readonly Term[] | undefined => {
    const all = listTermsOfSet(vocabulary, setSpec);
    return all.length <= MAX_SMALL_SET ? all : undefined;
  });
  return (setSpec, cell) => {
    const name = setSpec === PEOPLE_SET ? makeFinderKey(cell) : cell;
    const named = findTermsByName(vocabulary, name).filter((term) =>
      isInSet(term.setSpec, setSpec),
    );
    const lookup = chooseNamed(named, cell);
    if (lookup !== undefined) return lookup;
    const nearest =
      setSpec === PEOPLE_SET
        ? findNearestPeople(vocabulary, cell, search)
        : (findSmallSet(setSpec) ?? search(cell, setSpec));
    return { kind: 'unknown', nearest: nearest.map(toCandidate) };
  };
}

/** Makes a search that finds nothing any more after {@link MAX_SEARCHES} calls. */
function makeLimitedSearch(vocabulary: Vocabulary): Search {
  let searches = 0;
  return (typed, setSpec) => {
    searches += 1;
    if (searches > MAX_SEARCHES) return [];
    const hits = searchTerms(vocabulary, typed, { setSpec, limit: MAX_CANDIDATES });
    return hits.map(({ term }) => term);
  };
}

function lookUpByIdentifier(
  vocabulary: Vocabulary,
  setSpec: string,
  cell: string,
): TermLookupResult {
  const term = findTermByTypedIdent(vocabulary, cell);
  if (term === undefined)
    return isSetHarvested(vocabulary, setSpec)
      ? { kind: 'unknown', nearest: [] }
      : { kind: 'not-harvested' };
  if (!isInSet(term.setSpec, setSpec)) return { kind: 'wrong-set', term: toCandidate(term) };
  return { kind: term.gone === null ? 'found' : 'deleted', term: toCandidate(term) };
}

/** Chooses among the entries of one name those that are not gone, and the exact ones first. */
function chooseNamed(named: readonly Term[], cell: string): TermLookupResult | undefined {
  const alive = named.filter(({ gone }) => gone === null);
  // Entries that differ only in an accent are distinguished by a cell that has the accent.
  const text = cell.normalize('NFC').replace(/\s+/g, ' ').replace(/ ?, ?/, ', ');
  const exact = alive.filter(({ label, labelEn }) =>
    [label, labelEn, ...withoutComma(label)].includes(text),
  );
  const meant = exact.length > 0 ? exact : alive;
  const [only, another] = meant;
  if (only !== undefined)
    return another === undefined
      ? { kind: 'found', term: toCandidate(only) }
      : { kind: 'ambiguous', candidates: meant.map(toCandidate) };
  const [dead] = named;
  return dead && { kind: 'deleted', term: toCandidate(dead) };
}

function withoutComma(label: string): string[] {
  const [surname = '', givenName = ''] = label.split(/,(.*)/).map((part) => part.trim());
  return [`${surname} ${givenName}`, `${givenName} ${surname}`];
}

const MAX_NEAREST = 3;
const MAX_SHORTENED = 10;

/**
 * Returns people with an abbreviated name, else those with a similar name, then those of the same
 * surname and initial.
 */
function findNearestPeople(vocabulary: Vocabulary, name: string, search: Search): Term[] {
  const words = splitNameWords(name);
  const namesakes = words.flatMap((word) => listPeopleOfSurname(vocabulary, word));
  const shortened = namesakes.filter(({ label }) => canAbbreviate(name, label));
  if (shortened.length > 0) return shortened.slice(0, MAX_SHORTENED);
  const plain = words.join(' ');
  const limit = Math.max(1, Math.floor(plain.length / 4));
  // Thousands of words begin with the letter of an initial.
  const typed = words.filter(({ length }) => length > 1).join(' ');
  const close = search(typed, PEOPLE_SET)
    .map((term) => ({
      term,
      errors: computeEditDistance(plain, splitNameWords(term.label).join(' '), limit),
    }))
    .filter(({ errors }) => errors <= limit)
    .sort((a, b) => a.errors - b.errors)
    .map(({ term }) => term);
  const initials = words.map((word) => word[0]);
  const related = namesakes.filter(
    ({ label }) =>
      words.length === 1 || initials.includes(splitNameWords(label.split(',')[1] ?? '')[0]?.[0]),
  );
  const people = new Map([...close, ...related].map((term) => [term.ident, term]));
  return [...people.values()].slice(0, MAX_NEAREST);
}

function toCandidate({ ident, label, labelEn, setSpec, details }: Term): TermCandidate {
  return {
    id: ident,
    label,
    labelEn: labelEn ?? undefined,
    setSpec,
    about: describePerson(details),
  };
}

/** Returns the years of a person and the surname at birth; undefined where nothing is known. */
function describePerson({ facts = {} }: TermDetails): string | undefined {
  const { rok_narozeni: born = '', rok_umrti: died = '', rodne_prijmeni: bornAs = '' } = facts;
  const years = [born, died].join('–').replace(/–$/, '');
  const name = bornAs === '' ? '' : `roz. ${bornAs}`;
  return [years, name].filter((part) => part !== '').join(', ') || undefined;
}

const PEOPLE_SET = 'osoba';
const PROJECT_SET = 'projekt';

/**
 * Makes a cached lookup of projects. One that vanished from the list counts as unknown. The `list`
 * of an unknown project is absent where the harvest may lack projects that the account can see;
 * then the rules only warn of it.
 * @param account for which this command would harvest, empty for an anonymous one; undefined where
 * it is not known, which counts as another one than that of the last harvest
 */
export function makeProjectLookup(vocabulary: Vocabulary, account?: string): LookupProject {
  return memoize((ident: string): ProjectLookupResult => {
    const term = findTermByIdent(vocabulary, ident.trim());
    // A vanished project may only be invisible to the account that harvested last.
    if (term === undefined || term.setSpec !== PROJECT_SET || term.gone === 'vanished') {
      return isSetHarvested(vocabulary, PROJECT_SET)
        ? { kind: 'unknown', ...findHarvestedList(vocabulary, account) }
        : { kind: 'not-harvested' };
    }
    if (term.gone === 'deleted') return { kind: 'deleted' };
    const { hidden, survey, facts = {} } = term.details;
    if (hidden === true || survey === undefined) return { kind: 'hidden' };
    return {
      kind: 'found',
      survey,
      type: facts['typ_projektu'] ?? '',
      stav: facts['stav'] === undefined ? null : Number(facts['stav']),
      organisation: facts['organizace'] ?? '',
    };
  });
}

/** A service that lists hidden records lists all projects. */
function findHarvestedList(
  vocabulary: Vocabulary,
  account: string | undefined,
): { readonly list?: 'whole' | 'as-shown' } {
  const harvestedAs = findAccountOfHarvest(vocabulary, PROJECT_SET);
  if (harvestedAs === undefined) return {};
  const hidden = vocabulary
    .sql(
      `select 1 from terms where source = ? and set_spec = ? and gone is null and details ->> '$.hidden' = 1 limit 1`,
    )
    .get(vocabulary.source, PROJECT_SET);
  if (hidden !== undefined) return { list: 'whole' };
  return harvestedAs === account ? { list: 'as-shown' } : {};
}

const AREA_SET = 'ruian_katastr';

/**
 * Makes a lookup of the harvested cadastral area that has a point inside or on its border. It
 * caches parsed boundaries, and tries the last area first: finds of a table are close together.
 */
export function makeAreaLookup(vocabulary: Vocabulary): LookupArea {
  const getArea = memoize((id: number): Area => {
    const [area] = readAreas(vocabulary, [id]);
    if (area === undefined) throw new Error(`area ${id} has no term`);
    return area;
  });
  let last: Area | undefined;
  let harvested: boolean | undefined;
  return (lon, lat) => {
    if (last === undefined || !isInPolygon(last.polygon, lon, lat))
      last = findAreasTouching(vocabulary, AREA_SET, { minX: lon, minY: lat, maxX: lon, maxY: lat })
        .map(getArea)
        .find(({ polygon }) => isInPolygon(polygon, lon, lat));
    if (last !== undefined) return { kind: 'inside', area: toCandidate(last.term) };
    harvested ??= isSetHarvested(vocabulary, AREA_SET);
    return { kind: harvested ? 'outside' : 'not-harvested' };
  };
}

/** An area with its boundary in WGS 84. */
type Area = { readonly term: Term; readonly polygon: Polygon };

function readAreas(vocabulary: Vocabulary, ids: readonly number[]): Area[] {
  const select = vocabulary.sql('select boundary from areas where term = ?').pluck();
  return [...findTermsByRowId(vocabulary, ids)].map(([id, term]) => ({
    term,
    polygon: parsePolygon(String(select.get(id))),
  }));
}

/**
 * Returns rows of the terms of a set whose box touches `box`, in degrees. `cross join` makes SQLite
 * use the spatial index first; iterating the set's terms takes a hundred times longer.
 */
function findAreasTouching(vocabulary: Vocabulary, setSpec: string, box: BoundingBox): number[] {
  return vocabulary
    .sql(
      `select area_boxes.term from area_boxes cross join terms on terms.id = area_boxes.term
       where min_lon <= :maxX and max_lon >= :minX and min_lat <= :maxY and max_lat >= :minY
         and terms.source = :source and terms.set_spec = :set and terms.gone is null`,
    )
    .pluck()
    .all({ ...box, source: vocabulary.source, set: setSpec })
    .map((term) => parseValue(isNumber, term));
}

type NamedArea = { readonly label: string; readonly polygon: Polygon };

/**
 * Returns names and boundaries, sorted by name, of the present areas of a set whose own box touches
 * another one. The boundary itself need not touch it.
 * @param setSpec such as `ruian_katastr`
 * @param box in degrees of WGS 84
 */
export function listAreasTouchingBox(
  vocabulary: Vocabulary,
  setSpec: string,
  box: BoundingBox,
): NamedArea[] {
  return readAreas(vocabulary, findAreasTouching(vocabulary, setSpec, box))
    .map(({ term, polygon }) => ({ label: term.label, polygon }))
    .sort((a, b) => compareCzech(a.label, b.label));
}

/** The open vocabulary file, with one source for each harvesting interface. */
export type VocabularyStore = {
  readonly path: string;
  /**
   * Returns the terms that were harvested from `{oai_base}`; an unknown address is stored as a new
   * source.
   * @throws DatabaseError where it cannot be read or written
   */
  openSource(oaiBase: string): Vocabulary;
  /**
   * Returns the lookups for the checks of a find; the source is opened as by `openSource`.
   * @param account as in {@link makeProjectLookup}
   */
  makeLookups(
    oaiBase: string,
    account?: string,
  ): {
    readonly lookupTerm: LookupTerm;
    readonly lookupArea: LookupArea;
    readonly lookupProject: LookupProject;
  };
  close(): void;
};

/**
 * Opens the vocabulary file, which the caller must close. A missing one is created, with its
 * tables; one of an older pas is migrated.
 * @throws DatabaseError where the file cannot be opened or is damaged
 * @throws DatabaseTooNewError where a newer pas wrote it
 */
export function openVocabulary(path: string, clock: Clock): VocabularyStore {
  const database = openPreparedDatabase(path, { synchronous: 'normal' }, (opened) => {
    // Rows that others refer to are never deleted here, so no insert needs to check its references.
    opened.pragma('foreign_keys = off');
    // In pages: a large harvest changes the same pages of the index again and again.
    opened.pragma('wal_autocheckpoint = 8000');
    migrateDatabase(opened, join(packageRoot, 'schemas', 'vocabulary'));
  });
  const wordIds = new Map<string, number>();
  const getSource = memoize((oaiBase: string) =>
    openSource(database, path, clock, oaiBase, wordIds),
  );
  return {
    path,
    openSource: getSource,
    makeLookups: (oaiBase, account) => ({
      lookupTerm: makeTermLookup(getSource(oaiBase)),
      lookupArea: makeAreaLookup(getSource(oaiBase)),
      lookupProject: makeProjectLookup(getSource(oaiBase), account),
    }),
    close: () => database.close(),
  };
}

/** Opens the source of an address, which is stored at its first use. */
function openSource(
  database: Database,
  path: string,
  clock: Clock,
  oaiBase: string,
  wordIds: Map<string, number>,
): Vocabulary {
  const guarded = guardDatabase(database, (thrown) => toDatabaseError(path, thrown));
  const { sql } = guarded;
  const change = <T>(work: () => T): T => {
    // After a rollback they are wrong.
    if (!database.inTransaction) wordIds.clear();
    return guarded.change(work);
  };
  const findId = () => sql('select id from sources where oai_base = ?').pluck().get(oaiBase);
  // Another process may add the source before this one has the lock.
  const id =
    findId() ??
    change(
      () =>
        findId() ??
        sql('insert into sources (oai_base) values (?) returning id').pluck().get(oaiBase),
    );
  return { path, clock, oaiBase, wordIds, source: Number(id), sql, change };
}
