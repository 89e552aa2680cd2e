import { type Reading, type Unreadable, unreadable } from '../base/issue.ts';
import { cmd, joinMessages, type Message, msg } from '../base/message.ts';
import { collapseText, trimText } from '../text/characters.ts';
import { canAbbreviate, foldName, nameKey, splitNameWords } from '../text/names.ts';
import type { Reference } from './field.ts';
import type { Field } from './fields.ts';
import type { LookupTerm, TermCandidate, TermLookup } from './lookup.ts';
import {
  detectNameOrder,
  isFeminineSurname,
  isGiven,
  isOneName,
  isUnknownPerson,
  type PersonName,
  parseName,
  splitName,
  type WrittenName,
} from './person-name.ts';
import {
  extractIdentifier,
  formatTerms,
  mappingConflictMessage,
  NEW_PERSON,
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
  if (extractIdentifier(cell) !== undefined) return resolveTerm(PEOPLE, cell, lookupTerm);
  const written = cell.normalize('NFC').replace(/\s+/g, ' ').trim();
  const name = parseName(written);
  const joinMessages = name.parts.join(', ');
  const plain = name.suffix === undefined ? joinMessages : `${joinMessages} ${name.suffix}`;
  const lookups = [written, ...(plain === written ? [] : [plain])].map((text) => lookupTerm(PEOPLE, text));
  const ownLookup = lookups.find(
    (lookup) => lookup.kind === 'mapping-conflict' || (lookup.kind === 'found' && lookup.isOwn === true),
  );
  const bestLookup =
    ownLookup ?? lookups.find(({ kind }) => kind === 'found') ?? lookups.find(({ kind }) => kind === 'ambiguous');
  if (bestLookup !== undefined) return chooseKnown(bestLookup, written, name);
  if (isUnknownPerson(written)) return chooseUnknown(written, lookupTerm);
  const problem = findPartsProblem(name, written);
  if (problem !== undefined) return unreadable('finder-name', problem);
  const candidates = findCandidates(name, plain, lookupTerm);
  if (candidates.length > 0) return makeUnsure(written, candidates);
  return name.parts.length === 2 ? acceptAsWritten(name, joinMessages) : splitUnmarkedName(name, written, lookupTerm);
}

function chooseKnown(lookup: TermLookup, text: string, name: WrittenName): ResolvedFinder {
  if (lookup.kind === 'mapping-conflict') return unreadable('term-mapped-astray', mappingConflictMessage(lookup, PEOPLE));
  if (lookup.kind === 'ambiguous') {
    const bornAs = foldName(name.bornAs ?? '');
    const [only, another] = lookup.candidates.filter(({ about = '' }) => bornAs !== '' && splitNameWords(about).includes(bornAs));
    if (only !== undefined && another === undefined) return acceptPerson(only, text);
    const names = formatTerms(lookup.candidates);
    const [{ id } = { id: 'OS-001507' }] = lookup.candidates;
    const message = msg`"${text}" can be several people: ${names}. Write the identifier of the right one, or always use one of them: ${cmd`pas vocab map set osoba ${text} ${id}`}`;
    return { ...unreadable('term-ambiguous', message), candidates: lookup.candidates };
  }
  if (lookup.kind !== 'found') throw new Error(`a person who is ${lookup.kind} is not known`);
  if (lookup.isOwn === true) return { value: { id: lookup.term.id, text: lookup.term.label } };
  const { about = '' } = lookup.term;
  const isOther = name.bornAs !== undefined && /\p{L}/u.test(about) && !splitNameWords(about).includes(foldName(name.bornAs));
  return isOther || isContrary(name, lookup.term) ? makeUnsure(text, [lookup.term]) : acceptPerson(lookup.term, text);
}

/** The service matches exactly this text; any other spelling would create another person. */
function acceptPerson({ id, label }: TermCandidate, text: string): ResolvedFinder {
  const asMatched = text.replace(/ ?, ?/, ', ');
  if (asMatched === label && findNameProblem(label) === undefined) return { value: { id: NEW_PERSON, text: label } };
  const remark = unreadable(FINDER_MATCHED, msg`"${text}" is read as ${id} (${label}).`);
  return { value: { id, text: label }, ...(text === label ? {} : { remark }) };
}

/** Tells if the comma contradicts the label: it marks the surname, which counts where both parts may be given names. */
function isContrary({ parts: [surname = '', givenName] }: WrittenName, { label }: TermCandidate): boolean {
  if (givenName === undefined || !isGiven(surname) || !isGiven(givenName)) return false;
  return nameKey(surname) !== nameKey(label.slice(0, label.indexOf(',')));
}

/** Names that a vocabulary may give to the entry for unknown people. */
const NAMES_OF_UNKNOWN = ['neurčeno', 'neznámý', 'neuvedeno', 'nezjištěno', 'anonym', 'unknown', 'anonymous', 'neurčený'];

function chooseUnknown(text: string, lookupTerm: LookupTerm): ResolvedFinder {
  const unknownPeople = NAMES_OF_UNKNOWN.flatMap((name) => [name, `${name}, ${name}`, `${name} nálezce`]).flatMap((name) => {
    const lookup = lookupTerm(PEOPLE, name);
    return lookup.kind === 'found' ? [lookup.term] : lookup.kind === 'ambiguous' ? lookup.candidates : [];
  });
  const people = [...new Map(unknownPeople.map((term) => [term.id, term])).values()];
  const [only, another] = people;
  if (only !== undefined && another === undefined) {
    const { id, label } = only;
    return {
      value: { id, text: label },
      remark: unreadable(FINDER_MATCHED, msg`"${text}" is not a person's name; it is mapped to ${id} (${label}).`),
    };
  }
  if (only !== undefined) return makeUnsure(text, people);
  const message = msg`"${text}" is not a person's name. Leave the finder out, or map the words to a person: ${cmd`pas vocab map set osoba ${text}`} ID`;
  return unreadable('finder-unknown', message);
}

function makeUnsure(text: string, candidates: readonly TermCandidate[]): ResolvedFinder {
  const names = formatTerms(candidates);
  const [{ id } = { id: 'OS-001507' }] = candidates;
  const message = msg`"${text}" may be ${names}. Write the identifier, or the whole name of another person; if it is always this one: ${cmd`pas vocab map set osoba ${text} ${id}`}`;
  return { ...unreadable('finder-unsure', message), candidates };
}

/** Returns people who may be meant although the name is incomplete; a person must decide. */
function findCandidates(name: WrittenName, plain: string, lookupTerm: LookupTerm): readonly TermCandidate[] {
  const bare = name.parts.join(' ');
  const withoutCut = bare
    .split(' ')
    .filter((word) => !/^\p{L}\.?$/u.test(word))
    .join(' ');
  const [, givenName = ''] = name.parts;
  const variants = [
    ...(name.suffix === undefined ? [] : [bare]),
    ...(withoutCut === bare ? [] : [withoutCut]),
    ...(name.bornAs === undefined ? [] : [`${givenName || (splitName(bare)?.givenName ?? '')} ${name.bornAs}`]),
  ];
  const sameNamed = variants.flatMap((text) => listPeople(lookupTerm(PEOPLE, text)));
  const lookup = lookupTerm(PEOPLE, plain);
  const shortened = lookup.kind === 'unknown' ? lookup.nearest.filter(({ label }) => canAbbreviate(bare, label)) : [];
  return [...new Map([...sameNamed, ...shortened].map((term) => [term.id, term])).values()];
}

function listPeople(lookup: TermLookup): readonly TermCandidate[] {
  return lookup.kind === 'found' ? [lookup.term] : lookup.kind === 'ambiguous' ? lookup.candidates : [];
}

/** Takes the name as `Surname, Given name`, unless all evidence shows the other order. */
function acceptAsWritten(name: WrittenName, joinMessages: string): ResolvedFinder {
  const [surname = '', givenName = ''] = name.parts;
  if (isFeminineSurname(givenName) && !isFeminineSurname(surname)) {
    const turned = `${givenName}, ${surname}`;
    return unreadable('finder-name', msg`"${joinMessages}" looks reversed: the surname comes before the comma. Write ${turned}.`);
  }
  return makeNewPerson({ surname, givenName }, name);
}

function splitUnmarkedName(name: WrittenName, text: string, lookupTerm: LookupTerm): ResolvedFinder {
  const [bare = ''] = name.parts;
  const split = isOneName(bare) ? splitName(bare) : undefined;
  if (split !== undefined) return makeNewPerson(split, name);
  const lookup = lookupTerm(PEOPLE, bare);
  const nearest = lookup.kind === 'unknown' ? lookup.nearest : [];
  const names = formatTerms(nearest);
  const advice = nearest.length === 0 ? nameAdvice(text) : joinMessages([nameAdvice(text), msg`Nearest: ${names}.`], ' ');
  return { ...unreadable('finder-name', advice), ...(nearest.length === 0 ? {} : { candidates: nearest }) };
}

/** Suffix and birth name, which distinguish people of one name, are stored with the surname. */
function makeNewPerson({ surname, givenName }: PersonName, { suffix, bornAs }: WrittenName): ResolvedFinder {
  const text = `${suffix === undefined ? surname : `${surname} ${suffix}`}, ${givenName.replace(/\s+/g, ' ')}`;
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
function findPartsProblem({ parts, suffix }: WrittenName, text: string): Message | undefined {
  const [surname = '', givenName] = parts;
  if (givenName === undefined) return surname === '' ? nameAdvice(text) : undefined;
  if (parts.some((part) => part === '')) return nameAdvice(text);
  const joinMessages = parts.join(', ');
  const isTwo = [surname, givenName].every((part) => part.includes(' ') && part.split(' ').some(isGiven));
  if (parts.length > 2 || isTwo || !isOneName(joinMessages)) return describeSeveral(text);
  return findNameProblem(suffix === undefined ? joinMessages : `${surname} ${suffix}, ${givenName}`);
}

/** Explains why the service would refuse a text as the name of a new person. */
export function findNameProblem(text: string): Message | undefined {
  const comma = text.indexOf(',');
  const surname = trimText(text.slice(0, Math.max(0, comma)));
  const givenName = collapseText(text.slice(comma + 1));
  if (comma === -1 || surname === '' || givenName === '') return nameAdvice(text);
  if (Math.max([...surname].length, [...givenName].length) > MAX_NAME_LENGTH) {
    return msg`"${text}" is too long: a surname and a given name have at most ${MAX_NAME_LENGTH} characters each.`;
  }
  return undefined;
}

/** Explains why the service would create a person with a wrong name: it splits at the first comma without a further check. */
export function findNameDoubt(text: string): Message | undefined {
  const [surname, givenName] = [trimText(text.slice(0, text.indexOf(','))), trimText(text.slice(text.indexOf(',') + 1))];
  if (/[;,]/.test(givenName)) return describeSeveral(text);
  return detectNameOrder(`${surname} ${givenName}`) === 'given-first'
    ? msg`"${text}" may be reversed: the surname comes before the comma.`
    : undefined;
}

function describeSeveral(text: string): Message {
  return msg`"${text}" has more than a surname and a given name. Write one person without titles: Novák, Jan.`;
}

function nameAdvice(text: string): Message {
  return msg`"${text}" is not a finder. Write a person's identifier such as OS-001507, or the name as Surname, Given name.`;
}

export type ResolveReference = (field: Field, cell: string) => Reading<Reference> | ResolvedFinder;

/** Caches the resolution of each distinct cell: a season has a few dozen in all its rows, and the rows share the references. */
export function rememberReferences(lookupTerm: LookupTerm = () => ({ kind: 'not-harvested' })): ResolveReference {
  const resolutions = new Map<string, ReturnType<ResolveReference>>();
  return (field, text) => {
    const cell = withoutInvisible(text);
    const key = `${field.name} ${cell}`;
    const reading = resolutions.get(key) ?? resolveReference(field, cell, lookupTerm);
    resolutions.set(key, reading);
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
