import { type Message, msg } from '../base/message.ts';
import type { Entry, HeldBasis, HeldQuestion } from './entry.ts';
import type { Candidate, RejectedMatch } from './facts.ts';

/** Knowledge about an entry right before it is sent. */
export type Knowledge = {
  /** Finds here that came with another command and another table; asked when the find enters. */
  readonly alike: readonly Candidate[];
  /** The records that the find's facts name; two are a question. */
  readonly records: readonly string[];
  /** A find here that had the local id of this one before, or has it now. */
  readonly namesakes: readonly Candidate[];
  /** Finds that were attempted at the service from this machine, and are not in this outbox. */
  readonly attempted: readonly Candidate[];
  /** Records of this account that no fact explains. */
  readonly unexplained: readonly Candidate[];
  /** Records of the project that are listed and not shown. */
  readonly hidden: readonly string[];
  /** Another place may have sent it, and the service cannot be searched. */
  readonly isUnsearched: boolean;
  /** Maker and time of the record are not those of the import here. */
  readonly isRecordOfOthers: boolean;
  /** Files of the record that no fact explains and that may be this photograph. */
  readonly files: readonly string[];
  /** Number of the record; undefined where it was not looked up. */
  readonly shownNumber: string | undefined;
  /** Numbers that the record may have without a change by another user. */
  readonly ownNumbers: ReadonlySet<string>;
  /** Candidates that a person excluded, as strong as they matched then. */
  readonly rejected: ReadonlyMap<string, RejectedMatch>;
};

export type GateDecision =
  | { readonly kind: 'leave' }
  | { readonly kind: 'ask'; readonly held: HeldQuestion };

/** Knowledge without anything to ask about. */
export const NOTHING_KNOWN: Knowledge = {
  alike: [],
  records: [],
  namesakes: [],
  attempted: [],
  unexplained: [],
  hidden: [],
  isUnsearched: false,
  isRecordOfOthers: false,
  files: [],
  shownNumber: undefined,
  ownNumbers: new Set(),
  rejected: new Map(),
};

/** Decides if an entry may be sent: the first question that a person has not answered. Pure. */
export function judgeDeparture(entry: Entry, knowledge: Knowledge): GateDecision {
  for (const { basis, list, ask } of QUESTIONS) {
    const open = list(entry, knowledge).filter((candidate) => !isAnswered(candidate, knowledge));
    const [first] = open;
    if (first === undefined) continue;
    const matched = open.some((each) => each.matched === 'same') ? 'same' : 'near';
    const names = open.map(({ name }) => name);
    const near = open.flatMap((each) => (each.matched === 'near' ? each.name : []));
    const question = ask(names.slice(0, MAX_NAMED).join(', '), entry, matched);
    return { kind: 'ask', held: { basis, question, candidates: names, near } };
  }
  return { kind: 'leave' };
}

const MAX_NAMED = 5;

/**
 * Returns where the knowledge for a question comes from, which must be known anew before it can
 * end without an answer; `entrance` also for a basis that the gate does not ask.
 */
export function getSourceOfQuestion(basis: HeldBasis): Question['from'] {
  return QUESTIONS.find((question) => question.basis === basis)?.from ?? 'entrance';
}

/** An answer holds until the candidate matches more strongly. */
function isAnswered({ name, matched }: Candidate, { rejected }: Knowledge): boolean {
  const answered = rejected.get(name);
  return answered === 'same' || answered === matched;
}

type Question = {
  readonly basis: HeldBasis;
  /**
   * Where the knowledge comes from: a command or a union that asks once, this machine, or a search
   * of the service.
   */
  readonly from: 'entrance' | 'machine' | 'service';
  readonly list: (entry: Entry, knowledge: Knowledge) => readonly Candidate[];
  readonly ask: (names: string, entry: Entry, matched: Candidate['matched']) => Message;
};

const toCandidates = (names: readonly string[]): Candidate[] =>
  names.map((name) => ({ name, matched: 'same' }));

const QUESTIONS: readonly Question[] = [
  {
    basis: 'alike-here',
    from: 'entrance',
    list: (_entry, { alike }) => alike,
    ask: (names, _entry, matched) =>
      matched === 'same'
        ? msg`it is the same as ${names}, which is here too`
        : msg`it differs little from ${names}, which is here too`,
  },
  {
    basis: 'two-records',
    from: 'machine',
    list: ({ kind }, { records }) =>
      kind === 'import' || records.length < 2 ? [] : toCandidates(records),
    ask: (names) => msg`the service has two records of this find (${names}): which one is it?`,
  },
  {
    basis: 'local-id-in-use',
    from: 'machine',
    list: ({ kind }, { namesakes }) => (kind === 'import' ? namesakes : []),
    ask: (names) =>
      msg`a find with other values was sent from this machine as ${names}: is this one a different find?`,
  },
  {
    basis: 'attempted-elsewhere',
    from: 'machine',
    list: ({ kind }, { attempted }) => (kind === 'import' ? attempted : []),
    ask: (names, _entry, matched) =>
      matched === 'same'
        ? msg`the same find was sent from this machine before (${names})`
        : msg`a find that differs little was sent from this machine before (${names})`,
  },
  {
    basis: 'equal-record',
    from: 'service',
    list: ({ kind }, { unexplained }) => (kind === 'import' ? unexplained : []),
    ask: (names, _entry, matched) =>
      matched === 'same'
        ? msg`the service shows an identical record of this account (${names})`
        : msg`the service shows a record of this account that differs little (${names})`,
  },
  {
    basis: 'hidden-records',
    from: 'service',
    list: ({ kind }, { hidden }) => (kind === 'import' ? toCandidates(hidden) : []),
    ask: (names) =>
      msg`the service lists records of this project that this account may not read (${names}): one may be this find`,
  },
  {
    basis: 'not-searched',
    from: 'service',
    // A photograph without a record waits for its find.
    list: ({ kind, identCely }, { isUnsearched }) =>
      isUnsearched && (kind === 'import' || (kind === 'photo' && identCely !== null))
        ? toCandidates([''])
        : [],
    ask: () =>
      msg`the outbox was pushed from another place, or its ledger was lost, and the service cannot be searched: the entry may already have been sent`,
  },
  {
    basis: 'record-not-ours',
    from: 'service',
    list: ({ kind, identCely }, { isRecordOfOthers }) =>
      kind !== 'import' && isRecordOfOthers ? toCandidates([identCely ?? '']) : [],
    ask: (names) =>
      msg`the record ${names} was made by another account or at another time than this find: the service may have given it to another find`,
  },
  {
    basis: 'equal-photograph',
    from: 'service',
    list: ({ kind }, { files }) => (kind === 'photo' ? toCandidates(files) : []),
    ask: (names) => msg`the record has a file that may be this photograph (${names})`,
  },
  {
    basis: 'number-changed',
    from: 'service',
    list: listChangedNumbers,
    ask: (names, entry) => {
      const value = entry.kind === 'number' ? entry.value : '';
      return names === ''
        ? msg`the record no longer has a number; ${value} is to be set`
        : msg`the record has the number ${names}; ${value} is to replace it`;
    },
  },
];

/** Returns a number that is neither the expected nor the new one: another user has set it. */
function listChangedNumbers(
  entry: Entry,
  { shownNumber, ownNumbers }: Knowledge,
): readonly Candidate[] {
  if (entry.kind !== 'number' || shownNumber === undefined) return [];
  // The previous number of a record without a find here is unknown: an empty one is no change.
  const isFirst = shownNumber === '' && entry.expects === null;
  const isExpected =
    isFirst ||
    shownNumber === entry.value ||
    shownNumber === entry.expects ||
    ownNumbers.has(shownNumber);
  return isExpected ? [] : toCandidates([shownNumber]);
}
