import { type Reading, unreadable } from '../base/issue.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import type { Reference } from './field.ts';
import { FIELDS } from './fields.ts';
import type { LookupTerm, TermCandidate, TermLookup } from './lookup.ts';

/** `HES-000312`, `ORG-000091`, `OS-001507`. */
const IDENTIFIER = /^[A-Za-z]+-\d+$/;

/** Identifier of a person whom the service may not know yet (A-FIELD-16). */
export const NEW_PERSON = ':tba';

/** Returns the cell for a reference: a new person's name, else the identifier. */
export function cellOfReference({ id, text }: Reference): string {
  return id === NEW_PERSON ? text : id;
}

/** `c-202400101`, `X-M-202400101`; lower case is accepted since capitals cost a key on a phone (S-IDENT-1). */
const PROJECT = /^(?:x-)?[a-z]-\d{9}$/i;

/** Resolves a survey project by its identifier; the only check of its form is that it is one word. */
export function resolveProject(cell: string): Reading<Reference> {
  const text = withoutAddress(cell);
  const id = PROJECT.test(text) ? text.toUpperCase() : text;
  if (/[\s,;]/.test(id)) {
    return unreadable('project', msg`"${cell}" is not a project identifier. Write the identifier alone, such as C-202400101.`);
  }
  return { value: { id, text: id } };
}

/** Resolves a vocabulary entry or an organisation by identifier, label or the museum's own term. */
export function resolveTerm(set: string, cell: string, lookupTerm: LookupTerm): Reading<Reference> {
  const id = extractIdentifier(cell);
  const lookup = lookupTerm(set, id ?? cell);
  switch (lookup.kind) {
    case 'found':
      return { value: { id: lookup.term.id, text: lookup.term.label } };
    case 'ambiguous':
      return unreadable('term-ambiguous', ambiguousMessage(lookup.candidates, set, cell));
    case 'unknown':
      return unreadable('term-unknown', unknownMessage(lookup, set, cell));
    case 'wrong-set':
      return unreadable('term-wrong-set', wrongSetMessage(lookup.term, set));
    case 'deleted':
      return unreadable('term-deleted', deletedMessage(lookup.term, set));
    case 'mapping-conflict':
      return unreadable('term-mapped-astray', mappingConflictMessage(lookup, set));
    case 'not-harvested':
      return id === undefined ? unreadable('term-not-harvested', describeNotHarvested(set, cell)) : { value: { id, text: '' } };
  }
}

const SET_LABELS: Readonly<Record<string, Message>> = {
  'heslo:nalezove_okolnosti': msg`finding contexts`,
  'heslo:obdobi': msg`periods`,
  'heslo:predmet_druh': msg`object types`,
  'heslo:predmet_specifikace': msg`materials`,
  'heslo:pristupnost': msg`accessibility`,
  osoba: msg`people`,
  organizace: msg`organisations`,
};

/** Names a set for people, with its set name in brackets. */
export function setText(set: string): Message {
  const label = SET_LABELS[set];
  return label === undefined ? set : msg`${label} (${set})`;
}

export function wrongSetMessage(term: TermCandidate, set: string): Message {
  const [ownSet, needed] = [setText(term.setSpec), setText(set)];
  return msg`${term.label} (${term.id}) is an entry of ${ownSet}, but this element needs one of ${needed}. See: ${cmd`pas vocab list ${set}`}`;
}

export function deletedMessage(term: TermCandidate, set: string): Message {
  const where = setText(set);
  return msg`${term.label} (${term.id}) was deleted from ${where}. Choose another: ${cmd`pas vocab search ${term.label} --set ${set}`}`;
}

export function mappingConflictMessage(lookup: Extract<TermLookup, { kind: 'mapping-conflict' }>, set: string): Message {
  const { ownTerm, target, term, because } = lookup;
  const named = term === undefined ? target : `${term.label} (${term.id})`;
  const where = setText(because === 'wrong-set' && term !== undefined ? term.setSpec : set);
  const why =
    because === 'deleted'
      ? msg`was deleted from ${where}`
      : because === 'wrong-set' && term !== undefined
        ? msg`is now an entry of ${where}`
        : msg`is not an entry of ${where}`;
  return msg`"${ownTerm}" is mapped to ${named}, which ${why}. Choose another: ${cmd`pas vocab map set ${set} ${ownTerm}`} ID`;
}

function ambiguousMessage(candidates: readonly TermCandidate[], set: string, cell: string): Message {
  const [where, names] = [setText(set), formatTerms(candidates)];
  return msg`"${cell}" can mean several entries of ${where}: ${names}. Write the identifier of the right one.`;
}

type UnknownTerm = Extract<TermLookup, { kind: 'unknown' }>;

function unknownMessage(lookup: UnknownTerm, set: string, cell: string): Message {
  const [where, advice] = [setText(set), adviseNearest(set, lookup)];
  const other = lookup.elsewhere?.find(({ setSpec }) => FIELDS.some((field) => field.set === setSpec));
  if (other === undefined) return msg`${where} has no entry "${cell}". ${advice}`;
  const elsewhere = setText(other.setSpec);
  return msg`"${cell}" is an entry of ${elsewhere}, not of ${where}. ${advice}`;
}

export function adviseNearest(set: string, { nearest, isAll }: UnknownTerm): Message {
  const names = formatTerms(nearest);
  if (isAll === true) return msg`There are: ${names}.`;
  return nearest.length > 0 ? msg`Nearest: ${names}.` : msg`To list them all: ${cmd`pas vocab list ${set}`}.`;
}

function describeNotHarvested(set: string, cell: string): Message {
  const where = setText(set);
  return msg`"${cell}" cannot be looked up: ${where} was not harvested yet. Run ${cmd`pas harvest-vocab`}, or write the identifier.`;
}

/** Reduces an entry's address to its identifier, which imports require (S-SERVICE-4). */
function withoutAddress(cell: string): string {
  return /^https?:\/\/\S+\/id\/([^/\s]+)$/.exec(cell)?.[1] ?? cell;
}

export function extractIdentifier(cell: string): string | undefined {
  const text = withoutAddress(cell);
  return IDENTIFIER.test(text) ? text.toUpperCase() : undefined;
}

/** Lists entries: `Kučera, Pavel (OS-000304, 1966)` */
export function formatTerms(terms: readonly TermCandidate[]): string {
  return terms.map(({ id, label, about }) => `${label} (${about === undefined ? id : `${id}, ${about}`})`).join(', ');
}
