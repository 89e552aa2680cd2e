import { normalizeId, normalizeText } from '../base/characters.ts';
import { memoize } from '../base/collections.ts';
import { makeRuleProblem, type Reading, type RuleProblem } from '../base/issue.ts';
import { cmd, joinMessages, type Message, msg } from '../base/message.ts';
import { canAbbreviate, makePersonKey } from '../base/names.ts';
import { FIELDS, type Field, NEW_PERSON, type Reference } from './fields.ts';
import type { LookupTerm, TermCandidate, TermLookupResult } from './find.ts';
import {
  isGivenName,
  isGivenNameFirst,
  isNameOfOnePerson,
  isUnknownPerson,
  type PersonName,
  parsePersonName,
  splitNameAtComma,
  splitNameWithoutComma,
  type WrittenName,
} from './person-name.ts';

/** `HES-000312`, `ORG-000091`, `OS-001507`. */
const IDENTIFIER = /^[A-Za-z]+-\d+$/;

/**
 * `c-202400101`, `X-M-202400101`; lower case is accepted since capitals cost a key on a phone
 * (S-IDENT-1).
 */
const PROJECT = /^(?:x-)?[a-z]-\d{9}$/i;

/**
 * Parses a project identifier, alone or in an address of the service, into a reference; one of the
 * usual form becomes upper case. Unreadable (rule `project`) only where it is not one word: the
 * project is looked up by the rules, not here.
 */
export function parseProjectReference(cell: string): Reading<Reference> {
  const text = normalizeId(withoutAddress(cell));
  const typed = text.replaceAll(' ', '');
  const id = PROJECT.test(typed) ? typed.toUpperCase() : text;
  if (/[\s,;]/.test(id)) {
    return makeRuleProblem(
      'project',
      msg`"${cell}" is not a project identifier. Write the identifier alone, such as C-202400101.`,
    );
  }
  return { value: { id, text: id } };
}

/**
 * Resolves a vocabulary entry or an organisation by identifier, label or the museum's own term. One
 * that the vocabulary lacks, or has several times, is unreadable, so that a table's row is left
 * out; the problem names what may be meant. An identifier is taken as it is until the vocabulary is
 * harvested.
 */
function resolveTerm(set: string, cell: string, lookupTerm: LookupTerm): Reading<Reference> {
  const id = extractIdentifier(cell);
  const lookup = lookupTerm(set, id ?? cell);
  if (lookup.kind === 'found') return { value: { id: lookup.term.id, text: lookup.term.label } };
  if (lookup.kind === 'not-harvested' && id !== undefined) return { value: { id, text: '' } };
  return makeRuleProblem(`term-${lookup.kind}`, explainFailedLookup(lookup, set, cell));
}

type FailedLookup = Exclude<TermLookupResult, { kind: 'found' }>;

/**
 * Explains why a text is no usable entry of a set, and names the entries that may be meant, or the
 * command that finds them.
 * @param lookup result for `text` in this set
 * @param set such as `heslo:obdobi`
 */
export function explainFailedLookup(lookup: FailedLookup, set: string, text: string): Message {
  const where = formatVocabularySet(set);
  switch (lookup.kind) {
    case 'ambiguous': {
      const names = formatTerms(lookup.candidates);
      return msg`"${text}" can mean several entries of ${where}: ${names}. Write the identifier of the right one.`;
    }
    case 'unknown': {
      const advice = adviseNearest(set, lookup.nearest);
      return msg`"${text}" is no entry of ${where}. ${advice}`;
    }
    case 'wrong-set': {
      const { label, id, setSpec } = lookup.term;
      const ownSet = formatVocabularySet(setSpec);
      return msg`${label} (${id}) is an entry of ${ownSet}, but this element needs one of ${where}. See: ${cmd`pas vocab list ${set}`}`;
    }
    case 'deleted': {
      const { label, id } = lookup.term;
      return msg`${label} (${id}) was deleted from ${where}. Choose another: ${cmd`pas vocab search ${label} --set ${set}`}`;
    }
    case 'mapping-conflict':
      return makeMappingConflictMessage(lookup, set);
    case 'not-harvested':
      return msg`"${text}" cannot be looked up: ${where} was not harvested yet. Run ${cmd`pas harvest-vocab`}, or write the identifier.`;
  }
}

/**
 * Formats a set for people by the label of the element that has its entries: `Period
 * (heslo:obdobi)`; the set name alone where no element has them.
 */
export function formatVocabularySet(set: string): Message {
  const field = FIELDS.find((each) => each.set === set);
  if (field === undefined) return set;
  const label = field.label ?? field.gloss;
  return msg`${label} (${set})`;
}

type MappingConflict = Extract<TermLookupResult, { kind: 'mapping-conflict' }>;

function makeMappingConflictMessage(conflict: MappingConflict, set: string): Message {
  const { ownTerm, target, failure } = conflict;
  const term = 'term' in failure ? failure.term : undefined;
  const named = term === undefined ? target : `${term.label} (${term.id})`;
  const where = formatVocabularySet(set);
  return msg`"${ownTerm}" is mapped to ${named}, which is no entry of ${where} now. Choose another: ${cmd`pas vocab map set ${set} ${ownTerm}`} ID`;
}

/** Names the nearest terms, or those of a small set; without any, the command that lists them. */
function adviseNearest(set: string, nearest: readonly TermCandidate[]): Message {
  const names = formatTerms(nearest);
  return nearest.length > 0
    ? msg`Nearest: ${names}.`
    : msg`To list them all: ${cmd`pas vocab list ${set}`}.`;
}

/** Reduces an entry's address to its identifier, which imports require (S-SERVICE-4). */
function withoutAddress(cell: string): string {
  return /^https?:\/\/\S+\/id\/([^/\s]+)$/.exec(cell)?.[1] ?? cell;
}

function extractIdentifier(cell: string): string | undefined {
  const text = normalizeId(withoutAddress(cell));
  return IDENTIFIER.test(text) ? text.toUpperCase() : undefined;
}

/** Lists entries: `Kučera, Pavel (OS-000304, 1966)` */
function formatTerms(terms: readonly TermCandidate[]): string {
  return terms
    .map(({ id, label, about }) => `${label} (${about === undefined ? id : `${id}, ${about}`})`)
    .join(', ');
}

/** A longer name causes an error inside the service (A-FINDER-4). */
export const MAX_NAME_LENGTH = 100;

/** Rule of the warning that a differently written finder was matched to a known person. */
export const FINDER_MATCHED = 'finder-matched';

const PEOPLE = 'osoba';

/**
 * `remark`: the name was written in another way than the service has it, and names the matched
 * person.
 */
export type ResolvedFinder =
  | { readonly value: Reference; readonly remark?: RuleProblem }
  | (RuleProblem & { readonly candidates?: readonly TermCandidate[] });

/**
 * Resolves a finder by identifier or name. A mapping of the user's own comes first, and gives its
 * identifier. A name written exactly as that of a known person gets the id {@link NEW_PERSON}: the
 * service finds the person by the name. The person's identifier is for a name that is too long for
 * the service, and, with a remark, for one that differs in case, accents, order, titles or blanks.
 * Any other name gets {@link NEW_PERSON} as well, and the service creates a person, if it is
 * certain which part is the surname. Unreadable, with candidates where there are some: an
 * identifier that the vocabulary lacks, a mapping to what is no entry now, a name that several
 * people have, an abbreviated one, one in another order than the known person's, a new one that is
 * too long, and what is no name of one person.
 */
export function resolveFinder(cell: string, lookupTerm: LookupTerm): ResolvedFinder {
  if (extractIdentifier(cell) !== undefined) return resolveTerm(PEOPLE, cell, lookupTerm);
  const written = cell.normalize('NFC').replace(/\s+/g, ' ').trim();
  const name = parsePersonName(written);
  const joined = name.parts.join(', ');
  const plain = name.suffix === undefined ? joined : `${joined} ${name.suffix}`;
  const known = findKnownPeople([...new Set([written, plain])], lookupTerm);
  return known === undefined
    ? resolveUnknownFinder(written, name, plain, lookupTerm)
    : chooseKnown(known, written, name);
}

function resolveUnknownFinder(
  written: string,
  name: WrittenName,
  plain: string,
  lookupTerm: LookupTerm,
): ResolvedFinder {
  if (isUnknownPerson(written)) {
    const message = msg`"${written}" is not a person's name. Leave the finder out, or map the words to a person: ${cmd`pas vocab map set osoba ${written}`} ID`;
    return makeRuleProblem('finder-unknown', message);
  }
  const problem = findPartsProblem(name, written);
  if (problem !== undefined) return makeRuleProblem('finder-name', problem);
  const candidates = findCandidates(name, plain, lookupTerm);
  if (candidates.length > 0) return makeUndecided('finder-unsure', written, candidates);
  const [surname = '', givenName] = name.parts;
  return givenName === undefined
    ? splitUnmarkedName(name, written, lookupTerm)
    : makeNewPerson({ surname, givenName }, name);
}

/**
 * Looks up spellings of one name. The best result is an own mapping, then one person, then several
 * people; undefined where no spelling is known.
 */
function findKnownPeople(
  spellings: readonly string[],
  lookupTerm: LookupTerm,
): TermLookupResult | undefined {
  const lookups = spellings.map((text) => lookupTerm(PEOPLE, text));
  return (
    lookups.find(
      (lookup) =>
        lookup.kind === 'mapping-conflict' || (lookup.kind === 'found' && lookup.isOwn === true),
    ) ??
    lookups.find(({ kind }) => kind === 'found') ??
    lookups.find(({ kind }) => kind === 'ambiguous')
  );
}

function chooseKnown(lookup: TermLookupResult, text: string, name: WrittenName): ResolvedFinder {
  if (lookup.kind === 'mapping-conflict')
    return makeRuleProblem('term-mapping-conflict', explainFailedLookup(lookup, PEOPLE, text));
  if (lookup.kind === 'ambiguous') return makeUndecided('term-ambiguous', text, lookup.candidates);
  if (lookup.kind !== 'found') throw new Error(`a person who is ${lookup.kind} is not known`);
  if (lookup.isOwn === true) return { value: { id: lookup.term.id, text: lookup.term.label } };
  return isContrary(name, lookup.term)
    ? makeUndecided('finder-unsure', text, [lookup.term])
    : acceptPerson(lookup.term, text);
}

/** The service matches exactly this text; any other spelling would create another person. */
function acceptPerson({ id, label }: TermCandidate, text: string): ResolvedFinder {
  const asMatched = text.replace(/ ?, ?/, ', ');
  if (asMatched === label && findPersonNameProblem(label) === undefined)
    return { value: { id: NEW_PERSON, text: label } };
  const remark = makeRuleProblem(FINDER_MATCHED, msg`"${text}" is read as ${id} (${label}).`);
  return { value: { id, text: label }, remark: text === label ? undefined : remark };
}

/**
 * Tells if the comma contradicts the label: it marks the surname, which counts where both parts may
 * be given names.
 */
function isContrary(
  { parts: [surname = '', givenName] }: WrittenName,
  { label }: TermCandidate,
): boolean {
  if (givenName === undefined || !isGivenName(surname) || !isGivenName(givenName)) return false;
  return makePersonKey(surname) !== makePersonKey(label.slice(0, label.indexOf(',')));
}

function makeUndecided(
  rule: string,
  text: string,
  candidates: readonly TermCandidate[],
): ResolvedFinder {
  const names = formatTerms(candidates);
  const id = candidates[0]?.id ?? 'ID';
  const message = msg`"${text}" may be ${names}. Write the identifier, or the whole name of another person; if it is always this one: ${cmd`pas vocab map set osoba ${text} ${id}`}`;
  return { ...makeRuleProblem(rule, message), candidates };
}

/** Returns people who may be meant although the name is incomplete; a person must decide. */
function findCandidates(
  name: WrittenName,
  plain: string,
  lookupTerm: LookupTerm,
): readonly TermCandidate[] {
  const bare = name.parts.join(' ');
  const withoutCut = bare
    .split(' ')
    .filter((word) => !/^\p{L}\.?$/u.test(word))
    .join(' ');
  const variants = [
    ...(name.suffix === undefined ? [] : [bare]),
    ...(withoutCut === bare ? [] : [withoutCut]),
  ];
  const sameNamed = variants.flatMap((text) => listPeople(lookupTerm(PEOPLE, text)));
  const shortened = listNearest(lookupTerm(PEOPLE, plain)).filter(({ label }) =>
    canAbbreviate(bare, label),
  );
  return [...new Map([...sameNamed, ...shortened].map((term) => [term.id, term])).values()];
}

function listNearest(lookup: TermLookupResult): readonly TermCandidate[] {
  return lookup.kind === 'unknown' ? lookup.nearest : [];
}

function listPeople(lookup: TermLookupResult): readonly TermCandidate[] {
  if (lookup.kind === 'found') return [lookup.term];
  return lookup.kind === 'ambiguous' ? lookup.candidates : [];
}

function splitUnmarkedName(
  name: WrittenName,
  text: string,
  lookupTerm: LookupTerm,
): ResolvedFinder {
  const [bare = ''] = name.parts;
  const split = isNameOfOnePerson(bare) ? splitNameWithoutComma(bare) : undefined;
  if (split !== undefined) return makeNewPerson(split, name);
  const nearest = listNearest(lookupTerm(PEOPLE, bare));
  const names = formatTerms(nearest);
  if (nearest.length === 0) return makeRuleProblem('finder-name', makeNameAdvice(text));
  const advice = joinMessages([makeNameAdvice(text), msg`Nearest: ${names}.`], ' ');
  return { ...makeRuleProblem('finder-name', advice), candidates: nearest };
}

/** A suffix, which distinguishes people of one name, is stored with the surname. */
function makeNewPerson(
  { surname, givenName }: PersonName,
  { suffix }: WrittenName,
): ResolvedFinder {
  const text = `${suffix === undefined ? surname : `${surname} ${suffix}`}, ${givenName.replace(/\s+/g, ' ')}`;
  const problem = findPersonNameProblem(text);
  if (problem !== undefined) return makeRuleProblem('finder-name', problem);
  return { value: { id: NEW_PERSON, text } };
}

function findPartsProblem({ parts, suffix }: WrittenName, text: string): Message | undefined {
  const [surname = '', givenName] = parts;
  if (givenName === undefined) return surname === '' ? makeNameAdvice(text) : undefined;
  if (parts.some((part) => part === '')) return makeNameAdvice(text);
  const joined = parts.join(', ');
  const isTwo = [surname, givenName].every(
    (part) => part.includes(' ') && part.split(' ').some(isGivenName),
  );
  if (parts.length > 2 || isTwo || !isNameOfOnePerson(joined)) return describeSeveral(text);
  return findPersonNameProblem(
    suffix === undefined ? joined : `${surname} ${suffix}, ${givenName}`,
  );
}

/**
 * Explains why the service would refuse a text as the name of a new person (A-FINDER-1,
 * A-FINDER-4): no comma between surname and given name, or a part that is too long. Undefined where
 * it would not.
 */
export function findPersonNameProblem(text: string): Message | undefined {
  const { surname, givenName } = splitNameAtComma(text);
  if (surname === '' || givenName === '') return makeNameAdvice(text);
  if (Math.max([...surname].length, [...givenName].length) > MAX_NAME_LENGTH) {
    return msg`"${text}" is too long: a surname and a given name have at most ${MAX_NAME_LENGTH} characters each.`;
  }
  return undefined;
}

/**
 * Explains why a text, although the service takes it as the name of a new person, is hardly that of
 * one: several people, or the given name first. Undefined where nothing speaks against it.
 */
export function findPersonNameDoubt(text: string): Message | undefined {
  const { surname, givenName } = splitNameAtComma(text);
  if (/[;,]/.test(givenName)) return describeSeveral(text);
  return isGivenNameFirst(`${surname} ${givenName}`)
    ? msg`"${text}" may be reversed: the surname comes before the comma.`
    : undefined;
}

function describeSeveral(text: string): Message {
  return msg`"${text}" has more than a surname and a given name. Write one person without titles: Novák, Jan.`;
}

function makeNameAdvice(text: string): Message {
  return msg`"${text}" is not a finder. Write a person's identifier such as OS-001507, or the name as Surname, Given name.`;
}

/** Resolves a cell of a field to an identifier, or says why it has none. */
export type ResolveReference = (field: Field, cell: string) => Reading<Reference> | ResolvedFinder;

/**
 * Makes a resolver that caches the result for each distinct cell of a field, since a table repeats
 * a few dozen; equal cells share one reference. Cells are normalised as by {@link normalizeText}.
 * @param lookupTerm by default no vocabulary is harvested: identifiers are taken as they are
 */
export function makeReferenceResolver(
  lookupTerm: LookupTerm = () => ({ kind: 'not-harvested' }),
): ResolveReference {
  const getResolutions = memoize((field: Field) =>
    memoize((text: string) => resolveReference(field, normalizeText(text), lookupTerm)),
  );
  return (field, text) => getResolutions(field)(text);
}

function resolveReference(
  { name, set }: Field,
  cell: string,
  lookupTerm: LookupTerm,
): ReturnType<ResolveReference> {
  if (set === undefined) return parseProjectReference(cell);
  return name === 'nalezce' ? resolveFinder(cell, lookupTerm) : resolveTerm(set, cell, lookupTerm);
}
