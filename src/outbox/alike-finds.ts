import { groupBy, memoize } from '../base/collections.ts';
import {
  type ComparableFind,
  type FindIndex,
  findEditions,
  hasEnoughToCompare,
  isKnownRow,
  makeFindIndex,
  matchFinds,
  toComparableFind,
} from '../finds/match-finds.ts';
import { getSlotState } from './append-facts.ts';
import type { Entry } from './entry.ts';
import {
  findImportOfFind,
  isDroppedFind,
  listEntriesWithQuestion,
  storeQuestion,
} from './entry-queries.ts';
import { type Candidate, getCandidateKey } from './facts.ts';
import { isRejectedCandidate, judgeDeparture, makeFindCandidate } from './gate.ts';
import { makeImportSlot } from './intents.ts';
import { type Outbox, splitIntoBatches } from './open-outbox.ts';
import {
  findByLocalId,
  findByUuid,
  findEntryCommand,
  findRowOfTable,
  iterateFinds,
  listWaitingFinds,
  type StoredFind,
} from './stored-finds.ts';

// Questions about finds that are alike, from when one enters or changes until a person answers.

/**
 * Returns the other one of two finds that came with the same local id, so that one of them was
 * renamed: a list of one, with the match `near` also where they are not alike. Empty where this
 * find had no such clash, or no other find has the local id by which it knows the other one.
 */
export function listNamesakes(outbox: Outbox, find: StoredFind): Candidate[] {
  const { namesake } = find.wish;
  const other = namesake === undefined ? undefined : findByLocalId(outbox, namesake);
  if (other === undefined || other.uuid === find.uuid) return [];
  const matched = matchFinds(makeComparableFind(find), makeComparableFind(other));
  return [makeFindCandidate(other, matched === 'same' ? 'same' : 'near')];
}

/**
 * Returns the finds here that a person called others than the find of this import, without removed
 * ones.
 */
export function listRejectedFinds(outbox: Outbox, entry: Entry): StoredFind[] {
  return [...getSlotState(outbox, entry).rejected.keys()]
    .flatMap((key) => findByUuid(outbox, key) ?? [])
    .filter(({ isHidden }) => !isHidden);
}

type EnteredFind = Pick<StoredFind, 'uuid' | 'localId' | 'wish'>;
type Entered = { readonly stored: StoredFind; readonly find: ComparableFind };

/**
 * Stores questions about finds like those with these local ids, as
 * {@link storeQuestionsAboutAlikeFinds} does; nothing for an empty set.
 */
export function storeQuestionsAboutNamedFinds(outbox: Outbox, localIds: ReadonlySet<string>): void {
  if (localIds.size > 0)
    storeQuestionsAboutAlikeFinds(outbox, ({ localId }) => localIds.has(localId));
}

/**
 * Stores questions about finds like those that the running command changed, as
 * {@link storeQuestionsAboutAlikeFinds} does; nothing where it has changed none.
 */
export function storeQuestionsAboutChangedFinds(outbox: Outbox): void {
  const { id } = outbox.command;
  if (id !== undefined) storeQuestionsAboutAlikeFinds(outbox, ({ command }) => command === id);
}

/**
 * Ends questions as {@link endObsoleteAlikeQuestions} does, then compares drafts and queued finds
 * with all finds here, in transactions of 100. A find that is the same as another one or nearly so,
 * or that came with its local id, gets a question, unless it has one or the other find has one
 * about it. Never alike are:
 * - two finds that a person called different, and finds with too little content;
 * - dropped finds, and two finds that one command entered and nothing has changed since;
 * - two rows of one table with different numbers, unless one of them is in `arrived`.
 * @param hasEntered selects the finds that may get a question
 * @param arrived UUIDs of finds that came by a union: one may be a row that has another local id
 */
export function storeQuestionsAboutAlikeFinds(
  outbox: Outbox,
  hasEntered: (find: StoredFind) => boolean,
  arrived: ReadonlySet<string> = new Set(),
): void {
  endObsoleteAlikeQuestions(outbox);
  // The newest first: of two that entered, it gets the question.
  const entered = listWaitingFinds(outbox)
    .filter(hasEntered)
    .reverse()
    .map((stored): Entered => ({ stored, find: makeComparableFind(stored) }));
  if (entered.length === 0) return;
  const listAlike = makeAlikeSearch(outbox, entered, arrived);
  for (const batch of splitIntoBatches(entered))
    outbox.change(() => {
      for (const each of batch) {
        const alike = hasEnoughToCompare(each.find) ? listAlike(each) : [];
        // Most are like no other one, so their facts are not read.
        if (alike.length > 0 || each.stored.wish.namesake !== undefined)
          storeQuestionAbout(outbox, each.stored, alike);
      }
    });
}

/** Makes the function that lists the finds here which one of the entered finds may be. */
function makeAlikeSearch(
  outbox: Outbox,
  entered: readonly Entered[],
  arrived: ReadonlySet<string>,
): (one: Entered) => Candidate[] {
  const known = makeFindIndex<EnteredFind>();
  for (const each of iterateFinds(outbox)) known.add(makeComparableFind(each), each);
  const editions = findEditionsByTable(entered, known);
  const findCommand = memoize((uuid: string) => findEntryCommand(outbox, uuid));
  return ({ stored, find }) =>
    known.list(find).flatMap(({ find: other, item }) => {
      if (stored.uuid === item.uuid || areRowsOfOneTable(stored, item, arrived)) return [];
      const ofEdition = editions.get(getLastPath(stored));
      const isEdition = item.wish.rows.some(
        ({ path }) =>
          path !== null && (findRowOfTable(stored, path) !== undefined || ofEdition?.has(path)),
      );
      const matched = matchFinds(find, other, isEdition);
      if (matched === 'other' || isDroppedFind(outbox, item.uuid)) return [];
      const command = findCommand(stored.uuid);
      if (command !== undefined && command === findCommand(item.uuid)) return [];
      // A person may have answered for either of the two; for this one the gate knows it.
      const isSettled = isRejectedBy(outbox, item.uuid, makeFindCandidate(stored, matched));
      return isSettled || hasQuestionAbout(outbox, item.uuid, stored.uuid)
        ? []
        : [makeFindCandidate(item, matched)];
    });
}

/** Tells if a person has called the candidate different, in an answer for the find of this UUID. */
function isRejectedBy(outbox: Outbox, uuid: string, candidate: Candidate): boolean {
  return isRejectedCandidate(candidate, getSlotState(outbox, makeImportSlot(uuid)).rejected);
}

function hasQuestionAbout(outbox: Outbox, uuid: string, other: string): boolean {
  const { held = null } = findImportOfFind(outbox, uuid) ?? {};
  return held?.basis === ALIKE && held.candidates.some((each) => each.uuid === other);
}

const ALIKE = 'alike-here';

/**
 * Ends each question about alike finds of which no candidate is left: all are removed, dropped, no
 * longer alike, or called different by a person. One about a find that is not queued, such as a
 * draft, stays.
 */
export function endObsoleteAlikeQuestions(outbox: Outbox): void {
  for (const { id, subject, held } of listEntriesWithQuestion(outbox)) {
    if (held?.basis !== ALIKE) continue;
    const stored = findByUuid(outbox, subject);
    if (stored === undefined) continue;
    if (!held.candidates.some((candidate) => isStillAlike(outbox, stored, candidate)))
      outbox.change(() => storeQuestion(outbox, id, null));
  }
}

function isStillAlike(outbox: Outbox, stored: StoredFind, candidate: Candidate): boolean {
  const other = findByUuid(outbox, getCandidateKey(candidate));
  if (other === undefined || other.isHidden || isDroppedFind(outbox, other.uuid)) return false;
  const matched = matchFinds(makeComparableFind(stored), makeComparableFind(other), true);
  return (
    matched !== 'other' &&
    !isRejectedBy(outbox, stored.uuid, candidate) &&
    !isRejectedBy(outbox, other.uuid, makeFindCandidate(stored, candidate.matched))
  );
}

function storeQuestionAbout(outbox: Outbox, stored: StoredFind, alike: readonly Candidate[]): void {
  const entry = findImportOfFind(outbox, stored.uuid);
  const isWaiting = entry?.state === 'draft' || entry?.state === 'queued';
  if (!isWaiting || entry.held !== null) return;
  const { rejected } = getSlotState(outbox, entry);
  const namesakes = entry.attempts > 0 ? [] : listNamesakes(outbox, stored);
  const knowledge = { [ALIKE]: alike, 'local-id-in-use': namesakes };
  const question = judgeDeparture(entry, knowledge, rejected);
  if (question !== undefined) storeQuestion(outbox, entry.id, question);
}

function makeComparableFind({ elements, localId }: StoredFind): ComparableFind {
  return toComparableFind(elements, localId);
}

/** Returns, by table of the finds that entered, the other tables of which it is an edition. */
function findEditionsByTable(
  entered: readonly Entered[],
  known: FindIndex<EnteredFind>,
): ReadonlyMap<string | null, ReadonlySet<string>> {
  return new Map(
    [...groupBy(entered, ({ stored }) => getLastPath(stored))].map(([table, rows]) => {
      const hasNumbers = rows.some(({ find }) => find.number !== '');
      const listTables = ({ find }: Entered): string[] =>
        known
          .list(find)
          .filter(({ find: other }) => isKnownRow(find, other, hasNumbers))
          .flatMap(({ item }) => item.wish.rows.flatMap(({ path }) => path ?? []))
          .filter((path) => path !== table);
      return [table, findEditions(rows, listTables)];
    }),
  );
}

/** Tells if two finds are rows of one table with different numbers, neither of which arrived. */
function areRowsOfOneTable(
  one: EnteredFind,
  other: EnteredFind,
  arrived: ReadonlySet<string>,
): boolean {
  if ([one, other].some(({ uuid }) => arrived.has(uuid))) return false;
  return one.wish.rows.some(({ path, key }) => {
    const its = path === null ? undefined : findRowOfTable(other, path);
    return its !== undefined && its.key !== key;
  });
}

/** Returns the path of the table that a find was last taken from; null for none. */
function getLastPath({ wish }: EnteredFind): string | null {
  return wish.rows[0]?.path ?? null;
}
