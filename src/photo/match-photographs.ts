import type { Point } from '../place/geometry.ts';
import { computeMetresPerDegree } from '../place/polygon.ts';
import {
  findInName,
  hasOpenNumber,
  indexNames,
  type NameDoubt,
  type NameIndex,
  type NameMatch,
} from './name-match.ts';

/** A photograph with the data by which it is matched to a find. */
export type PhotoInfo = {
  /** Relative to the searched folder, with `/` as separator. */
  readonly file: string;
  /** Milliseconds since 1970 UTC. */
  readonly takenMs?: number;
  /** The camera's day, YYYY-MM-DD. */
  readonly takenOn?: string;
  /** Longitude and latitude. */
  readonly place?: Point;
  /**
   * Find for which the photograph is queued or sent already: it only shows the find of photographs
   * taken next to it.
   */
  readonly knownFor?: string;
};

export type MatchableFind = {
  readonly localId: string;
  readonly identCely?: string;
  /** YYYY-MM-DD */
  readonly foundOn?: string;
  /** Time of manual entry, milliseconds since 1970 UTC; absent for finds of a table. */
  readonly enteredMs?: number;
  readonly place?: Point;
};

export type Confidence = 'sure' | 'likely' | 'doubtful' | 'none';

/** Evidence for or against a find. */
export type Reason =
  | { readonly kind: 'name'; readonly id: string }
  | { readonly kind: 'folder'; readonly id: string }
  | { readonly kind: NameDoubt; readonly id: string }
  | { readonly kind: 'several-names'; readonly ids: readonly string[] }
  | { readonly kind: 'distance'; readonly metres: number }
  | { readonly kind: 'far'; readonly metres: number }
  /** Negative where the photograph was taken before the find was entered. */
  | { readonly kind: 'entered'; readonly minutes: number }
  | { readonly kind: 'same-day' }
  | { readonly kind: 'other-day'; readonly days: number }
  | { readonly kind: 'next-to'; readonly file: string; readonly seconds: number };

export type Match = {
  readonly file: string;
  readonly confidence: Confidence;
  /** The best find; undefined without evidence. */
  readonly find?: string;
  readonly reasons: readonly Reason[];
  /** Finds to suggest, best first, including the best one. */
  readonly candidates: readonly string[];
};

export type MatchOptions = {
  /** Maximum distance in metres between photograph and find at which the position counts. */
  readonly withinM: number;
};

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A find is entered soon before or after it is photographed. */
const ENTERED_WITHIN_MS = 30 * MINUTE_MS;
const ENTERED_SOON_MS = 10 * MINUTE_MS;
/** Pictures of one object are taken in sequence. */
const NEXT_TO_MS = 90_000;
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
 * Matches photographs to finds by the name of the file or its folder, by position, and by time.
 * Only a name makes a match certain: a photograph that was sent to the wrong record cannot be
 * removed.
 */
export function matchPhotographs(
  shots: readonly PhotoInfo[],
  finds: readonly MatchableFind[],
  options: MatchOptions,
): Match[] {
  const index = indexNames(
    finds.map((find) => ({
      find,
      ids: find.identCely === undefined ? [find.localId] : [find.localId, find.identCely],
    })),
  );
  const matches = shots.map(
    (shot) =>
      matchKnown(shot) ??
      matchByName(shot, index, options) ??
      matchByEvidence(shot, finds, options),
  );
  return matchNeighbours(shots, matches);
}

function matchKnown({ file, knownFor }: PhotoInfo): Match | undefined {
  return knownFor === undefined
    ? undefined
    : { file, confidence: 'sure', find: knownFor, reasons: [], candidates: [knownFor] };
}

function matchByName(
  shot: PhotoInfo,
  index: NameIndex<MatchableFind>,
  options: MatchOptions,
): Match | undefined {
  const parts = shot.file.split('/');
  const stem = (parts.at(-1) ?? '').replace(/\.[^.]*$/, '');
  const inFile = findInName(stem, index);
  const inFolder = findInName(parts.at(-2) ?? '', index);
  if (inFile.length > 0) {
    // A photograph of K-2 in the folder of K-1 may show either.
    const otherMatches = inFolder.filter(
      ({ find, doubt }) => doubt === undefined && inFile.every((each) => each.find !== find),
    );
    return chooseNamed(shot, [...inFile, ...otherMatches], 'name', options);
  }
  const isOpen = hasOpenNumber(stem);
  const folders = inFolder.map((match) =>
    isOpen ? { ...match, doubt: match.doubt ?? 'more-in-name' } : match,
  );
  return folders.length > 0 ? chooseNamed(shot, folders, 'folder', options) : undefined;
}

function chooseNamed(
  shot: PhotoInfo,
  matches: readonly NameMatch<MatchableFind>[],
  kind: 'name' | 'folder',
  options: MatchOptions,
): Match {
  const candidates = matches.map(({ find }) => find.localId).slice(0, MAX_CANDIDATES);
  const [best, ...otherMatches] = matches;
  if (best === undefined) return { file: shot.file, confidence: 'none', reasons: [], candidates };
  const evidence = collectEvidence(shot, best.find, options);
  const reasons: Reason[] = [{ kind, id: best.id }, ...evidence];
  if (otherMatches.length > 0) {
    const ids = matches.map(({ id }) => id);
    return {
      file: shot.file,
      confidence: 'doubtful',
      find: best.find.localId,
      reasons: [{ kind: 'several-names', ids }, ...evidence],
      candidates,
    };
  }
  if (best.doubt !== undefined) reasons[0] = { kind: best.doubt, id: best.id };
  const isOdd = evidence.some(
    (reason) =>
      (reason.kind === 'far' && reason.metres > FAR_M) ||
      (reason.kind === 'other-day' && reason.days < 0),
  );
  return {
    file: shot.file,
    confidence: best.doubt !== undefined || isOdd ? 'likely' : 'sure',
    find: best.find.localId,
    reasons,
    candidates,
  };
}

/** Collects all evidence except names for or against one find. */
function collectEvidence(
  shot: PhotoInfo,
  find: MatchableFind,
  { withinM }: MatchOptions,
): Reason[] {
  const reasons: Reason[] = [];
  const metres =
    shot.place === undefined || find.place === undefined
      ? undefined
      : computeDistanceM(shot.place, find.place);
  if (metres !== undefined) reasons.push({ kind: metres <= withinM ? 'distance' : 'far', metres });
  const afterMs = getEntryTimeDelta(shot, find);
  if (afterMs !== undefined && Math.abs(afterMs) <= ENTERED_WITHIN_MS) {
    reasons.push({ kind: 'entered', minutes: Math.round(afterMs / MINUTE_MS) });
  }
  if (shot.takenOn !== undefined && find.foundOn !== undefined) {
    const days = Math.round((Date.parse(shot.takenOn) - Date.parse(find.foundOn)) / DAY_MS);
    if (days === 0) reasons.push({ kind: 'same-day' });
    else if (Math.abs(days) <= MAX_CLOCK_OFFSET_DAYS) reasons.push({ kind: 'other-day', days });
  }
  return reasons;
}

type ScoredFind = {
  readonly find: MatchableFind;
  readonly points: number;
  readonly reasons: readonly Reason[];
  readonly metres: number;
  readonly offMs: number;
};

function matchByEvidence(
  shot: PhotoInfo,
  finds: readonly MatchableFind[],
  options: MatchOptions,
): Match {
  const nearest = preferUnambiguous(
    finds.map((find) => ({
      find,
      value: shot.place && find.place ? computeDistanceM(shot.place, find.place) : Number.NaN,
    })),
    { most: options.withinM, apart: APART_M },
  );
  const soonest = preferUnambiguous(
    finds.map((find) => ({ find, value: Math.abs(getEntryTimeDelta(shot, find) ?? Number.NaN) })),
    { most: ENTERED_SOON_MS, apart: MINUTE_MS },
  );
  const scored = finds
    .map((find): ScoredFind => {
      const reasons = collectEvidence(shot, find, options);
      const points = reasons.reduce((sum, reason) => sum + getPoints(reason), 0);
      const clear = (find === nearest ? 1 : 0) + (find === soonest ? 2 : 0);
      const place = reasons.find((reason) => reason.kind === 'distance');
      return {
        find,
        points: points + clear,
        reasons,
        metres: place?.metres ?? Number.POSITIVE_INFINITY,
        offMs: Math.abs(getEntryTimeDelta(shot, find) ?? Number.POSITIVE_INFINITY),
      };
    })
    .filter(({ points }) => points > 0)
    .sort(
      (a, b) => b.points - a.points || compare(a.metres, b.metres) || compare(a.offMs, b.offMs),
    );
  const [best, second] = scored;
  const candidates = scored.slice(0, MAX_CANDIDATES).map(({ find }) => find.localId);
  const nothing: Match = { file: shot.file, confidence: 'none', reasons: [], candidates };
  if (best === undefined) return nothing;
  // Several finds with equal evidence, such as the same day, are no match.
  const isTie =
    best.points === second?.points && best.metres === second.metres && best.offMs === second.offMs;
  if (isTie) return nothing;
  const leads = best.points - (second?.points ?? 0) >= CLEAR_LEAD;
  const isContradicted = soonest !== undefined && soonest !== best.find;
  return {
    file: shot.file,
    confidence: best.points >= LIKELY_POINTS && leads && !isContradicted ? 'likely' : 'doubtful',
    find: best.find.localId,
    reasons: best.reasons,
    candidates,
  };
}

function getPoints(reason: Reason): number {
  switch (reason.kind) {
    case 'distance':
      return 2;
    case 'far':
      return -2;
    case 'entered':
    case 'same-day':
      return 1;
    case 'other-day':
      return -2;
    default:
      return 0;
  }
}

/**
 * Returns the find with the smallest value, at most `most`, if the next is at least `apart` larger
 * and twice as large.
 */
function preferUnambiguous(
  values: readonly { readonly find: MatchableFind; readonly value: number }[],
  { most, apart }: { readonly most: number; readonly apart: number },
): MatchableFind | undefined {
  const ranked = values
    .filter(({ value }) => !Number.isNaN(value))
    .sort((a, b) => a.value - b.value);
  const [first, second] = ranked;
  if (first === undefined || first.value > most) return undefined;
  const next = second?.value ?? Number.POSITIVE_INFINITY;
  return next >= first.value + apart && next >= first.value * 2 ? first.find : undefined;
}

/**
 * Matches photographs without own evidence to the find of one that was taken moments before or
 * after.
 */
function matchNeighbours(shots: readonly PhotoInfo[], matches: readonly Match[]): Match[] {
  const neighbours = shots
    .flatMap(({ file, takenMs }, index) => {
      const { confidence, find } = matches[index] ?? { confidence: 'none', find: undefined };
      const isKnown = confidence === 'sure' || confidence === 'likely';
      return takenMs === undefined || find === undefined || !isKnown
        ? []
        : [{ file, takenMs, find }];
    })
    .sort((a, b) => a.takenMs - b.takenMs);
  return matches.map((match, index) => {
    const takenMs = shots[index]?.takenMs;
    if (match.confidence !== 'none' || takenMs === undefined) return match;
    const nearest = neighbours
      .filter((other) => Math.abs(other.takenMs - takenMs) <= NEXT_TO_MS)
      .sort((a, b) => Math.abs(a.takenMs - takenMs) - Math.abs(b.takenMs - takenMs))[0];
    if (nearest === undefined) return match;
    const seconds = Math.round(Math.abs(nearest.takenMs - takenMs) / 1000);
    return {
      ...match,
      confidence: 'doubtful',
      find: nearest.find,
      reasons: [{ kind: 'next-to', file: nearest.file, seconds }],
      candidates: [nearest.find, ...match.candidates.filter((find) => find !== nearest.find)].slice(
        0,
        MAX_CANDIDATES,
      ),
    };
  });
}

/** Returns the milliseconds between the entry of a find and the photograph. */
function getEntryTimeDelta(
  { takenMs }: PhotoInfo,
  { enteredMs }: MatchableFind,
): number | undefined {
  return takenMs === undefined || enteredMs === undefined ? undefined : takenMs - enteredMs;
}

/** Returns the distance in a plane, which is exact enough for these ranges. */
function computeDistanceM([lon, lat]: Point, [otherLon, otherLat]: Point): number {
  const [lonM, latM] = computeMetresPerDegree((lat + otherLat) / 2);
  return Math.hypot((lon - otherLon) * lonM, (lat - otherLat) * latM);
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
