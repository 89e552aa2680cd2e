import { type Message, msg } from '../base/message.ts';
import { FORBIDDEN_TEXT } from '../finds/harvested-find.ts';
import type { Entry, HeldQuestion } from './entry.ts';
import { type Candidate, type GateBasis, getCandidateKey, type RejectedMatch } from './facts.ts';

/**
 * Candidates for what an entry is already, by the question about them; absent or empty for none.
 */
export type Knowledge = { readonly [Basis in GateBasis]?: readonly Candidate[] };

/**
 * Judges by what is known of an entry if it may be sent. Pure.
 * @param rejected candidates that a person excluded, by key, with how strongly they matched then
 * @returns the first question that the person's answers leave open, whose text names at most five
 * candidates; undefined where the entry may be sent
 */
export function judgeDeparture(
  entry: Entry,
  knowledge: Knowledge,
  rejected: ReadonlyMap<string, RejectedMatch>,
): HeldQuestion | undefined {
  for (const basis of GATE_BASES) {
    const candidates = (knowledge[basis] ?? []).filter(
      (each) => !isRejectedCandidate(each, rejected),
    );
    if (candidates.length === 0) continue;
    const matched = candidates.some((each) => each.matched === 'same') ? 'same' : 'near';
    const names = candidates.slice(0, MAX_NAMED).map(({ name }) => name);
    return { basis, question: QUESTIONS[basis](names.join(', '), entry, matched), candidates };
  }
  return undefined;
}

const MAX_NAMED = 5;

/** Tells if a person excluded the candidate, and it matches no more strongly than it did then. */
export function isRejectedCandidate(
  candidate: Candidate,
  rejected: ReadonlyMap<string, RejectedMatch>,
): boolean {
  const answered = rejected.get(getCandidateKey(candidate));
  return answered === 'same' || answered === candidate.matched;
}

/** Makes the candidate of a find. */
export function makeFindCandidate(
  { uuid, localId }: { readonly uuid: string; readonly localId: string },
  matched: RejectedMatch,
): Candidate {
  return { name: localId, uuid, matched };
}

/** Makes a candidate without a UUID of each name, with the strongest match, `same`. */
export function makeCandidates(names: readonly string[]): Candidate[] {
  return names.map((name) => ({ name, matched: 'same' }));
}

/** Makes the words of a question. */
type Ask = (names: string, entry: Entry, matched: Candidate['matched']) => Message;

/** In the order in which they are asked. */
const QUESTIONS: Readonly<Record<GateBasis, Ask>> = {
  // A find that came with another command and another table; asked when the find enters.
  'alike-here': (names, _entry, matched) =>
    matched === 'same'
      ? msg`it is the same as ${names} in this outbox`
      : msg`it differs little from ${names} in this outbox`,
  // Asked before its numbers and photographs are sent.
  'two-records': (names) =>
    msg`the service has two records of this find (${names}). This is to go to the first one. For another one queue it anew by that identifier, and drop this.`,
  // A find here that had the local id of this one before, or has it now.
  'local-id-in-use': (names) =>
    msg`another find with the same local id is or was here (${names}): is this one a different find?`,
  // Attempted at the service from this machine, by another account.
  'attempted-elsewhere': (names, _entry, matched) =>
    matched === 'same'
      ? msg`the same find was sent from this machine before (${names})`
      : msg`a find that differs little, or has the same local id, was sent from this machine before (${names})`,
  // An undo, or a copy of the outbox, gave one number to two finds.
  'number-used': (names, entry) =>
    entry.kind === 'number'
      ? msg`${entry.value} is also the number of ${names}. Give each find its own.`
      : msg`its number is also the number of ${names}. Give each find its own.`,
  // A record of this account that no fact explains.
  'equal-record': (names, _entry, matched) =>
    matched === 'same'
      ? msg`the service shows an identical record of this account (${names})`
      : msg`the service shows a record of this account that differs little (${names})`,
  'not-searched': () =>
    msg`the outbox was pushed from another place, or its ledger was lost, and the service cannot be searched: the entry may already have been sent`,
  // The record is gone, or its maker and time are not those of the import here.
  'record-not-ours': (names) =>
    msg`the record ${names} was deleted, or made by another account or at another time than this find: the service may have given it to another find`,
  // Files of the record that no fact explains.
  'equal-photograph': (names) => msg`the record has a file that may be this photograph (${names})`,
  // Neither the expected nor the new one: another user has set it, or may have.
  'number-changed': (names, entry) => {
    const value = entry.kind === 'number' ? entry.value : '';
    if (names === FORBIDDEN_TEXT)
      return msg`the service does not show the record to this account, so it may have another number; ${value} is to replace it`;
    return names === ''
      ? msg`the record no longer has a number; ${value} is to be set`
      : msg`the record has the number ${names}; ${value} is to replace it`;
  },
};

const GATE_BASES = Object.keys(QUESTIONS) as GateBasis[];
