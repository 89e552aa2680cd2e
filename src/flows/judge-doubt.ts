import { msgid, ngettext, t } from '../base/language.ts';
import {
  differingElements,
  type HarvestedElements,
  type HarvestedFile,
  type HarvestedFind,
  type HistoryEntry,
} from '../find/harvested-find.ts';

/**
 * Evidence about writes of unknown end. What is found decides; what is not found decides only where it would have been
 * seen. Times are the server's, milliseconds since 1970 UTC.
 */
export type Verdict = Grounds &
  ({ readonly kind: 'found'; readonly identCely: string } | { readonly kind: 'absent' } | { readonly kind: 'undecided' });

/** What a verdict rests on: a stable code for programs, the same in words, and the records or files that were considered. */
type Grounds = { readonly basis: Basis; readonly reason: string; readonly candidates: readonly string[] };

type Basis =
  | 'same-and-new'
  | 'rival-find'
  | 'several-same'
  | 'same-but-made-otherwise'
  | 'alike-and-new'
  | 'no-like-record-shown'
  | 'maybe-under-way'
  | 'not-among-those-shown'
  | 'record-not-shown'
  | 'same-digest'
  | 'same-name-and-new'
  | 'several-files'
  | 'other-name-and-new'
  | 'same-number'
  | 'other-number'
  | 'number-as-before'
  | 'find-absent';

/** When the write may have been carried out: from its first attempt to as long as the service may work on its last. */
export type Window = {
  readonly fromMs: number;
  readonly untilMs: number;
  /** From when on the service is certainly done with it: not before `untilMs` but where that is only a bound. */
  readonly settledMs: number;
};

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

export type PhotoDoubt = {
  readonly entryId: number;
  readonly identCely: string;
  readonly fileName: string;
  readonly sha512Hex: string;
  readonly window: Window;
};

export type View = {
  readonly finds: ReadonlyMap<string, HarvestedFind>;
  readonly nowMs: number;
  /** The account's own identifier, such as `U-000408`, where it is known. */
  readonly user: string | undefined;
  /** Records that other entries of this outbox are known to have made. */
  readonly owned: ReadonlySet<string>;
  /** Sights of the records that the harvest shows and this account is known to have made: it would show others, too. */
  readonly sights: ReadonlySet<string>;
  /** Finds that are listed but not shown, with the time of their last change. */
  readonly withheld: ReadonlyMap<string, number>;
};

/** What decides whether an account sees a find: its state, and the organisations of its project and of its receiver. */
export function sightOf(elements: HarvestedElements, stav: number): string {
  return [elements.projekt, elements.predano_organizace].map(idOf).concat(String(stav)).join(' ');
}

export function projectOfFind({ projekt }: HarvestedElements): string {
  return idOf(projekt);
}

function idOf(value: HarvestedElements[keyof HarvestedElements]): string {
  return typeof value === 'object' ? value.id : '';
}

/** The clocks of two machines, and a header that counts whole seconds, agree only roughly. */
const CLOCK_MARGIN_MS = 5000;

/** Verdicts by entry. Finds that are the same in every element are told apart by time, or not at all. */
export function judgeImports(doubts: readonly ImportDoubt[], view: View): Map<number, Verdict> {
  const alike = new Map(doubts.map((doubt) => [doubt.entryId, recordsLike(doubt, view)]));
  const fitting = new Map(
    doubts.map((doubt) => [doubt.entryId, (alike.get(doubt.entryId) ?? []).filter((find) => couldBe(doubt, find, view))]),
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
  if (only !== undefined && others.length === 0 && claims.get(only.identCely) === 1) {
    const reason = t`${only.identCely} appeared since the attempt and is the same in every element that can be read`;
    return { kind: 'found', identCely: only.identCely, basis: 'same-and-new', reason, candidates };
  }
  if (only !== undefined && others.length === 0) {
    return undecided(
      'rival-find',
      t`another uncertain find is the same in every element, so it is open which of them ${only.identCely} is`,
      candidates,
    );
  }
  if (others.length > 0) {
    const reason = ngettext(
      msgid`${fitting.length} record is the same in every element`,
      `${fitting.length} records are the same in every element`,
      fitting.length,
    );
    return undecided('several-same', reason, candidates);
  }
  if (alike.length > 0) {
    const reason = t`a record is the same in every element, but it was made at another time or by another account`;
    return undecided('same-but-made-otherwise', reason, candidates);
  }
  const near = recordsNear(doubt, view).filter((identCely) => !claims.has(identCely));
  if (near.length > 0) {
    const reason = t`a record of its project appeared at that time that may be this one, changed since or not shown`;
    return undecided('alike-and-new', reason, near);
  }
  return judgeAbsence(doubt.window, sightOf(doubt.elements, Number(doubt.elements.stav)), view);
}

function judgeAbsence(window: Window, sight: string, view: View): Verdict {
  if (!view.sights.has(sight)) {
    const reason = t`the harvest shows no record of this project that this account is known to have made in this state, so a missing one proves nothing`;
    return undecided('no-like-record-shown', reason, []);
  }
  if (view.nowMs <= window.settledMs) {
    const seconds = Math.ceil((window.settledMs - view.nowMs) / 1000);
    return undecided('maybe-under-way', t`the service may still be working on it; ask again in ${seconds} s`, []);
  }
  return {
    kind: 'absent',
    basis: 'not-among-those-shown',
    reason: t`the harvest shows this account’s records in the same state, but not this one`,
    candidates: [],
  };
}

/** Records of the same project, the same in every readable element, that no other entry is known to have made. */
function recordsLike(doubt: ImportDoubt, view: View): HarvestedFind[] {
  return [...view.finds.values()].filter(
    (find) => !view.owned.has(find.identCely) && differingElements(doubt.elements, find).every((name) => mayDiffer(doubt, name)),
  );
}

function mayDiffer({ numberMayDiffer }: ImportDoubt, element: string): boolean {
  return numberMayDiffer === true && element === 'evidencni_cislo';
}

/**
 * Records that this account made in the project at the time, or that could be such: the service may have written a value
 * in another way, and people may have corrected the find or moved it on.
 */
function recordsNear(doubt: ImportDoubt, view: View): string[] {
  const project = idOf(doubt.elements.projekt);
  const shown = [...view.finds.values()].filter(
    (find) => idOf(find.elements.projekt) === project && couldBe(doubt, find, view) && isNear(doubt, find),
  );
  const hidden = [...view.withheld].filter(
    ([identCely, changedMs]) => identCely.startsWith(`${project}-`) && changedMs >= doubt.window.fromMs - CLOCK_MARGIN_MS,
  );
  return [...shown.map(({ identCely }) => identCely), ...hidden.map(([identCely]) => identCely)].filter(
    (identCely) => !view.owned.has(identCely),
  );
}

/** Elements in which a record may differ from what was added anew and still be taken for it: somebody corrected them. */
const MOST_CORRECTED = 2;

function isNear(doubt: ImportDoubt, find: HarvestedFind): boolean {
  if (doubt.addedSince !== true) return true;
  return differingElements(doubt.elements, find).filter((name) => !mayDiffer(doubt, name)).length <= MOST_CORRECTED;
}

function couldBe({ window }: ImportDoubt, find: HarvestedFind, view: View): boolean {
  return couldBeMade(window, find, view);
}

/** By this account, in this time. */
export function couldBeMade(window: Window, find: HarvestedFind, view: View): boolean {
  const made = find.history.find(({ type }) => type === 'SN01') ?? find.history[0];
  if (made === undefined) return false;
  return (view.user === undefined || made.user === view.user) && isWithin(window, Date.parse(made.at));
}

function isWithin({ fromMs, untilMs }: Window, atMs: number): boolean {
  return atMs >= fromMs - CLOCK_MARGIN_MS && atMs <= untilMs + CLOCK_MARGIN_MS;
}

/**
 * The verdict on a photograph, by the files that its record has. The digest proves; where the service removed a place
 * from the photograph and so changed its bytes, its name, its time and its sender stand in.
 * @param settled photographs of the same record that are known to be there, whose files are theirs
 * @param doubts all uncertain photographs of the record
 */
export function judgePhoto(
  doubt: PhotoDoubt,
  doubts: readonly PhotoDoubt[],
  settled: readonly Pick<PhotoDoubt, 'fileName' | 'sha512Hex' | 'window'>[],
  find: HarvestedFind | undefined,
  view: View,
): Verdict {
  if (find === undefined)
    return undecided('record-not-shown', t`the harvest does not show ${doubt.identCely} to this account`, []);
  const byDigest = find.files.find((file) => file.sha512Hex === doubt.sha512Hex);
  if (byDigest !== undefined) {
    return found(doubt, 'same-digest', t`${byDigest.name} has the same digest`, [byDigest.name]);
  }
  const free = find.files.filter((file) => !settled.some((other) => isFileOf(other, file, view)));
  const mine = free.filter((file) => isFileOf(doubt, file, view));
  const [only] = mine;
  const names = mine.map(({ name }) => name);
  const rivals = doubts.filter((other) => mine.some((file) => isFileOf(other, file, view)));
  if (only !== undefined && mine.length === 1 && rivals.length === 1) {
    const reason = t`${only.name} came from a file of this name since the attempt, by this account`;
    return found(doubt, 'same-name-and-new', reason, names);
  }
  if (mine.length > 0) return undecided('several-files', t`several files could be this photograph`, names);
  const near = free.filter(
    (file) => couldBeStored(doubt.window, file, view) && !doubts.some((other) => isFileOf(other, file, view)),
  );
  if (near.length > 0) {
    return undecided(
      'other-name-and-new',
      t`a file was stored at that time that may be this photograph under another name`,
      near.map(({ name }) => name),
    );
  }
  return judgeAbsence(doubt.window, sightOf(find.elements, find.stav), view);
}

function found(doubt: PhotoDoubt, basis: Basis, reason: string, candidates: readonly string[]): Verdict {
  return { kind: 'found', identCely: doubt.identCely, basis, reason, candidates };
}

function isFileOf(photo: Pick<PhotoDoubt, 'fileName' | 'sha512Hex' | 'window'>, file: HarvestedFile, view: View): boolean {
  if (file.sha512Hex === photo.sha512Hex) return true;
  return storingOf(file)?.note === photo.fileName && couldBeStored(photo.window, file, view);
}

/** By this account, in this time. */
export function couldBeStored(window: Window, file: HarvestedFile, view: View): boolean {
  const stored = storingOf(file);
  if (stored === undefined) return false;
  return (view.user === undefined || stored.user === view.user) && isWithin(window, Date.parse(stored.at));
}

function storingOf(file: HarvestedFile): HistoryEntry | undefined {
  return file.history.find(({ type }) => type === 'SBR0');
}

function undecided(basis: Basis, reason: string, candidates: readonly string[]): Verdict {
  return { kind: 'undecided', basis, reason, candidates };
}
