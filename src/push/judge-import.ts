import { msgid } from '../base/language.ts';
import { msg, nmsg } from '../base/message.ts';
import type { HarvestedElements } from '../finds/fields.ts';
import {
  type HarvestedFind,
  type HistoryEntry,
  listDifferingElements,
} from '../finds/harvested-find.ts';
import {
  type AttemptWindow,
  CLOCK_MARGIN_MS,
  getReferenceId,
  getShownKind,
  isWithinWindow,
  judgeAbsence,
  makeTimeUnknownVerdict,
  makeUndecided,
  type Verdict,
  type View,
} from './verdict.ts';

export type UncertainImport = {
  readonly entryId: number;
  readonly elements: HarvestedElements;
  readonly window: AttemptWindow;
};

/**
 * Returns verdicts by entry. Finds with equal elements are distinguished by time, or remain
 * undecided.
 */
export function judgeImports(
  uncertain: readonly UncertainImport[],
  view: View,
): Map<number, Verdict> {
  const alike = new Map(
    uncertain.map((judged) => [judged.entryId, findEqualRecords(judged, view)]),
  );
  const fitting = new Map(
    uncertain.map(({ entryId, window }) => [
      entryId,
      (alike.get(entryId) ?? []).filter((find) => mayBeCreation(window, find)),
    ]),
  );
  const claims = new Map<string, number>();
  for (const finds of fitting.values())
    for (const { identCely } of finds) claims.set(identCely, (claims.get(identCely) ?? 0) + 1);
  return new Map(
    uncertain.map((judged) => [
      judged.entryId,
      judgeImport(
        judged,
        alike.get(judged.entryId) ?? [],
        fitting.get(judged.entryId) ?? [],
        claims,
        view,
      ),
    ]),
  );
}

function judgeImport(
  judged: UncertainImport,
  alike: readonly HarvestedFind[],
  fitting: readonly HarvestedFind[],
  claims: ReadonlyMap<string, number>,
  view: View,
): Verdict {
  const candidates = alike.map(({ identCely }) => identCely);
  const [only, ...otherFinds] = fitting;
  if (only !== undefined && judged.window.bounds === undefined)
    return makeTimeUnknownVerdict(candidates);
  if (only !== undefined && otherFinds.length === 0 && claims.get(only.identCely) === 1) {
    const reason = msg`${only.identCely} appeared since the attempt and is the same in every element that can be read`;
    return { kind: 'found', identCely: only.identCely, basis: 'same-and-new', reason, candidates };
  }
  if (only !== undefined && otherFinds.length === 0) {
    return makeUndecided(
      'ambiguous-match',
      msg`another uncertain find is the same in every element, so it is unclear to which of the two ${only.identCely} belongs`,
      candidates,
    );
  }
  if (otherFinds.length > 0) {
    const reason = nmsg(
      msgid`${fitting.length} record is the same in every element`,
      msgid`${fitting.length} records are the same in every element`,
      fitting.length,
    );
    return makeUndecided('several-same', reason, candidates);
  }
  if (alike.length > 0) {
    const reason = msg`a record is the same in every element, but it was made at another time or by another account`;
    return makeUndecided('same-different-origin', reason, candidates);
  }
  const near = findSimilarRecords(judged, view).filter((identCely) => !claims.has(identCely));
  if (near.length > 0) {
    const reason = msg`a record that appeared in its project at that time may be this one, changed since or hidden`;
    return makeUndecided('similar-new', reason, near);
  }
  const gone = listChangedSince(judged, 'deleted', view);
  if (gone.length > 0) {
    const reason = msg`a record of its project that may have been this one has been deleted since then`;
    return makeUndecided('deleted-since', reason, gone);
  }
  return judgeAbsence(
    judged.window,
    getShownKind(judged.elements, Number(judged.elements.stav)),
    view,
  );
}

/**
 * Returns records of the same project with equal readable elements that belong to no other entry.
 */
function findEqualRecords(judged: UncertainImport, view: View): HarvestedFind[] {
  return view.finds.filter((find) => isLike(judged, find) && !view.isOwned(find.identCely, find));
}

function isLike(judged: UncertainImport, find: HarvestedFind): boolean {
  return listDifferingElements(judged.elements, find).length === 0;
}

/**
 * Returns records that this account made in the project in the window, or possible variants: the
 * service may have normalised a value or have had a wrong clock, and people may have corrected the
 * find, changed its state, or moved it to another project.
 */
function findSimilarRecords(judged: UncertainImport, view: View): string[] {
  // A record that equals this find and not its owner may have an identifier that a restored service
  // assigned twice.
  const isAnothers = (find: HarvestedFind): boolean =>
    view.isOwned(find.identCely, find) &&
    !(isLike(judged, find) && !view.readsAsSent(find.identCely, find));
  const shown = view.finds.filter((find) => isNear(judged, find) && !isAnothers(find));
  return [
    ...shown.map(({ identCely }) => identCely),
    ...listChangedSince(judged, 'withheld', view),
  ];
}

/**
 * Returns records of its project, known only by header, that changed since and belong to no other
 * entry.
 */
function listChangedSince(
  { elements, window }: UncertainImport,
  kind: 'withheld' | 'deleted',
  view: View,
): string[] {
  return [...view.lookups]
    .filter(
      ([identCely, listed]) =>
        listed.kind === kind &&
        (window.bounds === undefined ||
          listed.datestampMs >= window.bounds.fromMs - CLOCK_MARGIN_MS) &&
        identCely.startsWith(`${getReferenceId(elements.projekt)}-`),
    )
    .map(([identCely]) => identCely)
    .filter((identCely) => !view.isOwned(identCely));
}

/**
 * Maximum of different elements at which a record of another time or project may still be a
 * corrected version.
 */
const MAX_CORRECTED = 2;

function isNear(judged: UncertainImport, find: HarvestedFind): boolean {
  if (!judged.window.accounts.has(findCreation(find)?.user ?? '')) return false;
  if (
    getReferenceId(find.elements.projekt) === getReferenceId(judged.elements.projekt) &&
    mayBeCreation(judged.window, find)
  )
    return true;
  return (
    listDifferingElements(judged.elements, find).filter((name) => name !== 'projekt').length <=
    MAX_CORRECTED
  );
}

/** Tells if one of the accounts made it in the window. */
export function mayBeCreation(window: AttemptWindow, find: HarvestedFind): boolean {
  const creation = findCreation(find);
  return creation !== undefined && isWithinWindow(window, creation);
}

/** Returns the history entry with maker and time. */
export function findCreation({ history }: HarvestedFind): HistoryEntry | undefined {
  return history.find(({ type }) => type === 'SN01') ?? history[0];
}
