import { computeMetresPerDegree } from '../finds/place/areas.ts';
import type { Point } from '../finds/place/geometry.ts';
import { findFindsInName, indexNames, type NameIndex } from './name-match.ts';
import type { PhotoExif } from './photo-exif.ts';

/** A photograph with the data by which it is matched to a find. */
export type PhotoInfo = PhotoExif & {
  /** Relative to the searched folder, with `/` as separator. */
  readonly file: string;
};

/** A find with the data by which photographs are matched to it. */
export type MatchableFind = {
  readonly localId: string;
  readonly identCely?: string;
  /** Its number in its table now, where another find of the table has it as local id. */
  readonly number?: string;
  /** YYYY-MM-DD */
  readonly foundOn?: string;
  /** Time of manual entry, milliseconds since 1970 UTC; absent for finds of a table. */
  readonly enteredMs?: number;
  readonly point?: Point;
};

/** How sure a match is; only a name makes it `sure`. `none` has no evidence. */
export type Confidence = 'sure' | 'likely' | 'doubtful' | 'none';

/** Evidence for or against a find. */
export type MatchReason =
  | { readonly kind: 'name'; readonly id: string }
  | { readonly kind: 'folder'; readonly id: string }
  | { readonly kind: 'like-name'; readonly id: string }
  | { readonly kind: 'several-names'; readonly ids: readonly string[] }
  | { readonly kind: 'distance'; readonly metres: number }
  | { readonly kind: 'far'; readonly metres: number }
  /** Negative where the photograph was taken before the find was entered. */
  | { readonly kind: 'entered'; readonly minutes: number }
  | { readonly kind: 'same-day' }
  | { readonly kind: 'other-day'; readonly days: number };

/** The find that a photograph probably shows, and why. */
export type PhotoMatch = {
  readonly file: string;
  readonly confidence: Confidence;
  /** The best find; undefined without evidence. */
  readonly find?: string;
  readonly reasons: readonly MatchReason[];
  /** Finds to suggest, best first, including the best one. */
  readonly candidates: readonly string[];
};

/** Settings of the matching that a person may change. */
export type MatchOptions = {
  /** Maximum distance in metres between photograph and find at which the position counts. */
  readonly withinM: number;
};

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A find is entered soon before or after it is photographed. */
const ENTERED_WITHIN_MS = 30 * MINUTE_MS;
const ENTERED_SOON_MS = 10 * MINUTE_MS;
/**
 * A photograph with a find's number in its name, taken that far from its point, may show something
 * else.
 */
const FAR_M = 500;
/** A clock that is off by more was never set, so its date counts neither way. */
const MAX_CLOCK_OFFSET_DAYS = 400;
/** Accuracy of GPS in metres. */
const APART_M = 5;
const MAX_CANDIDATES = 5;
/** Minimum points for a match without a name, and the required lead over the next find. */
const LIKELY_POINTS = 4;
const CLEAR_LEAD = 2;

/**
 * Matches photographs to finds by the name of the file or its folder, else by position and time.
 * Only a name makes a match certain: a photograph that was sent to the wrong record cannot be
 * removed.
 * @returns a match for each photograph, in their order; confidence `none` without evidence
 */
export function matchPhotographs(
  shots: readonly PhotoInfo[],
  finds: readonly MatchableFind[],
  options: MatchOptions,
): PhotoMatch[] {
  const index = indexNames(
    finds.map((find) => ({
      find,
      ids: [find.localId, find.identCely, find.number].filter((id) => id !== undefined),
    })),
  );
  return shots.map(
    (shot) => matchByName(shot, index, options) ?? matchByEvidence(shot, finds, options),
  );
}

function matchByName(
  shot: PhotoInfo,
  index: NameIndex<MatchableFind>,
  { withinM }: MatchOptions,
): PhotoMatch | undefined {
  const { file } = shot;
  const parts = file.split('/');
  const ofFile = findFindsInName((parts.at(-1) ?? '').replace(/\.[^.]*$/, ''), index);
  const ofFolder = findFindsInName(parts.at(-2) ?? '', index).matches;
  const isInFile = ofFile.matches.length > 0;
  // A photograph of K-2 in the folder of K-1 may show either.
  const elsewhere = ofFolder.filter(
    ({ find, isDoubtful }) => !isDoubtful && ofFile.matches.every((each) => each.find !== find),
  );
  const named = isInFile ? [...ofFile.matches, ...elsewhere] : ofFolder;
  const [best, ...others] = named;
  if (best === undefined) return undefined;
  const find = best.find.localId;
  const candidates = named.map((each) => each.find.localId).slice(0, MAX_CANDIDATES);
  const evidence = listReasons(measure(shot, best.find), withinM);
  if (others.length > 0) {
    const ids = named.map(({ id }) => id);
    const reasons: MatchReason[] = [{ kind: 'several-names', ids }, ...evidence];
    return { file, confidence: 'doubtful', find, reasons, candidates };
  }
  const isDoubtful = best.isDoubtful || (!isInFile && ofFile.hasOtherNumber);
  const kind = isInFile ? 'name' : 'folder';
  const isOdd = evidence.some(
    (reason) =>
      (reason.kind === 'far' && reason.metres > FAR_M) ||
      (reason.kind === 'other-day' && reason.days < 0),
  );
  return {
    file,
    confidence: isDoubtful || isOdd ? 'likely' : 'sure',
    find,
    reasons: [{ kind: isDoubtful ? 'like-name' : kind, id: best.id }, ...evidence],
    candidates,
  };
}

/** A find as it lies to a photograph; infinitely far where one of them lacks the data. */
type Distances = {
  readonly find: MatchableFind;
  readonly metres: number;
  /** Negative where the photograph was taken before the find was entered. */
  readonly afterMs: number;
  readonly days: number;
};

function measure({ position, takenMs, takenOn }: PhotoInfo, find: MatchableFind): Distances {
  const { point, enteredMs, foundOn } = find;
  return {
    find,
    metres: position && point ? computeDistanceM(position, point) : Infinity,
    afterMs: takenMs === undefined || enteredMs === undefined ? Infinity : takenMs - enteredMs,
    days:
      takenOn === undefined || foundOn === undefined
        ? Infinity
        : Math.round((Date.parse(takenOn) - Date.parse(foundOn)) / DAY_MS),
  };
}

/** Lists all evidence except names for or against one find. */
function listReasons({ metres, afterMs, days }: Distances, withinM: number): MatchReason[] {
  const reasons: MatchReason[] = [];
  if (metres < Infinity) reasons.push({ kind: metres <= withinM ? 'distance' : 'far', metres });
  if (Math.abs(afterMs) <= ENTERED_WITHIN_MS)
    reasons.push({ kind: 'entered', minutes: Math.round(afterMs / MINUTE_MS) });
  if (days === 0) reasons.push({ kind: 'same-day' });
  else if (Math.abs(days) <= MAX_CLOCK_OFFSET_DAYS) reasons.push({ kind: 'other-day', days });
  return reasons;
}

/** Points of evidence; that of names is not counted. */
const POINTS: Partial<Record<MatchReason['kind'], number>> = {
  distance: 2,
  far: -2,
  entered: 1,
  'same-day': 1,
  'other-day': -2,
};

type ScoredFind = Distances & { readonly points: number; readonly reasons: readonly MatchReason[] };

function matchByEvidence(
  shot: PhotoInfo,
  finds: readonly MatchableFind[],
  { withinM }: MatchOptions,
): PhotoMatch {
  const { file } = shot;
  const measured = finds.map((find) => measure(shot, find));
  const nearest = preferUnambiguous(measured, ({ metres }) => metres, withinM, APART_M);
  const soonest = preferUnambiguous(measured, getAwayMs, ENTERED_SOON_MS, MINUTE_MS);
  const scored = measured
    .map((each): ScoredFind => {
      const reasons = listReasons(each, withinM);
      const clear = (each === nearest ? 1 : 0) + (each === soonest ? 2 : 0);
      const points = reasons.reduce((sum, { kind }) => sum + (POINTS[kind] ?? 0), clear);
      // A spread makes this, the work of each photograph for each find, several times slower.
      const { find, metres, afterMs, days } = each;
      return { find, metres, afterMs, days, reasons, points };
    })
    .filter(({ points }) => points > 0)
    // The difference of two infinite values is not a number, so the next criterion decides.
    .sort((a, b) => b.points - a.points || a.metres - b.metres || getAwayMs(a) - getAwayMs(b) || 0);
  const [best, second] = scored;
  const candidates = scored.slice(0, MAX_CANDIDATES).map(({ find }) => find.localId);
  if (best === undefined || (second !== undefined && isEquallyFit(best, second)))
    return { file, confidence: 'none', reasons: [], candidates };
  const leads = best.points - (second?.points ?? 0) >= CLEAR_LEAD;
  const isContradicted = soonest !== undefined && soonest.find !== best.find;
  return {
    file,
    confidence: best.points >= LIKELY_POINTS && leads && !isContradicted ? 'likely' : 'doubtful',
    find: best.find.localId,
    reasons: best.reasons,
    candidates,
  };
}

/** Tells if nothing prefers one of two finds, such as two of the same day. */
function isEquallyFit(one: ScoredFind, other: ScoredFind): boolean {
  return (
    one.points === other.points &&
    one.metres === other.metres &&
    getAwayMs(one) === getAwayMs(other)
  );
}

function getAwayMs({ afterMs }: Distances): number {
  return Math.abs(afterMs);
}

/**
 * Returns the find with the smallest value, at most `most`, if the next is at least `apart` larger
 * and twice as large.
 */
function preferUnambiguous(
  measured: readonly Distances[],
  getValue: (each: Distances) => number,
  most: number,
  apart: number,
): Distances | undefined {
  const [first, second] = measured.toSorted((a, b) => getValue(a) - getValue(b) || 0);
  if (first === undefined || getValue(first) > most) return undefined;
  const value = getValue(first);
  const next = second === undefined ? Infinity : getValue(second);
  return next >= value + apart && next >= value * 2 ? first : undefined;
}

/** Returns the distance in a plane, which is exact enough for these ranges. */
function computeDistanceM([lon, lat]: Point, [otherLon, otherLat]: Point): number {
  const [lonM, latM] = computeMetresPerDegree((lat + otherLat) / 2);
  return Math.hypot((lon - otherLon) * lonM, (lat - otherLat) * latM);
}
