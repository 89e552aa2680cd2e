import { type Message, msg } from '../../base/message.ts';
import type { HarvestedFile, HarvestedFind, HistoryEntry } from '../../find/harvested-find.ts';
import { indexBehind, timeUnknown, tooEarly } from './judge-absence.ts';
import { type AttemptWindow, type Basis, CLOCK_MARGIN_MS, fits, undecided, type Verdict, type ViewTime } from './verdict.ts';

export type SettledPhoto = { readonly fileName: string; readonly sha512Hex: string; readonly window: AttemptWindow };
export type UncertainPhoto = SettledPhoto & { readonly entryId: number; readonly identCely: string };

/** A record requested by identifier, and its last change; undefined where it is not visible. */
export type RecordEvidence = { readonly find: HarvestedFind; readonly changedMs: number } | undefined;

/**
 * Judges a photograph by the files of its record. An equal digest is proof; where the service removed GPS data and so changed the
 * bytes, name, time and sender are compared.
 * @param settled photographs of the same record that are known to exist, whose files belong to them
 * @param uncertain all uncertain photographs of the record
 */
export function judgePhoto(
  judged: UncertainPhoto,
  uncertain: readonly UncertainPhoto[],
  settled: readonly SettledPhoto[],
  record: RecordEvidence,
  view: ViewTime,
): Verdict {
  if (record === undefined)
    return undecided('record-not-shown', msg`the harvest does not show ${judged.identCely} to this account`, []);
  const { find } = record;
  const byDigest = find.files.find((file) => file.sha512Hex === judged.sha512Hex);
  const isTaken = byDigest !== undefined && settled.some((other) => other.sha512Hex === byDigest.sha512Hex);
  if (byDigest !== undefined && !isTaken) {
    return found(judged, 'same-digest', msg`${byDigest.name} has the same digest`, [byDigest.name]);
  }
  const owners = ownersOf(find.files, settled);
  const free = find.files.filter((file) => !owners.has(file));
  const mine = free.filter((file) => isFileOf(judged, file));
  const [only] = mine;
  const names = mine.map(({ name }) => name);
  const rivals = uncertain.filter((other) => mine.some((file) => isFileOf(other, file)));
  if (only !== undefined && mine.length === 1 && rivals.length === 1) {
    const reason = msg`${only.name} was stored from a file of this name since the attempt, by this account`;
    return found(judged, 'same-name-and-new', reason, names);
  }
  if (mine.length > 0) return undecided('several-files', msg`several files could be this photograph`, names);
  const near = free.filter((file) => couldBeStored(judged.window, file) && !uncertain.some((other) => isFileOf(other, file)));
  if (near.length > 0) {
    return undecided(
      'other-name-and-new',
      msg`a file was stored at that time that may be this photograph under another name`,
      near.map(({ name }) => name),
    );
  }
  const shown = new Set(owners.values());
  const behind = settled.find(
    (other) => (other.window.bounds?.untilMs ?? 0) >= (judged.window.bounds?.fromMs ?? 0) - CLOCK_MARGIN_MS && !shown.has(other),
  );
  if (behind !== undefined) return indexBehind(behind.fileName);
  return (
    tooEarly(judged.window, view, record.changedMs) ?? {
      kind: 'absent',
      basis: 'not-among-those-shown',
      reason: msg`${judged.identCely} is shown with its files, and this is none of them`,
      candidates: [],
    }
  );
}

function found(judged: UncertainPhoto, basis: Basis, reason: Message, candidates: readonly string[]): Verdict {
  if (judged.window.bounds === undefined) return timeUnknown(candidates);
  return { kind: 'found', identCely: judged.identCely, basis, reason, candidates };
}

/**
 * Assigns one file to each settled photograph: by digest, else by name and nearest time. Cameras reuse names, and clocks agree
 * only roughly, so a photograph may also fit the file of the next one.
 */
export function ownersOf(
  files: readonly HarvestedFile[],
  settled: readonly SettledPhoto[],
): ReadonlyMap<HarvestedFile, SettledPhoto> {
  const owners = new Map<HarvestedFile, SettledPhoto>();
  const byDigest = new Map(files.map((file) => [file.sha512Hex, file]));
  const changed = settled.filter((photo) => {
    const file = byDigest.get(photo.sha512Hex);
    if (file !== undefined) owners.set(file, photo);
    return file === undefined;
  });
  for (const photo of changed) {
    const fitting = files.filter((file) => !owners.has(file) && isFileOf(photo, file));
    const nearest = fitting.toSorted((one, other) => outsideMs(photo.window, one) - outsideMs(photo.window, other)).at(0);
    if (nearest !== undefined) owners.set(nearest, photo);
  }
  return owners;
}

/** Returns the milliseconds between a file's upload and the bounds of the attempts. */
function outsideMs({ bounds }: AttemptWindow, file: HarvestedFile): number {
  const atMs = Date.parse(storingOf(file)?.at ?? '');
  return bounds === undefined || Number.isNaN(atMs) ? 0 : Math.max(0, bounds.fromMs - atMs, atMs - bounds.untilMs);
}

function isFileOf(photo: SettledPhoto, file: HarvestedFile): boolean {
  if (file.sha512Hex === photo.sha512Hex) return true;
  return storingOf(file)?.note === photo.fileName && couldBeStored(photo.window, file);
}

/** Tells if one of the accounts uploaded it in the window. */
function couldBeStored(window: AttemptWindow, file: HarvestedFile): boolean {
  const stored = storingOf(file);
  return stored !== undefined && fits(window, stored);
}

function storingOf(file: HarvestedFile): HistoryEntry | undefined {
  return file.history.find(({ type }) => type === 'SBR0');
}
