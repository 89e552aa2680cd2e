import { type Reading, type Unreadable, unreadable } from '../base/issue.ts';
import { cmd, joinMessages, type Message, msg } from '../base/message.ts';
import { collapseText, trimText } from '../text/characters.ts';
import { canAbbreviate, foldName, nameKey, nameWords } from '../text/names.ts';
import type { Reference } from './field.ts';
import type { Field } from './fields.ts';
import type { LookupTerm, TermCandidate, TermLookup } from './lookup.ts';
import {
  isFeminineSurname,
  isGiven,
  isOneName,
  isUnknownPerson,
  orderOf,
  type PersonName,
  parseName,
  splitName,
  type WrittenName,
} from './person-name.ts';
import {
  identifierIn,
  mappingConflictMessage,
  NEW_PERSON,
  namedTerms,
  resolveProject,
  resolveTerm,
} from './resolve-reference.ts';

/** A longer name causes an error inside the service (A-FINDER-4). */
export const MAX_NAME_LENGTH = 100;

/** Rule of the warning that a differently written finder was matched to a known person. */
export const FINDER_MATCHED = 'finder-matched';

const PEOPLE = 'osoba';

/** `remark`: the name was written in another way than the service has it, and names the matched person. */
export type ResolvedFinder =
  | { readonly value: Reference; readonly remark?: Unreadable }
  | (Unreadable & { readonly candidates?: readonly TermCandidate[] });

/**
 * Resolves a finder, wherever one is named. A mapping of the user's own comes first. The service matches a name exactly, so a
 * name that differs from a known person's in case, accents, order, titles or blanks is replaced by that person's identifier, with
 * a remark. Where several people match, or words are abbreviated, a person must choose. Any other name is a new person, if it is
 * certain which part is the surname.
 */
export function resolveFinder(cell: string, lookupTerm: LookupTerm): ResolvedFinder {
  if (identifierIn(cell) !== undefined) return resolveTerm(PEOPLE, cell, lookupTerm);
  const written = cell.normalize('NFC').replace(/\s+/g, ' ').trim();
  const name = parseName(written);
  const joinMessages = name.parts.join(', ');
  const plain = name.suffix === undefined ? joinMessages : `${joinMessages} ${name.suffix}`;
  const lookups = [written, ...(plain === written ? [] : [plain])].map((text) => lookupTerm(PEOPLE, text));
  const own = lookups.find((found) => found.kind === 'mapping-conflict' || (found.kind === 'found' && found.isOwn === true));
  const known = own ?? lookups.find(({ kind }) => kind === 'found') ?? lookups.find(({ kind }) => kind === 'ambiguous');
  if (known !== undefined) return takeKnown(known, written, name);
  if (isUnknownPerson(written)) return takeUnknown(written, lookupTerm);
  const problem = findPartsProblem(name, written);
  if (problem !== undefined) return unreadable('finder-name', problem);
  const candidates = candidatesFor(name, plain, lookupTerm);
  if (candidates.length > 0) return unsure(written, candidates);
  return name.parts.length === 2 ? takeAsWritten(name, joinMessages) : takeSplit(name, written, lookupTerm);
}

function takeKnown(found: TermLookup, written: string, name: WrittenName): ResolvedFinder {
  if (found.kind === 'mapping-conflict') return unreadable('term-mapped-astray', mappingConflictMessage(found, PEOPLE));
  if (found.kind === 'ambiguous') {
    const bornAs = foldName(name.bornAs ?? '');
    const [only, another] = found.candidates.filter(({ about = '' }) => bornAs !== '' && nameWords(about).includes(bornAs));
    if (only !== undefined && another === undefined) return takePerson(only, written);
    const named = namedTerms(found.candidates);
    const [{ id } = { id: 'OS-001507' }] = found.candidates;
    const message = msg`"${written}" can be several people: ${named}. Write the identifier of the right one, or always use one of them: ${cmd`pas vocab map set osoba ${written} ${id}`}`;
    return { ...unreadable('term-ambiguous', message), candidates: found.candidates };
  }
  if (found.kind !== 'found') throw new Error(`a person who is ${found.kind} is not known`);
  if (found.isOwn === true) return { value: { id: found.term.id, text: found.term.label } };
  const { about = '' } = found.term;
  const isOther = name.bornAs !== undefined && /\p{L}/u.test(about) && !nameWords(about).includes(foldName(name.bornAs));
  return isOther || isContrary(name, found.term) ? unsure(written, [found.term]) : takePerson(found.term, written);
}

/** The service matches exactly this text; any other spelling would create another person. */
function takePerson({ id, label }: TermCandidate, written: string): ResolvedFinder {
  const asMatched = written.replace(/ ?, ?/, ', ');
  if (asMatched === label && findNameProblem(label) === undefined) return { value: { id: NEW_PERSON, text: label } };
  const remark = unreadable(FINDER_MATCHED, msg`"${written}" is read as ${id} (${label}).`);
  return { value: { id, text: label }, ...(written === label ? {} : { remark }) };
}

/** Tells if the comma contradicts the label: it marks the surname, which counts where both parts may be given names. */
function isContrary({ parts: [surname = '', given] }: WrittenName, { label }: TermCandidate): boolean {
  if (given === undefined || !isGiven(surname) || !isGiven(given)) return false;
  return nameKey(surname) !== nameKey(label.slice(0, label.indexOf(',')));
}

/** Names that a vocabulary may give to the entry for unknown people. */
const NAMES_OF_UNKNOWN = ['neurčeno', 'neznámý', 'neuvedeno', 'nezjištěno', 'anonym', 'unknown', 'anonymous', 'neurčený'];

function takeUnknown(written: string, lookupTerm: LookupTerm): ResolvedFinder {
  const found = NAMES_OF_UNKNOWN.flatMap((name) => [name, `${name}, ${name}`, `${name} nálezce`]).flatMap((name) => {
    const known = lookupTerm(PEOPLE, name);
    return known.kind === 'found' ? [known.term] : known.kind === 'ambiguous' ? known.candidates : [];
  });
  const people = [...new Map(found.map((term) => [term.id, term])).values()];
  const [only, another] = people;
  if (only !== undefined && another === undefined) {
    const { id, label } = only;
    return {
      value: { id, text: label },
      remark: unreadable(FINDER_MATCHED, msg`"${written}" is not a person's name; it is mapped to ${id} (${label}).`),
    };
  }
  if (only !== undefined) return unsure(written, people);
  const message = msg`"${written}" is not a person's name. Leave the finder out, or map the words to a person: ${cmd`pas vocab map set osoba ${written}`} ID`;
  return unreadable('finder-unknown', message);
}

function unsure(written: string, candidates: readonly TermCandidate[]): ResolvedFinder {
  const named = namedTerms(candidates);
  const [{ id } = { id: 'OS-001507' }] = candidates;
  const message = msg`"${written}" may be ${named}. Write the identifier, or the whole name of another person; if it is always this one: ${cmd`pas vocab map set osoba ${written} ${id}`}`;
  return { ...unreadable('finder-unsure', message), candidates };
}

/** Returns people who may be meant although the name is incomplete; a person must decide. */
function candidatesFor(name: WrittenName, plain: string, lookupTerm: LookupTerm): readonly TermCandidate[] {
  const bare = name.parts.join(' ');
  const withoutCut = bare
    .split(' ')
    .filter((word) => !/^\p{L}\.?$/u.test(word))
    .join(' ');
  const [, given = ''] = name.parts;
  const variants = [
    ...(name.suffix === undefined ? [] : [bare]),
    ...(withoutCut === bare ? [] : [withoutCut]),
    ...(name.bornAs === undefined ? [] : [`${given || (splitName(bare)?.given ?? '')} ${name.bornAs}`]),
  ];
  const met = variants.flatMap((text) => peopleOf(lookupTerm(PEOPLE, text)));
  const found = lookupTerm(PEOPLE, plain);
  const shortened = found.kind === 'unknown' ? found.nearest.filter(({ label }) => canAbbreviate(bare, label)) : [];
  return [...new Map([...met, ...shortened].map((term) => [term.id, term])).values()];
}

function peopleOf(found: TermLookup): readonly TermCandidate[] {
  return found.kind === 'found' ? [found.term] : found.kind === 'ambiguous' ? found.candidates : [];
}

/** Takes the name as `Surname, Given name`, unless all evidence shows the other order. */
function takeAsWritten(name: WrittenName, joinMessages: string): ResolvedFinder {
  const [surname = '', given = ''] = name.parts;
  if (isFeminineSurname(given) && !isFeminineSurname(surname)) {
    const turned = `${given}, ${surname}`;
    return unreadable('finder-name', msg`"${joinMessages}" looks reversed: the surname comes before the comma. Write ${turned}.`);
  }
  return newPerson({ surname, given }, name);
}

function takeSplit(name: WrittenName, written: string, lookupTerm: LookupTerm): ResolvedFinder {
  const [bare = ''] = name.parts;
  const split = isOneName(bare) ? splitName(bare) : undefined;
  if (split !== undefined) return newPerson(split, name);
  const found = lookupTerm(PEOPLE, bare);
  const nearest = found.kind === 'unknown' ? found.nearest : [];
  const named = namedTerms(nearest);
  const advice = nearest.length === 0 ? nameAdvice(written) : joinMessages([nameAdvice(written), msg`Nearest: ${named}.`], ' ');
  return { ...unreadable('finder-name', advice), ...(nearest.length === 0 ? {} : { candidates: nearest }) };
}

/** Suffix and birth name, which distinguish people of one name, are stored with the surname. */
function newPerson({ surname, given }: PersonName, { suffix, bornAs }: WrittenName): ResolvedFinder {
  const text = `${suffix === undefined ? surname : `${surname} ${suffix}`}, ${given.replace(/\s+/g, ' ')}`;
  const problem = findNameProblem(text);
  if (problem !== undefined) return unreadable('finder-name', problem);
  const value = { id: NEW_PERSON, text };
  if (bornAs === undefined) return { value };
  return {
    value,
    remark: unreadable('finder-name', msg`The finder is sent as "${text}", without the surname at birth, ${bornAs}.`),
  };
}

/** Explains why the parts between commas are not the name of one person. */
function findPartsProblem({ parts, suffix }: WrittenName, written: string): Message | undefined {
  const [surname = '', given] = parts;
  if (given === undefined) return surname === '' ? nameAdvice(written) : undefined;
  if (parts.some((part) => part === '')) return nameAdvice(written);
  const joinMessages = parts.join(', ');
  const isTwo = [surname, given].every((part) => part.includes(' ') && part.split(' ').some(isGiven));
  if (parts.length > 2 || isTwo || !isOneName(joinMessages)) return severalMessage(written);
  return findNameProblem(suffix === undefined ? joinMessages : `${surname} ${suffix}, ${given}`);
}

/** Explains why the service would refuse a text as the name of a new person. */
export function findNameProblem(text: string): Message | undefined {
  const comma = text.indexOf(',');
  const surname = trimText(text.slice(0, Math.max(0, comma)));
  const given = collapseText(text.slice(comma + 1));
  if (comma === -1 || surname === '' || given === '') return nameAdvice(text);
  if (Math.max([...surname].length, [...given].length) > MAX_NAME_LENGTH) {
    return msg`"${text}" is too long: a surname and a given name have at most ${MAX_NAME_LENGTH} characters each.`;
  }
  return undefined;
}

/** Explains why the service would create a person with a wrong name: it splits at the first comma without a further check. */
export function findNameDoubt(text: string): Message | undefined {
  const [surname, given] = [trimText(text.slice(0, text.indexOf(','))), trimText(text.slice(text.indexOf(',') + 1))];
  if (/[;,]/.test(given)) return severalMessage(text);
  return orderOf(`${surname} ${given}`) === 'given-first'
    ? msg`"${text}" may be reversed: the surname comes before the comma.`
    : undefined;
}

function severalMessage(text: string): Message {
  return msg`"${text}" has more than a surname and a given name. Write one person without titles: Novák, Jan.`;
}

function nameAdvice(text: string): Message {
  return msg`"${text}" is not a finder. Write a person's identifier such as OS-001507, or the name as Surname, Given name.`;
}

export type ResolveReference = (field: Field, cell: string) => Reading<Reference> | ResolvedFinder;

/** Caches the resolution of each distinct cell: a season has a few dozen in all its rows, and the rows share the references. */
export function rememberReferences(lookupTerm: LookupTerm = () => ({ kind: 'not-harvested' })): ResolveReference {
  const known = new Map<string, ReturnType<ResolveReference>>();
  return (field, written) => {
    const cell = withoutInvisible(written);
    const key = `${field.name} ${cell}`;
    const reading = known.get(key) ?? resolveReference(field, cell, lookupTerm);
    known.set(key, reading);
    return reading;
  };
}

/** Removes soft hyphens and characters without width, which come with copied text. */
function withoutInvisible(text: string): string {
  return text.replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '').trim();
}

function resolveReference({ name, set }: Field, cell: string, lookupTerm: LookupTerm): ReturnType<ResolveReference> {
  if (set === undefined) return resolveProject(cell);
  return name === 'nalezce' ? resolveFinder(cell, lookupTerm) : resolveTerm(set, cell, lookupTerm);
}
