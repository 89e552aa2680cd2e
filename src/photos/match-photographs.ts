import { groupBy } from '../base/collections.ts';
import { computeMetresPerDegree } from '../finds/place/areas.ts';
import type { Point } from '../finds/place/geometry.ts';
import type { PhotoExif } from './photo-exif.ts';

/**
 * Names of photographs, and the grade that they give with a find `K-12`; a find `12` where they
 * lack the letter. Files are without their extension.
 *
 * | name | grade |
 * |---|---|
 * | `K-12`, `K12`, `k_012 detail (2)`, `2024-06-01_K-12`, `IMG_0001 K-12`, `K-12 5cm` | sure |
 * | `K-12/IMG_0001`: the folder, since the file has no number that may be a find's | sure |
 * | `K 12`, `K-12b`, `2K-12`, `sektor K-12`: written in an unusual way, or behind a word | likely |
 * | `K-12-1`, `K-12 K-13`, `K-12/7`: one more number, of no find here; and `12`: no letters | likely |
 * | sure, but more than 500 m away, or taken on a day before the find was made | likely |
 * | `K-12 K-13`, `K-12/K-13`: numbers of two finds; or a person is asked about the number | doubtful |
 * | `IMG_0012`, `2024-06-12`: a camera or a date | by place and day |
 */

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
  /** A person is asked which find the row of this number is. */
  readonly isNumberAsked?: boolean;
  /** YYYY-MM-DD */
  readonly foundOn?: string;
  readonly point?: Point;
};

/** How sure a match is; only a name makes it `sure`. With `none` no find is better than others. */
export type Confidence = 'sure' | 'likely' | 'doubtful' | 'none';

/** Evidence for or against a find. */
export type MatchReason =
  | { readonly kind: 'name'; readonly id: string }
  | { readonly kind: 'folder'; readonly id: string }
  | { readonly kind: 'like-name'; readonly id: string }
  | { readonly kind: 'several-names'; readonly ids: readonly string[] }
  | { readonly kind: 'distance'; readonly metres: number }
  | { readonly kind: 'far'; readonly metres: number }
  | { readonly kind: 'same-day' }
  /** Negative where the photograph was taken before the find was made. */
  | { readonly kind: 'other-day'; readonly days: number };

/** The find that a photograph probably shows, and why. */
export type PhotoMatch = {
  readonly file: string;
  readonly confidence: Confidence;
  /** The best find; undefined with confidence `none`. */
  readonly find?: string;
  readonly reasons: readonly MatchReason[];
  /** Finds to suggest, best first, including the best one. */
  readonly candidates: readonly string[];
};

const DAY_MS = 86_400_000;
/** Taken this far from the find in its name, a photograph may show something else. */
const FAR_M = 500;
/** A clock that is off by more was never set, so its date counts neither way. */
const MAX_CLOCK_OFFSET_DAYS = 400;
const MAX_CANDIDATES = 5;

/**
 * Matches photographs to finds by the number of a find in the name of the file or its folder, else
 * by position and day. Only a name makes a match `sure`: a photograph that was sent to the wrong
 * record cannot be removed.
 * @param withinM distance in metres between photograph and find up to which the position counts
 * @returns a match for each photograph, in their order; confidence `none` without evidence, or
 * where two finds fit equally
 */
export function matchPhotographs(
  shots: readonly PhotoInfo[],
  finds: readonly MatchableFind[],
  withinM: number,
): PhotoMatch[] {
  const index = indexFindNumbers(finds);
  return shots.map(
    (shot) => matchByName(shot, index, withinM) ?? matchByEvidence(shot, finds, withinM),
  );
}

/**
 * Matches by the finds whose numbers are in the name of the file, followed by those that surely are
 * in that of its folder; without any in the file's name, by the folder's alone. Undefined where
 * neither has one. Several finds are a doubtful match; position and day can only lower the
 * confidence.
 */
function matchByName(shot: PhotoInfo, index: NameIndex, withinM: number): PhotoMatch | undefined {
  const { file } = shot;
  const parts = file.split('/');
  const ofFile = searchNameForFinds((parts.at(-1) ?? '').replace(/\.[^.]*$/, ''), index);
  const ofFolder = searchNameForFinds(parts.at(-2) ?? '', index).matches;
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
  const evidence = listReasons(shot, measureDistances(shot, best.find), withinM);
  if (others.length > 0) {
    const reasons: MatchReason[] = [{ kind: 'several-names', ids: candidates }, ...evidence];
    return { file, confidence: 'doubtful', find, reasons, candidates };
  }
  const isDoubtful = best.isDoubtful || (!isInFile && ofFile.hasOtherNumber);
  const kind = isInFile ? 'name' : 'folder';
  const isOdd = evidence.some(
    (reason) =>
      (reason.kind === 'far' && reason.metres > FAR_M) ||
      (reason.kind === 'other-day' && reason.days < 0),
  );
  const confidence = isDoubtful || isOdd ? 'likely' : 'sure';
  return {
    file,
    confidence: best.find.isNumberAsked === true ? 'doubtful' : confidence,
    find,
    reasons: [{ kind: isDoubtful ? 'like-name' : kind, id: best.id }, ...evidence],
    candidates,
  };
}

/** A find as it lies to a photograph. */
type Distances = {
  readonly find: MatchableFind;
  /** Infinite where one of them has no position. */
  readonly metres: number;
  readonly isOfDay: boolean;
};

function measureDistances({ position, takenOn }: PhotoInfo, find: MatchableFind): Distances {
  const { point, foundOn } = find;
  return {
    find,
    metres: position && point ? computeDistanceM(position, point) : Infinity,
    isOfDay: takenOn !== undefined && takenOn === foundOn,
  };
}

/** Lists all evidence except names for or against one find. */
function listReasons(
  { takenOn }: PhotoInfo,
  { find: { foundOn }, metres, isOfDay }: Distances,
  withinM: number,
): MatchReason[] {
  const reasons: MatchReason[] = [];
  if (metres < Infinity) reasons.push({ kind: metres <= withinM ? 'distance' : 'far', metres });
  if (isOfDay) reasons.push({ kind: 'same-day' });
  else if (takenOn !== undefined && foundOn !== undefined) {
    const days = Math.round((Date.parse(takenOn) - Date.parse(foundOn)) / DAY_MS);
    if (Math.abs(days) <= MAX_CLOCK_OFFSET_DAYS) reasons.push({ kind: 'other-day', days });
  }
  return reasons;
}

/**
 * Matches by place, else, where a find or the photograph has no position, by the day alone: finds
 * of the day first, then the nearest. Likely is the one find of the day nearby where every other
 * one is out of reach; two that fit equally are no match.
 */
function matchByEvidence(
  shot: PhotoInfo,
  finds: readonly MatchableFind[],
  withinM: number,
): PhotoMatch {
  const { file } = shot;
  const measured = finds.map((find) => measureDistances(shot, find));
  const fitting = measured
    .filter(({ metres, isOfDay }) => metres <= withinM || (metres === Infinity && isOfDay))
    // The difference of two infinite values is not a number, so their order stays.
    .sort((a, b) => Number(b.isOfDay) - Number(a.isOfDay) || a.metres - b.metres || 0);
  const [best, second] = fitting;
  const candidates = fitting.slice(0, MAX_CANDIDATES).map(({ find }) => find.localId);
  // Nothing prefers one of two finds, such as two of the same day.
  const areEqual = second?.metres === best?.metres && second?.isOfDay === best?.isOfDay;
  if (best === undefined || areEqual) return { file, confidence: 'none', reasons: [], candidates };
  const isLikely =
    best.metres <= withinM &&
    best.isOfDay &&
    measured.every((each) => each === best || each.metres > withinM);
  return {
    file,
    confidence: isLikely ? 'likely' : 'doubtful',
    find: best.find.localId,
    reasons: listReasons(shot, best, withinM),
    candidates,
  };
}

/** Returns the distance in a plane, which is exact enough for these ranges. */
function computeDistanceM([lon, lat]: Point, [otherLon, otherLat]: Point): number {
  const [lonM, latM] = computeMetresPerDegree((lat + otherLat) / 2);
  return Math.hypot((lon - otherLon) * lonM, (lat - otherLat) * latM);
}

/** A find whose number is in a name; `id` is the number as the find has it. */
type NameMatch = {
  readonly find: MatchableFind;
  readonly id: string;
  /** Other numbers stand beside the number, or it is written in an unusual way. */
  readonly isDoubtful: boolean;
};

type IndexedId = {
  readonly find: MatchableFind;
  readonly id: string;
  readonly tokens: readonly NameToken[];
};

/** Ids of finds by their first token, such as `k` for `K-12`. */
type NameIndex = ReadonlyMap<string, readonly IndexedId[]>;

/**
 * Indexes finds for {@link searchNameForFinds}, by the first token of each of their numbers: local
 * id, `ident_cely` and number in the table.
 */
export function indexFindNumbers(finds: readonly MatchableFind[]): NameIndex {
  const indexed = finds.flatMap((find) =>
    [find.localId, find.identCely, find.number]
      .filter((id) => id !== undefined)
      .map((id) => ({ find, id, tokens: splitNameTokens(withoutAccents(id)) })),
  );
  return groupBy(indexed, ({ tokens }) => tokens[0]?.text ?? '');
}

type Name = {
  readonly plain: string;
  readonly tokens: readonly NameToken[];
  readonly otherNumbers: readonly OtherNumber[];
};
type Span = IndexedId & { readonly start: number; readonly end: number };
type GradedSpan = Span & { readonly isDoubtful: boolean };

type NamedFinds = {
  /** The longest id first. */
  readonly matches: readonly NameMatch[];
  /** A number that may be another find's: not of a camera, date or size. */
  readonly hasOtherNumber: boolean;
};

/**
 * Searches the name of a file or folder for the numbers of finds. It has several matches where it
 * names several finds, or where their numbers differ only in spelling; none where it names no find.
 * Case, accents, separators and leading zeros do not count. A number matches only as a whole, so
 * `K-12` does not match `K-1`, and not as a part of a date or of the number of a camera or copy.
 * @param name without its extension
 */
export function searchNameForFinds(name: string, index: NameIndex): NamedFinds {
  const plain = withoutAccents(name);
  const tokens = splitNameTokens(plain);
  const parts: Name = { plain, tokens, otherNumbers: findOtherNumbers(plain) };
  const spans = withoutShorter(listSpans(tokens, index));
  const graded = spans.flatMap((span) => gradeSpan(parts, span));
  const hasOtherNumber = hasMoreNumbers(parts, graded);
  const matches = new Map<MatchableFind, NameMatch>();
  for (const span of graded.sort((a, b) => b.tokens.length - a.tokens.length)) {
    const { find, id } = span;
    if (!matches.has(find))
      matches.set(find, { find, id, isDoubtful: hasOtherNumber || span.isDoubtful });
  }
  return { matches: [...matches.values()], hasOtherNumber };
}

/** Returns every place where all tokens of an id stand in the name. */
function listSpans(tokens: readonly NameToken[], index: NameIndex): Span[] {
  return tokens.flatMap((token, start) =>
    (index.get(token.text) ?? [])
      .filter((each) =>
        each.tokens.every(({ text }, offset) => tokens[start + offset]?.text === text),
      )
      .filter((each) => each.tokens.length > 1 || mayStandAlone(tokens, start))
      .map((each): Span => ({ ...each, start, end: start + each.tokens.length })),
  );
}

/** Leaves out spans that overlap a longer one. */
function withoutShorter(spans: readonly Span[]): Span[] {
  return spans.filter(
    (span) =>
      !spans.some(
        (other) =>
          other.tokens.length > span.tokens.length &&
          other.start < span.end &&
          span.start < other.end,
      ),
  );
}

/**
 * An id of one token often matches by chance, so it counts only at the beginning, or behind one
 * word.
 */
function mayStandAlone(tokens: readonly NameToken[], start: number): boolean {
  const before = tokens.slice(0, start);
  return before.every(({ text }) => !isNumber(text)) && before.length <= 1;
}

function isNumber(text: string): boolean {
  return /^\p{Nd}/u.test(text);
}

/** Returns the match with its doubt; empty where a date or a camera's number overlaps it. */
function gradeSpan(name: Name, span: Span): GradedSpan[] {
  const first = name.tokens[span.start];
  const last = name.tokens[span.end - 1];
  if (first === undefined || last === undefined) return [];
  const from = first.start;
  const to = last.end;
  const crossing = name.otherNumbers.filter(
    (other) => other.start < to && from < other.end && !(from <= other.start && other.end <= to),
  );
  if (crossing.some(({ kind }) => kind !== 'size')) return [];
  const isOthers =
    crossing.length > 0 || name.otherNumbers.some(({ start, end }) => start === from && end === to);
  const isBare = span.tokens.every(({ text }) => isNumber(text) === isNumber(first.text));
  const isUnusual = isBehindWord(name, span) || !isJoined(name, span) || isWrittenOnto(name, span);
  return [{ ...span, isDoubtful: isOthers || isBare || isUnusual }];
}

/**
 * Tells if a word precedes the number, which may then be that of a part of the site: `sektor K-12`,
 * `profil-v-2` for `V-2`. The words of cameras do not count.
 */
function isBehindWord({ tokens, otherNumbers }: Name, { start }: Span): boolean {
  return tokens
    .slice(0, start)
    .some(
      ({ text, start: from }) =>
        !isNumber(text) && !otherNumbers.some((other) => other.start <= from && from < other.end),
    );
}

/** Tells if letters or digits follow or precede directly: `K-12b`, `2K-12`. */
function isWrittenOnto({ tokens, otherNumbers }: Name, { start, end }: Span): boolean {
  const after = tokens[end];
  const isOfCopy = otherNumbers.some(
    (other) => other.kind === 'copy' && other.start === after?.start,
  );
  return (start > 0 && tokens[start]?.gap === '') || (after?.gap === '' && !isOfCopy);
}

/** Tells if the parts of the number are joined as in the id, or by one sign other than a blank. */
function isJoined({ tokens }: Name, span: Span): boolean {
  return tokens.slice(span.start + 1, span.end).every(({ gap }, index) => {
    const inId = span.tokens[index + 1]?.gap;
    return gap === inId || /^[-_.~+\u2010-\u2015]?$/.test(gap) || (inId === '/' && gap === ',');
  });
}

/**
 * Tells if the name has a number that belongs to none of the spans, and to no camera, date or size.
 */
function hasMoreNumbers({ tokens, otherNumbers }: Name, spans: readonly Span[]): boolean {
  return tokens.some(
    ({ text, start, end }, at) =>
      isNumber(text) &&
      !otherNumbers.some((other) => other.start <= start && end <= other.end) &&
      !spans.some((span) => span.start <= at && at < span.end),
  );
}

/** A run of letters in lower case, or of digits without leading zeros, and its position. */
type NameToken = {
  readonly text: string;
  /** Characters between the token before and this one. */
  readonly gap: string;
  readonly start: number;
  readonly end: number;
};

/** A part of a name whose number does not refer to a find. */
type OtherNumber = {
  readonly kind: (typeof KINDS)[number];
  readonly start: number;
  readonly end: number;
};

function withoutAccents(name: string): string {
  return name.normalize('NFKD').replace(/\p{Mn}/gu, '');
}

/** @param plain text without accents */
function splitNameTokens(plain: string): NameToken[] {
  let before = 0;
  return [...plain.matchAll(/\p{L}+|\p{Nd}+/gu)].map(({ 0: run, index }) => {
    const gap = plain.slice(before, index);
    before = index + run.length;
    return { text: run.toLowerCase().replace(/^0+(?=\d)/, ''), gap, start: index, end: before };
  });
}

/**
 * Prefixes of picture names from cameras, phones, messengers and people: the number behind them
 * counts pictures.
 */
const PICTURE =
  '(?<!\\p{L})(?:img|mvimg|mg|imag|image|images|dsc|dscn|dscf|sam|pxl|pic|pict|picture|photo|foto|snimek|obrazek|obrazovky|scan|' +
  'dji|gopr|gx|gh|gp|wp|vid|mov|cimg|hpim|rimg|burst|screenshot|received|fb|psx|resized|snapchat|signal|viber|whatsapp|telegram)(?!\\p{L})';
const GAP = String.raw`[^\p{L}\p{Nd}]*`;
/** `IMG_0001`, `IMG_E0017`, `IMG-20240601-WA0017`. */
const PICTURE_NAME = String.raw`${PICTURE}(?:${GAP}e(?=\p{Nd}))?${GAP}(?:\p{Nd}+|${PICTURE})(?:${GAP}(?:\p{Nd}+|${PICTURE}|wa(?=\p{Nd})))*`;

const YEAR = String.raw`(?:19|20)\d\d`;
const MONTH = '(?:0?[1-9]|1[0-2])';
const DAY = '(?:0?[1-9]|[12]\\d|3[01])';
const TIME = String.raw`(?:(?: at |[-_ .T]+)(?:[01]\d|2[0-3])[-_.:h]?[0-5]\d(?:[-_.:]?[0-5]\d(?:[-_.]?\d{3})?)?)?`;
const COMPACT_DAY = String.raw`${YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])`;
const UNIT =
  '(?:mm|cm|dm|km|m|kg|g|ks|px|mpx?|dpi|x|%|°|hod|min|metr\\p{L}*|\\p{L}{4,5}metr\\p{L}*|gram\\p{L}*)';

const PATTERNS = {
  date: [
    new RegExp(String.raw`(?<!\d)${YEAR}([-_. ])${MONTH}\1${DAY}${TIME}(?!\d)`, 'gi'),
    new RegExp(String.raw`(?<!\d)${COMPACT_DAY}(?:\d{6}|${TIME})(?!\d)`, 'gi'),
    new RegExp(String.raw`(?<!\d)${DAY}([-_. ]) ?${MONTH}\1 ?${YEAR}(?!\d)`, 'g'),
    new RegExp(String.raw`(?<!\d)${DAY}\. ?${MONTH}\.(?: ?\d\d(?!\d)|(?! ?\d))`, 'g'),
  ],
  size: [
    /(?<!\d)\d+ ?[x×] ?\d+(?!\d)/gi,
    new RegExp(String.raw`(?<!\d)\d+(?:[.,]\d+)?[-_ ]?${UNIT}(?!\p{L})`, 'giu'),
  ],
  copy: [
    /\(\d{1,3}\)/g,
    // The service's own number of a file: `C202400101N00012F01`.
    /(?<=\d-?n\d{1,9})-?f\d+(?![\p{L}\p{Nd}])/giu,
  ],
  camera: [
    new RegExp(PICTURE_NAME, 'giu'),
    // Design rule for Camera File systems: folders of three digits and five characters, files of
    // four characters and four digits.
    /^[1-9]\d\d(?:_\d{4}|[a-z_][a-z0-9_]{4})$/gi,
    /(?<![\p{L}\p{Nd}])(?:[plrsbm]\d{7}|p[abc]\d{6}|wa\d{4}|e\d{4})(?![\p{L}\p{Nd}])/giu,
    /(?<![\p{L}\p{Nd}])[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}(?![\p{L}\p{Nd}])/giu,
  ],
};
const KINDS = ['date', 'size', 'copy', 'camera'] as const;

/** @param plain text without accents */
function findOtherNumbers(plain: string): OtherNumber[] {
  return KINDS.flatMap((kind) =>
    PATTERNS[kind]
      .flatMap((pattern) => [...plain.matchAll(pattern)])
      .filter(([text]) => /\p{Nd}/u.test(text))
      .map(({ index, 0: text }) => ({ kind, start: index, end: index + text.length })),
  );
}
