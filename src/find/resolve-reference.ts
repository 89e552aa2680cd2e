import { cmd, type Message, msg } from '../base/message.ts';
import { type Reading, unreadable } from '../text/reading.ts';
import type { Reference } from './field.ts';
import type { Field } from './fields.ts';
import type { LookupTerm, TermCandidate, TermLookup } from './lookup.ts';
import { isFeminineSurname, orderOf, type PersonName, readings, withoutTitles } from './person-name.ts';

/** `HES-000312`, `ORG-000091`, `OS-001507`. */
const IDENTIFIER = /^[A-Za-z]+-\d+$/;

/** The identifier of a person whom the service may not know yet (contract, element `nalezce`). */
export const NEW_PERSON = ':tba';

/** What a cell says to mean this reference: a person whom the service may not know yet goes by the name. */
export function cellOfReference({ id, text }: Reference): string {
  return id === NEW_PERSON ? text : id;
}

/** Longer names fail inside the service (service facts 4.5). */
export const MAX_NAME_LENGTH = 100;

/** A cell of an element that refers to something. */
export type ResolveReference = (field: Field, cell: string) => Reading<Reference>;

/** Resolves each different cell once: a season has a few dozen, in however many rows, and they share their references. */
export function rememberReferences(lookupTerm: LookupTerm = () => ({ kind: 'not-harvested' })): ResolveReference {
  const known = new Map<string, Reading<Reference>>();
  return (field, written) => {
    const cell = withoutInvisible(written);
    const key = `${field.name} ${cell}`;
    const reading = known.get(key) ?? resolveReference(field, cell, lookupTerm);
    known.set(key, reading);
    return reading;
  };
}

/** Hyphens that show only where a line breaks, and characters without width: they come with copying and belong to no name. */
function withoutInvisible(text: string): string {
  return text.replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '').trim();
}

function resolveReference(field: Field, cell: string, lookupTerm: LookupTerm): Reading<Reference> {
  if (field.name === 'nalezce') return resolveFinder(cell, lookupTerm);
  return field.set === undefined ? resolveProject(cell) : resolveTerm(field.set, cell, lookupTerm);
}

/** `c-202400101`, `X-M-202400101`: capitals cost a key on a phone (service facts 11). */
const PROJECT = /^(?:x-)?[a-z]-\d{9}$/i;

/** A survey project, by its identifier. Nothing can be said of its form but that it is one word. */
export function resolveProject(cell: string): Reading<Reference> {
  const written = withoutAddress(cell);
  const id = PROJECT.test(written) ? written.toUpperCase() : written;
  if (/[\s,;]/.test(id)) {
    return unreadable('project', msg`"${cell}" is no identifier of a project. Write the identifier alone, such as C-202400101.`);
  }
  return { value: { id, text: id } };
}

/** A vocabulary entry or an organisation, by identifier, label or the museum's own term. */
export function resolveTerm(set: string, cell: string, lookupTerm: LookupTerm): Reading<Reference> {
  const id = identifierIn(cell);
  const found = lookupTerm(set, id ?? cell);
  switch (found.kind) {
    case 'found':
      return { value: { id: found.term.id, text: found.term.label } };
    case 'ambiguous':
      return unreadable('term-ambiguous', ambiguousMessage(found.candidates, set, cell));
    case 'unknown':
      return unreadable('term-unknown', unknownMessage(found.nearest, set, cell));
    case 'wrong-set':
      return unreadable('term-wrong-set', wrongSetMessage(found.term, set));
    case 'deleted':
      return unreadable('term-deleted', deletedMessage(found.term, set));
    case 'mapping-conflict':
      return unreadable('term-mapped-astray', mappingConflictMessage(found, set));
    case 'not-harvested':
      return id === undefined ? unreadable('term-not-harvested', notHarvestedMessage(set, cell)) : { value: { id, text: '' } };
  }
}

/** They say more of a name that is no finder than that it is none. */
const TELLING_RULES = ['term-ambiguous', 'term-mapped-astray'];

/**
 * The finder: a person's identifier, or a name, which the service matches with a person of exactly that surname and given name or else
 * makes one. Whichever way round a name is written, harvested people tell which part is which, or else the given names that everybody
 * knows; what they do not tell is no guess.
 */
export function resolveFinder(cell: string, lookupTerm: LookupTerm): Reading<Reference> {
  if (identifierIn(cell) !== undefined) return resolveTerm('osoba', cell, lookupTerm);
  const name = withoutTitles(cell);
  if (name.includes(',')) return resolveParts(name, lookupTerm);
  const resolved = resolveTerm('osoba', name, lookupTerm);
  if ('value' in resolved || TELLING_RULES.includes(resolved.rule)) return resolved;
  const parts = readings(name);
  const certain = orderOf(name);
  return parts === undefined || certain === undefined
    ? unreadable('finder-name', nameAdvice(cell))
    : { value: newPerson(parts[certain]) };
}

/** `Surname, Given name`, unless everything speaks for the other way round. */
function resolveParts(name: string, lookupTerm: LookupTerm): Reading<Reference> {
  const problem = findNameProblem(name) ?? (/,.*[;,]/.test(name) ? findNameDoubt(name) : undefined);
  if (problem !== undefined) return unreadable('finder-name', problem);
  const [surname, given] = [name.slice(0, name.indexOf(',')), name.slice(name.indexOf(',') + 1)].map(withoutTitles) as [
    string,
    string,
  ];
  const turned = `${given}, ${surname}`;
  const isKnown = (text: string): boolean => lookupTerm('osoba', text).kind === 'found';
  const isAsWritten = isKnown(`${surname}, ${given}`);
  if (!isAsWritten && (isKnown(turned) || (isFeminineSurname(given) && !isFeminineSurname(surname)))) {
    return unreadable('finder-name', msg`"${name}" looks turned round: before the comma stands the surname. Write ${turned}.`);
  }
  return { value: newPerson({ surname, given }) };
}

function newPerson({ surname, given }: PersonName): Reference {
  return { id: NEW_PERSON, text: `${surname}, ${given.replace(/\s+/g, ' ')}` };
}

/** Why the service would not take a text as the name of a new person. */
export function findNameProblem(text: string): Message | undefined {
  const comma = text.indexOf(',');
  const surname = text.slice(0, Math.max(0, comma)).trim();
  const given = text
    .slice(comma + 1)
    .trim()
    .replace(/\s+/g, ' ');
  if (comma === -1 || surname === '' || given === '') return nameAdvice(text);
  if (Math.max([...surname].length, [...given].length) > MAX_NAME_LENGTH) {
    return msg`"${text}" is too long: a surname and a given name have at most ${MAX_NAME_LENGTH} characters each.`;
  }
  return undefined;
}

/** Why the service would make a person of an odd name from it: it splits at the first comma and looks no further. */
export function findNameDoubt(text: string): Message | undefined {
  const [surname, given] = [text.slice(0, text.indexOf(',')).trim(), text.slice(text.indexOf(',') + 1).trim()];
  if (/[;,]/.test(given))
    return msg`"${text}" has more than a surname and a given name. Write one person without titles: Novák, Jan.`;
  return orderOf(`${surname} ${given}`) === 'given-first'
    ? msg`"${text}" may be turned round: before the comma stands the surname.`
    : undefined;
}

export function wrongSetMessage(term: TermCandidate, set: string): Message {
  return msg`${term.id} (${term.label}) is an entry of ${term.setSpec}, but one of ${set} is needed. Look with: ${cmd`pas vocab list ${set}`}`;
}

export function deletedMessage(term: TermCandidate, set: string): Message {
  return msg`${term.id} (${term.label}) was deleted from ${set}. Choose another: ${cmd`pas vocab search ${term.label} --set ${set}`}`;
}

export function mappingConflictMessage(found: Extract<TermLookup, { kind: 'mapping-conflict' }>, set: string): Message {
  const { own, target, term, because } = found;
  const named = term === undefined ? target : `${term.id} (${term.label})`;
  const why =
    because === 'deleted'
      ? msg`was deleted from ${set}`
      : because === 'wrong-set' && term !== undefined
        ? msg`is an entry of ${term.setSpec} now`
        : msg`is no entry of ${set}`;
  return msg`"${own}" is mapped to ${named}, which ${why}. Choose another: ${cmd`pas vocab map set ${set} ${own}`} ID`;
}

function ambiguousMessage(candidates: readonly TermCandidate[], set: string, cell: string): Message {
  const named = list(candidates);
  return msg`"${cell}" can mean several entries of ${set}: ${named}. Write the identifier of the right one.`;
}

function unknownMessage(nearest: readonly TermCandidate[], set: string, cell: string): Message {
  const advice = nearestAdvice(set, cell, nearest);
  return msg`Nothing in ${set} is called "${cell}". ${advice}`;
}

export function nearestAdvice(set: string, cell: string, nearest: readonly TermCandidate[]): Message {
  const named = list(nearest);
  return nearest.length > 0 ? msg`Nearest: ${named}.` : msg`Look with: ${cmd`pas vocab search ${cell} --set ${set}`}`;
}

function notHarvestedMessage(set: string, cell: string): Message {
  return msg`"${cell}" cannot be looked up: ${set} was not harvested yet. Run ${cmd`pas harvest-vocab`}, or write the identifier.`;
}

function nameAdvice(text: string): Message {
  return msg`"${text}" is no finder. Write a person's identifier such as OS-001507, or the name as Surname, Given name.`;
}

/** Takes an entry's address for its identifier: imports want the latter (contract, "What the service does", 4). */
function withoutAddress(cell: string): string {
  return /^https?:\/\/\S+\/id\/([^/\s]+)$/.exec(cell)?.[1] ?? cell;
}

function identifierIn(cell: string): string | undefined {
  const text = withoutAddress(cell);
  return IDENTIFIER.test(text) ? text.toUpperCase() : undefined;
}

function list(terms: readonly TermCandidate[]): string {
  return terms.map((term) => `${term.id} (${term.label})`).join(', ');
}
