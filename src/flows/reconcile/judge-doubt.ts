import { msgid } from '../../base/language.ts';
import { msg, nmsg } from '../../base/message.ts';
import { differingElements, type HarvestedElements, type HarvestedFind, type HistoryEntry } from '../../find/harvested-find.ts';
import { idOf, judgeAbsence, shownKindOf } from './judge-absence.ts';
import { CLOCK_MARGIN_MS, fits, undecided, type Verdict, type View, type Window } from './verdict.ts';

export type ImportDoubt = {
  readonly entryId: number;
  /** Of the document that was sent. */
  readonly elements: HarvestedElements;
  readonly window: Window;
  /** Since it may have been sent long ago, it may have been given its number since. */
  readonly numberMayDiffer?: boolean;
  /** It was added after that time, so most likely it is another find: only what is nearly the same speaks against that. */
  readonly addedSince?: boolean;
};

export function projectOfFind({ projekt }: HarvestedElements): string {
  return idOf(projekt);
}

/** Verdicts by entry. Finds that are the same in every element are told apart by time, or not at all. */
export function judgeImports(doubts: readonly ImportDoubt[], view: View): Map<number, Verdict> {
  const alike = new Map(doubts.map((doubt) => [doubt.entryId, recordsLike(doubt, view)]));
  const fitting = new Map(
    doubts.map(({ entryId, window }) => {
      const untilAnswered = { ...window, untilMs: window.answeredMs };
      return [entryId, (alike.get(entryId) ?? []).filter((find) => couldBeMade(untilAnswered, find))];
    }),
  );
  const claims = new Map<string, number>();
  for (const finds of fitting.values())
    for (const { identCely } of finds) claims.set(identCely, (claims.get(identCely) ?? 0) + 1);
  return new Map(
    doubts.map((doubt) => [
      doubt.entryId,
      judgeImport(doubt, alike.get(doubt.entryId) ?? [], fitting.get(doubt.entryId) ?? [], claims, view),
    ]),
  );
}

function judgeImport(
  doubt: ImportDoubt,
  alike: readonly HarvestedFind[],
  fitting: readonly HarvestedFind[],
  claims: ReadonlyMap<string, number>,
  view: View,
): Verdict {
  const candidates = alike.map(({ identCely }) => identCely);
  const [only, ...others] = fitting;
  if (only !== undefined && doubt.window.accounts === undefined) {
    const reason = msg`${only.identCely} is the same in every element that can be read, but nobody knows which account made the attempt`;
    return undecided('maker-unknown', reason, candidates);
  }
  if (only !== undefined && others.length === 0 && claims.get(only.identCely) === 1) {
    const reason = msg`${only.identCely} appeared since the attempt and is the same in every element that can be read`;
    return { kind: 'found', identCely: only.identCely, basis: 'same-and-new', reason, candidates };
  }
  if (only !== undefined && others.length === 0) {
    return undecided(
      'rival-find',
      msg`another uncertain find is the same in every element, so it is open which of them ${only.identCely} is`,
      candidates,
    );
  }
  if (others.length > 0) {
    const reason = nmsg(
      msgid`${fitting.length} record is the same in every element`,
      msgid`${fitting.length} records are the same in every element`,
      fitting.length,
    );
    return undecided('several-same', reason, candidates);
  }
  if (alike.length > 0) {
    const reason = msg`a record is the same in every element, but it was made at another time or by another account`;
    return undecided('same-but-made-otherwise', reason, candidates);
  }
  const near = recordsNear(doubt, view).filter((identCely) => !claims.has(identCely));
  if (near.length > 0) {
    const reason = msg`a record of its project appeared at that time that may be this one, changed since or not shown`;
    return undecided('alike-and-new', reason, near);
  }
  const gone = changedSince(doubt, view.deleted, view);
  if (gone.length > 0) {
    const reason = msg`a record of its project was deleted since that may have been this one`;
    return undecided('deleted-since', reason, gone);
  }
  return judgeAbsence(doubt.window, shownKindOf(doubt.elements, Number(doubt.elements.stav)), view);
}

/** Records of the same project, the same in every readable element, that no other entry is known to have made. */
function recordsLike(doubt: ImportDoubt, view: View): HarvestedFind[] {
  return [...view.finds.values()].filter((find) => isLike(doubt, find) && !view.isOwned(find.identCely, find));
}

function isLike(doubt: ImportDoubt, find: HarvestedFind): boolean {
  return differingElements(doubt.elements, find).every((name) => mayDiffer(doubt, name));
}

function mayDiffer({ numberMayDiffer }: ImportDoubt, element: string): boolean {
  return numberMayDiffer === true && element === 'evidencni_cislo';
}

/**
 * Records that this account made in the project at the time, or that could be such: the service may have written a value
 * in another way or have had a wrong clock, and people may have corrected the find, moved it on or to another project.
 */
function recordsNear(doubt: ImportDoubt, view: View): string[] {
  // One that reads as this find and not as its owner may have the identifier of a record that a restored service has lost.
  const isAnothers = (find: HarvestedFind): boolean =>
    view.isOwned(find.identCely, find) && !(isLike(doubt, find) && !view.readsAsSent(find.identCely, find));
  const shown = [...view.finds.values()].filter((find) => isNear(doubt, find) && !isAnothers(find));
  return [...shown.map(({ identCely }) => identCely), ...changedSince(doubt, view.withheld, view)];
}

/** Records of its project, known by their headers alone, that changed since and that no other entry is known to have made. */
function changedSince({ elements, window }: ImportDoubt, changes: ReadonlyMap<string, number>, view: View): string[] {
  return [...changes]
    .filter(
      ([identCely, changedMs]) =>
        changedMs >= window.fromMs - CLOCK_MARGIN_MS && identCely.startsWith(`${idOf(elements.projekt)}-`),
    )
    .map(([identCely]) => identCely)
    .filter((identCely) => !view.isOwned(identCely));
}

/** Elements in which a record of another time or project, or one of what was added anew, may differ and still be it: somebody corrected them. */
const MOST_CORRECTED = 2;

function isNear(doubt: ImportDoubt, find: HarvestedFind): boolean {
  const { accounts } = doubt.window;
  if (accounts !== undefined && !accounts.has(makingOf(find)?.user ?? '')) return false;
  const isThere = idOf(find.elements.projekt) === idOf(doubt.elements.projekt) && couldBeMade(doubt.window, find);
  if (isThere && doubt.addedSince !== true) return true;
  const differing = differingElements(doubt.elements, find).filter((name) => name !== 'projekt' && !mayDiffer(doubt, name));
  return differing.length <= MOST_CORRECTED;
}

/** By one of the accounts, in this time. */
export function couldBeMade(window: Window, find: HarvestedFind): boolean {
  const made = makingOf(find);
  return made !== undefined && fits(window, made);
}

/** The entry of its history that says who made it, and when. */
export function makingOf({ history }: HarvestedFind): HistoryEntry | undefined {
  return history.find(({ type }) => type === 'SN01') ?? history[0];
}
