import { candidateOf, type TermAnswer } from './candidate.ts';
import { fold } from './fold.ts';
import { accountOfHarvest, isHarvested } from './harvests.ts';
import { makePeopleLookup, PEOPLE_SET } from './people.ts';
import { searchTerms } from './search.ts';
import { isInSet, type Term } from './term.ts';
import { termByIdent, termsByName, termsOfSet } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';

export type LookupTerm = (setSpec: string, cell: string) => TermAnswer;

const IDENTIFIER = /^(?:[A-Z]{1,4}-\d{6}|ruian-\d{2,6})$/i;
const MAX_CANDIDATES = 5;

/** Caches answers, since a table repeats its cells. */
function remembered<Words extends readonly string[], Answer>(look: (...words: Words) => Answer): (...words: Words) => Answer {
  const answers = new Map<string, Answer>();
  return (...words) => {
    const key = words.join('\n');
    const answer = answers.get(key) ?? look(...words);
    answers.set(key, answer);
    return answer;
  };
}

/** Makes a lookup by identifier, else by Czech or English name. */
export function makeTermLookup(vocabulary: Vocabulary): LookupTerm {
  const lookUpPerson = makePeopleLookup(vocabulary);
  return remembered((setSpec, given) => {
    const cell = given.trim();
    if (IDENTIFIER.test(cell)) return byIdentifier(vocabulary, setSpec, cell);
    return setSpec === PEOPLE_SET ? lookUpPerson(cell) : byName(vocabulary, setSpec, cell);
  });
}

function byIdentifier(vocabulary: Vocabulary, setSpec: string, cell: string): TermAnswer {
  const ident = /^ruian/i.test(cell) ? cell.toLowerCase() : cell.toUpperCase();
  const term = termByIdent(vocabulary, ident);
  if (term === undefined) return isHarvested(vocabulary, setSpec) ? { kind: 'unknown', nearest: [] } : { kind: 'not-harvested' };
  if (!isInSet(term.setSpec, setSpec)) return { kind: 'wrong-set', term: candidateOf(term) };
  return { kind: term.gone === null ? 'found' : 'deleted', term: candidateOf(term) };
}

function byName(vocabulary: Vocabulary, setSpec: string, cell: string): TermAnswer {
  const named = termsByName(vocabulary, cell).filter((term) => isInSet(term.setSpec, setSpec));
  const alive = named.filter((term) => term.gone === null);
  const [first] = alive;
  if (first !== undefined) {
    // Two terms that differ only in an accent are distinguished by a cell that has the accent.
    const exact = alive.length === 1 ? alive : alive.filter((term) => term.label === cell || term.labelEn === cell);
    const [only, another] = exact;
    if (only !== undefined && another === undefined) return { kind: 'found', term: candidateOf(only) };
    return { kind: 'ambiguous', candidates: alive.map(candidateOf) };
  }
  const [dead] = named;
  if (dead !== undefined) return { kind: 'deleted', term: candidateOf(dead) };
  if (!isHarvested(vocabulary, setSpec)) return { kind: 'not-harvested' };
  if (fold(cell) === '') return { kind: 'unknown', nearest: [] };
  const elsewhere = termsByName(vocabulary, cell).filter((term) => term.gone === null && isVocabulary(term.setSpec));
  const nearest = searchTerms(vocabulary, cell, { setSpec, limit: MAX_CANDIDATES }).map(({ term }) => term);
  const all = isVocabulary(setSpec) ? firstTerms(vocabulary, setSpec, MAX_SMALL_SET + 1) : [];
  const isAll = all.length > 0 && all.length <= MAX_SMALL_SET;
  const others = isAll ? all.filter(({ ident }) => !nearest.some((term) => term.ident === ident)) : [];
  return {
    kind: 'unknown',
    nearest: [...nearest, ...others].map(candidateOf),
    ...(isAll ? { isAll } : {}),
    ...(elsewhere.length > 0 ? { elsewhere: elsewhere.map(candidateOf) } : {}),
  };
}

/** Size up to which a vocabulary is listed completely. */
const MAX_SMALL_SET = 10;

/** Tells if a set is a vocabulary; people, organisations and areas are not. */
function isVocabulary(setSpec: string): boolean {
  return setSpec.startsWith('heslo:');
}

function firstTerms(vocabulary: Vocabulary, setSpec: string, limit: number): Term[] {
  const terms: Term[] = [];
  for (const term of termsOfSet(vocabulary, setSpec)) if (terms.push(term) === limit) break;
  return terms;
}

/** Harvested data of a project. */
type ProjectAnswer =
  | {
      readonly kind: 'found';
      readonly survey: boolean;
      readonly type: string;
      readonly stav: number | null;
      readonly organisation: string;
    }
  /** The record exists, but its content is hidden from this account. */
  | { readonly kind: 'hidden' }
  | { readonly kind: 'deleted' }
  /** `list`: all projects of the service (`whole`), or all that the account may see (`as-shown`), were harvested. */
  | { readonly kind: 'unknown'; readonly list?: 'whole' | 'as-shown' }
  | { readonly kind: 'not-harvested' };

export type LookupProject = (ident: string) => ProjectAnswer;

const PROJECT_SET = 'projekt';

/** @param account of the harvest; undefined where it is not known */
export function makeProjectLookup(vocabulary: Vocabulary, account?: string): LookupProject {
  return remembered((ident) => {
    const term = termByIdent(vocabulary, ident.trim());
    // A vanished project may only be invisible to the account that harvested last.
    if (term === undefined || term.setSpec !== PROJECT_SET || term.gone === 'vanished') {
      return isHarvested(vocabulary, PROJECT_SET)
        ? { kind: 'unknown', ...harvestedList(vocabulary, account) }
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
function harvestedList(vocabulary: Vocabulary, account: string | undefined): { readonly list?: 'whole' | 'as-shown' } {
  const harvestedAs = accountOfHarvest(vocabulary, PROJECT_SET);
  if (harvestedAs === undefined) return {};
  const hidden = vocabulary
    .sql(`select 1 from terms where source = ? and set_spec = ? and gone is null and details ->> '$.hidden' = 1 limit 1`)
    .get(vocabulary.source, PROJECT_SET);
  if (hidden !== undefined) return { list: 'whole' };
  return harvestedAs === account ? { list: 'as-shown' } : {};
}
