import { type Message, msg } from '../../base/message.ts';
import type { HarvestedFile, HarvestedFind, HistoryEntry } from '../../find/harvested-find.ts';
import { indexBehind, tooEarly } from './judge-absence.ts';
import { type Basis, CLOCK_MARGIN_MS, fits, undecided, type Verdict, type View, type Window } from './verdict.ts';

export type PhotoDoubt = {
  readonly entryId: number;
  readonly identCely: string;
  readonly fileName: string;
  readonly sha512Hex: string;
  readonly window: Window;
};

/** A record as it was asked for by itself, and when it changed last; undefined where it is not shown. */
export type RecordEvidence = { readonly find: HarvestedFind; readonly changedMs: number } | undefined;

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
  record: RecordEvidence,
  view: Pick<View, 'nowMs' | 'index'>,
): Verdict {
  if (record === undefined)
    return undecided('record-not-shown', msg`the harvest does not show ${doubt.identCely} to this account`, []);
  const { find } = record;
  const byDigest = find.files.find((file) => file.sha512Hex === doubt.sha512Hex);
  if (byDigest !== undefined) {
    return found(doubt, 'same-digest', msg`${byDigest.name} has the same digest`, [byDigest.name]);
  }
  const free = find.files.filter((file) => !settled.some((other) => isFileOf(other, file)));
  const mine = free.filter((file) => isFileOf(doubt, file));
  const [only] = mine;
  const names = mine.map(({ name }) => name);
  const rivals = doubts.filter((other) => mine.some((file) => isFileOf(other, file)));
  if (only !== undefined && doubt.window.accounts === undefined) {
    return undecided(
      'maker-unknown',
      msg`a file of this name is there, but nobody knows which account sent the photograph`,
      names,
    );
  }
  if (only !== undefined && mine.length === 1 && rivals.length === 1) {
    const reason = msg`${only.name} came from a file of this name since the attempt, by this account`;
    return found(doubt, 'same-name-and-new', reason, names);
  }
  if (mine.length > 0) return undecided('several-files', msg`several files could be this photograph`, names);
  const near = free.filter((file) => couldBeStored(doubt.window, file) && !doubts.some((other) => isFileOf(other, file)));
  if (near.length > 0) {
    return undecided(
      'other-name-and-new',
      msg`a file was stored at that time that may be this photograph under another name`,
      near.map(({ name }) => name),
    );
  }
  const behind = settled.find(
    (other) => other.window.untilMs >= doubt.window.fromMs - CLOCK_MARGIN_MS && !find.files.some((file) => isFileOf(other, file)),
  );
  if (behind !== undefined) return indexBehind(behind.fileName);
  return (
    tooEarly(doubt.window, view, record.changedMs) ?? {
      kind: 'absent',
      basis: 'not-among-those-shown',
      reason: msg`${doubt.identCely} is shown with its files, and this is none of them`,
      candidates: [],
    }
  );
}

function found(doubt: PhotoDoubt, basis: Basis, reason: Message, candidates: readonly string[]): Verdict {
  return { kind: 'found', identCely: doubt.identCely, basis, reason, candidates };
}

function isFileOf(photo: Pick<PhotoDoubt, 'fileName' | 'sha512Hex' | 'window'>, file: HarvestedFile): boolean {
  if (file.sha512Hex === photo.sha512Hex) return true;
  return storingOf(file)?.note === photo.fileName && couldBeStored(photo.window, file);
}

/** By one of the accounts, in this time. */
export function couldBeStored(window: Window, file: HarvestedFile): boolean {
  const stored = storingOf(file);
  return stored !== undefined && fits(window, stored);
}

function storingOf(file: HarvestedFile): HistoryEntry | undefined {
  return file.history.find(({ type }) => type === 'SBR0');
}
