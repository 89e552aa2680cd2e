import { formatCsvTable } from '../../base/csv.ts';
import { UsageError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { findNearestSet } from '../../base/names.ts';
import { judgeProject } from '../../finds/rules.ts';
import type { RuleContext } from '../../finds/value-rules.ts';
import { type SearchHit, type SearchOptions, searchTerms } from '../../finds/vocabulary/search.ts';
import type { Term, Vocabulary } from '../../finds/vocabulary/term.ts';
import {
  countBySet,
  findTermByTypedIdent,
  getPath,
  isHarvested,
  isInSet,
  listHarvests,
  listInferiors,
  listSuperiors,
  listTermsOfSet,
} from '../../finds/vocabulary/terms.ts';
import { findSetSpec } from './mapping.ts';

/** Browsing and export of the harvested vocabularies. */

/** @throws UsageError for a set that was not harvested */
export function searchVocabulary(
  vocabulary: Vocabulary,
  typed: string,
  options: SearchOptions,
): SearchHit[] {
  if (options.setSpec !== undefined) assertHarvested(vocabulary, options.setSpec);
  return searchTerms(vocabulary, typed, options);
}

const MAX_OTHER_SETS = 3;
/** Score above which a term practically has that name. */
const CALLED_SO = 0.85;

/** Returns other sets with an entry of that name, where this set has none. */
export function findOtherSets(
  vocabulary: Vocabulary,
  typed: string,
  hits: readonly SearchHit[],
): string[] {
  if (hits.some(({ score }) => score >= CALLED_SO)) return [];
  const goodHits = searchTerms(vocabulary, typed, { limit: MAX_FOUND }).filter(
    ({ score }) => score >= CALLED_SO,
  );
  return [...new Set(goodHits.map(({ term }) => term.setSpec))].slice(0, MAX_OTHER_SETS);
}

const MAX_FOUND = 20;

/** @throws UsageError for a set that was not harvested */
export function listTerms(vocabulary: Vocabulary, set: string): Term[] {
  assertHarvested(vocabulary, set);
  return listTermsOfSet(vocabulary, set);
}

export type TermInPlace = ReturnType<typeof getTermInPlace>;

/** @throws UsageError where it was not harvested */
export function getTermInPlace(vocabulary: Vocabulary, ident: string) {
  const term = findTermByTypedIdent(vocabulary, ident);
  if (term === undefined) {
    throw new UsageError(t`${ident} is not among the harvested entries.`, {
      hint: t`Find it by name with \`${cmd`pas vocab search`}\`, or harvest again with \`${cmd`pas harvest-vocab`}\`.`,
    });
  }
  return {
    term,
    /** From the topmost entry down to the direct superior. */
    path: getPath(vocabulary, term.ident),
    above: listSuperiors(vocabulary, term.ident),
    below: listInferiors(vocabulary, term.ident),
  };
}

export function getHarvestedSets(vocabulary: Vocabulary) {
  return { counts: countBySet(vocabulary), harvests: listHarvests(vocabulary) };
}

/** Returns the projects among some entries that take finds of this account, or perhaps do. */
export function judgeProjects(
  terms: readonly Term[],
  rules: RuleContext,
): ReadonlyMap<string, ReturnType<typeof judgeProject>> {
  const projects = terms.filter(isProject);
  return new Map(projects.map(({ ident }) => [ident, judgeProject(ident, rules)]));
}

export function isProject({ setSpec }: Term): boolean {
  return setSpec === 'projekt';
}

export { describeProject } from '../../finds/vocabulary/term.ts';

type ExportForm = 'csv' | 'json';

/**
 * Exports the terms of sets, or of all.
 * @throws UsageError for a set that was not harvested, before anything is written
 */
export function exportTerms(
  vocabulary: Vocabulary,
  sets: readonly string[],
  form: ExportForm,
): string {
  const requested = sets.length === 0 ? ['heslo'] : sets;
  for (const set of requested) assertHarvested(vocabulary, set);
  const terms = requested
    .flatMap((set) => listTermsOfSet(vocabulary, set))
    .map((term) => ({
      ...toTermJson(term),
      superiors: listSuperiors(vocabulary, term.ident).map(({ ident }) => ident),
    }));
  return form === 'json' ? `${JSON.stringify(terms)}\n` : formatTermsCsv(terms);
}

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

type ExportedTerm = ReturnType<typeof toTermJson> & { readonly superiors: readonly string[] };

function formatTermsCsv(terms: readonly ExportedTerm[]): string {
  const rows = terms.map((term) => {
    const { dating } = term;
    const cells = {
      ...term,
      superiors: term.superiors.join(' '),
      year_from_min: dating?.fromMin,
      year_from_max: dating?.fromMax,
      year_to_min: dating?.toMin,
      year_to_max: dating?.toMax,
    };
    return CSV_HEADER.map((name) => cells[name]);
  });
  return formatCsvTable([CSV_HEADER, ...rows]);
}

export function toTermJson(term: Term) {
  return {
    id: term.ident,
    set: term.setSpec,
    label: term.label,
    label_en: term.labelEn,
    abbreviation: term.abbreviation,
    description: term.description,
    description_en: term.descriptionEn,
    order: term.sortOrder,
    ...term.details,
    changed_at: new Date(term.datestampMs).toISOString(),
    gone: term.gone,
    gone_at: term.goneAtMs === null ? null : new Date(term.goneAtMs).toISOString(),
  };
}

/** Returns the set of an element's name, such as `obdobi`; any other name stays. */
export function expandSetName(name: string): string {
  return findSetSpec(name) ?? name;
}

/** @throws UsageError for an unknown set, which would look like an empty one */
export function assertHarvested(vocabulary: Vocabulary, set: string): void {
  const problem = findSetProblem(vocabulary, set);
  if (problem !== undefined) throw problem;
}

/** Explains why a set has no entries here; distinguishes a typing error from an empty set. */
export function findSetProblem(vocabulary: Vocabulary, set: string): UsageError | undefined {
  const counts = countBySet(vocabulary);
  if (isHarvested(vocabulary, set) && counts.some(({ setSpec }) => isInSet(setSpec, set)))
    return undefined;
  const nearest = findNearestSet(
    counts.map(({ setSpec }) => setSpec),
    set,
  );
  return new UsageError(t`Nothing of the set ${set} was harvested.`, {
    hint:
      nearest === undefined
        ? t`\`${cmd`pas vocab list`}\` lists what is here; \`${cmd`pas harvest-vocab`}\` harvests the rest.`
        : t`Did you mean ${nearest}?`,
  });
}
