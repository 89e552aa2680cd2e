import { metresPerDegree } from '../place/polygon.ts';
import type { Point } from '../place/project.ts';
import { findsInName, hasOpenNumber, indexNames, type NameDoubt, type NameIndex, type NameMatch } from './name-match.ts';

/** A photograph, by what may tell which find it shows. */
export type Shot = {
  /** Relative to the folder that is searched, with `/` between the parts. */
  readonly file: string;
  /** Milliseconds since 1970 UTC. */
  readonly takenMs?: number;
  /** The camera's day, YYYY-MM-DD. */
  readonly takenOn?: string;
  /** Longitude and latitude. */
  readonly place?: Point;
  /** It is queued or sent for this find already: it only says what others show that were taken beside it. */
  readonly knownFor?: string;
};

export type MatchableFind = {
  readonly localId: string;
  readonly identCely?: string;
  /** YYYY-MM-DD */
  readonly foundOn?: string;
  /** When it was entered by hand, milliseconds since 1970 UTC; of a table's finds that says nothing. */
  readonly enteredMs?: number;
  readonly place?: Point;
};

export type Confidence = 'sure' | 'likely' | 'doubtful' | 'none';

/** What speaks for a find or against it. */
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
  /** The best find; undefined where nothing speaks for one. */
  readonly find?: string;
  readonly reasons: readonly Reason[];
  /** Finds worth offering, best first, the best one included. */
  readonly candidates: readonly string[];
};

export type MatchOptions = {
  /** A place counts where it is not farther from the find's point than that. */
  readonly withinM: number;
};

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A find is entered soon before or after it is photographed. */
const ENTERED_WITHIN_MS = 30 * MINUTE_MS;
const ENTERED_SOON_MS = 10 * MINUTE_MS;
/** Pictures of one thing are taken one after the other. */
const NEXT_TO_MS = 90_000;
/** A photograph whose name says a find, taken that far from its point, may be of something else. */
const FAR_M = 500;
/** A clock that is wrong by more was never set: what it says counts neither way. */
const MOST_DAYS_OFF = 400;
/** GPS tells apart what lies farther apart than that. */
const APART_M = 5;
const MOST_CANDIDATES = 5;
/** Points from which on evidence without a name is worth taking, and by how much the next find has to be behind. */
const LIKELY_POINTS = 4;
const CLEAR_LEAD = 2;

/**
 * Which photograph shows which find: by the name of the file or its folder, by place, and by time. Only a name makes sure: a photograph
 * that was sent to the wrong record cannot be taken back.
 */
export function matchPhotographs(shots: readonly Shot[], finds: readonly MatchableFind[], options: MatchOptions): Match[] {
  const index = indexNames(
    finds.map((find) => ({ find, ids: find.identCely === undefined ? [find.localId] : [find.localId, find.identCely] })),
  );
  const matches = shots.map((shot) => settled(shot) ?? byName(shot, index, options) ?? byEvidence(shot, finds, options));
  return besideOthers(shots, matches);
}

function settled({ file, knownFor }: Shot): Match | undefined {
  return knownFor === undefined ? undefined : { file, confidence: 'sure', find: knownFor, reasons: [], candidates: [knownFor] };
}

function byName(shot: Shot, index: NameIndex<MatchableFind>, options: MatchOptions): Match | undefined {
  const parts = shot.file.split('/');
  const stem = (parts.at(-1) ?? '').replace(/\.[^.]*$/, '');
  const inFile = findsInName(stem, index);
  const inFolder = findsInName(parts.at(-2) ?? '', index);
  if (inFile.length > 0) {
    // A photograph of K-2 in the folder of K-1 may be of either.
    const others = inFolder.filter(({ find, doubt }) => doubt === undefined && inFile.every((each) => each.find !== find));
    return named(shot, [...inFile, ...others], 'name', options);
  }
  const isOpen = hasOpenNumber(stem);
  const folders = inFolder.map((match) => (isOpen ? { ...match, doubt: match.doubt ?? 'more-in-name' } : match));
  return folders.length > 0 ? named(shot, folders, 'folder', options) : undefined;
}

function named(shot: Shot, matches: readonly NameMatch<MatchableFind>[], kind: 'name' | 'folder', options: MatchOptions): Match {
  const candidates = matches.map(({ find }) => find.localId).slice(0, MOST_CANDIDATES);
  const [best, ...others] = matches;
  if (best === undefined) return { file: shot.file, confidence: 'none', reasons: [], candidates };
  const evidence = evidenceFor(shot, best.find, options);
  const reasons: Reason[] = [{ kind, id: best.id }, ...evidence];
  if (others.length > 0) {
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
    (reason) => (reason.kind === 'far' && reason.metres > FAR_M) || (reason.kind === 'other-day' && reason.days < 0),
  );
  return {
    file: shot.file,
    confidence: best.doubt !== undefined || isOdd ? 'likely' : 'sure',
    find: best.find.localId,
    reasons,
    candidates,
  };
}

/** Everything but the name, as it speaks for or against one find. */
function evidenceFor(shot: Shot, find: MatchableFind, { withinM }: MatchOptions): Reason[] {
  const reasons: Reason[] = [];
  const metres = shot.place === undefined || find.place === undefined ? undefined : distanceM(shot.place, find.place);
  if (metres !== undefined) reasons.push({ kind: metres <= withinM ? 'distance' : 'far', metres });
  const afterMs = enteredBefore(shot, find);
  if (afterMs !== undefined && Math.abs(afterMs) <= ENTERED_WITHIN_MS) {
    reasons.push({ kind: 'entered', minutes: Math.round(afterMs / MINUTE_MS) });
  }
  if (shot.takenOn !== undefined && find.foundOn !== undefined) {
    const days = Math.round((Date.parse(shot.takenOn) - Date.parse(find.foundOn)) / DAY_MS);
    if (days === 0) reasons.push({ kind: 'same-day' });
    else if (Math.abs(days) <= MOST_DAYS_OFF) reasons.push({ kind: 'other-day', days });
  }
  return reasons;
}

type Scored = {
  readonly find: MatchableFind;
  readonly points: number;
  readonly reasons: readonly Reason[];
  readonly metres: number;
  readonly offMs: number;
};

function byEvidence(shot: Shot, finds: readonly MatchableFind[], options: MatchOptions): Match {
  const nearest = clearFirst(
    finds.map((find) => ({ find, value: shot.place && find.place ? distanceM(shot.place, find.place) : Number.NaN })),
    { most: options.withinM, apart: APART_M },
  );
  const soonest = clearFirst(
    finds.map((find) => ({ find, value: Math.abs(enteredBefore(shot, find) ?? Number.NaN) })),
    { most: ENTERED_SOON_MS, apart: MINUTE_MS },
  );
  const scored = finds
    .map((find): Scored => {
      const reasons = evidenceFor(shot, find, options);
      const points = reasons.reduce((sum, reason) => sum + pointsOf(reason), 0);
      const clear = (find === nearest ? 1 : 0) + (find === soonest ? 2 : 0);
      const place = reasons.find((reason) => reason.kind === 'distance');
      return {
        find,
        points: points + clear,
        reasons,
        metres: place?.metres ?? Number.POSITIVE_INFINITY,
        offMs: Math.abs(enteredBefore(shot, find) ?? Number.POSITIVE_INFINITY),
      };
    })
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points || compare(a.metres, b.metres) || compare(a.offMs, b.offMs));
  const [best, second] = scored;
  const candidates = scored.slice(0, MOST_CANDIDATES).map(({ find }) => find.localId);
  const nothing: Match = { file: shot.file, confidence: 'none', reasons: [], candidates };
  if (best === undefined) return nothing;
  // That several finds were made on a day says nothing of a photograph of that day.
  const isTie = best.points === second?.points && best.metres === second.metres && best.offMs === second.offMs;
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

function pointsOf(reason: Reason): number {
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

/** The one with the least value, where it is not more than `most` and the next one is at least `apart` and twice as far. */
function clearFirst(
  values: readonly { readonly find: MatchableFind; readonly value: number }[],
  { most, apart }: { readonly most: number; readonly apart: number },
): MatchableFind | undefined {
  const known = values.filter(({ value }) => !Number.isNaN(value)).sort((a, b) => a.value - b.value);
  const [first, second] = known;
  if (first === undefined || first.value > most) return undefined;
  const next = second?.value ?? Number.POSITIVE_INFINITY;
  return next >= first.value + apart && next >= first.value * 2 ? first.find : undefined;
}

/** A photograph that nothing speaks for, taken within moments of one whose find is known. */
function besideOthers(shots: readonly Shot[], matches: readonly Match[]): Match[] {
  const known = shots
    .flatMap(({ file, takenMs }, index) => {
      const { confidence, find } = matches[index] ?? { confidence: 'none', find: undefined };
      const isKnown = confidence === 'sure' || confidence === 'likely';
      return takenMs === undefined || find === undefined || !isKnown ? [] : [{ file, takenMs, find }];
    })
    .sort((a, b) => a.takenMs - b.takenMs);
  return matches.map((match, index) => {
    const takenMs = shots[index]?.takenMs;
    if (match.confidence !== 'none' || takenMs === undefined) return match;
    const nearest = known
      .filter((other) => Math.abs(other.takenMs - takenMs) <= NEXT_TO_MS)
      .sort((a, b) => Math.abs(a.takenMs - takenMs) - Math.abs(b.takenMs - takenMs))[0];
    if (nearest === undefined) return match;
    const seconds = Math.round(Math.abs(nearest.takenMs - takenMs) / 1000);
    return {
      ...match,
      confidence: 'doubtful',
      find: nearest.find,
      reasons: [{ kind: 'next-to', file: nearest.file, seconds }],
      candidates: [nearest.find, ...match.candidates.filter((find) => find !== nearest.find)].slice(0, MOST_CANDIDATES),
    };
  });
}

/** How long after its entering the photograph was taken. */
function enteredBefore({ takenMs }: Shot, { enteredMs }: MatchableFind): number | undefined {
  return takenMs === undefined || enteredMs === undefined ? undefined : takenMs - enteredMs;
}

/** Straight, which is exact enough for the distances that count. */
function distanceM([lon, lat]: Point, [otherLon, otherLat]: Point): number {
  const [lonM, latM] = metresPerDegree((lat + otherLat) / 2);
  return Math.hypot((lon - otherLon) * lonM, (lat - otherLat) * latM);
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
