import { groupBy } from '../base/collections.ts';
import { foldName } from '../base/names.ts';

type NamedFind<T> = { readonly find: T; readonly ids: readonly string[] };

/** A find whose number is in a name; `id` is the number as the find has it. */
export type NameMatch<T> = {
  readonly find: T;
  readonly id: string;
  /** Other numbers stand beside the number, or it is written in an unusual way. */
  readonly isDoubtful: boolean;
};

type IndexedId<T> = {
  readonly find: T;
  readonly id: string;
  readonly tokens: readonly NameToken[];
};

/** Ids of finds by their first token, such as `k` for `K-12`. */
export type NameIndex<T> = ReadonlyMap<string, readonly IndexedId<T>[]>;

/** Czech, English and German words that precede a number in a phrase: `profil v 2 vrstvě`. */
const WORDS_BEFORE_NUMBERS: ReadonlySet<string> = new Set(
  'a|i|k|ke|ku|o|s|se|u|v|ve|z|ze|na|do|od|po|za|at|by|in|no|of|on|to|am|an|im|zu'.split('|'),
);

/**
 * Beginnings of Czech and English words for a part of a site, whose number looks like a find's:
 * `čtverec K-12`.
 */
const SITE_PARTS =
  /^(?:ctver|sektor|kvadrant|sond|vrstv|objekt|hrob|kontext|ploch|square|sector|quadrant|trench|layer|feature|grave|context)/;

/** Indexes finds by the first token of each of their ids, for {@link findFindsInName}. */
export function indexNames<T>(finds: readonly NamedFind<T>[]): NameIndex<T> {
  const indexed = finds.flatMap(({ find, ids }) =>
    ids.map((id) => ({ find, id, tokens: splitNameTokens(withoutAccents(id)) })),
  );
  return groupBy(indexed, ({ tokens }) => tokens[0]?.text ?? '');
}

type Name = {
  readonly plain: string;
  readonly tokens: readonly NameToken[];
  readonly otherNumbers: readonly OtherNumber[];
};
type Span<T> = IndexedId<T> & { readonly start: number; readonly end: number };
type GradedSpan<T> = Span<T> & { readonly isDoubtful: boolean };

type NamedFinds<T> = {
  /** The longest id first. */
  readonly matches: readonly NameMatch<T>[];
  /** A number that may be another find's: not of a camera, date or size. */
  readonly hasOtherNumber: boolean;
};

/**
 * Finds the numbers of finds in the name of a file or folder; several where the name has several,
 * or where ids differ only in spelling. Case, accents, separators and leading zeros do not count; a
 * number matches only as a whole, so `K-12` does not match `K-1`. Numbers of cameras, dates and
 * sizes are excluded.
 * @param name without its extension
 */
export function findFindsInName<T>(name: string, index: NameIndex<T>): NamedFinds<T> {
  const plain = withoutAccents(name);
  const tokens = splitNameTokens(plain);
  const parts: Name = { plain, tokens, otherNumbers: findOtherNumbers(plain) };
  const spans = tokens.flatMap((token, start) =>
    (index.get(token.text) ?? [])
      .filter((each) =>
        each.tokens.every(({ text }, offset) => tokens[start + offset]?.text === text),
      )
      .filter((each) => each.tokens.length > 1 || mayStandAlone(tokens, start))
      .map((each): Span<T> => ({ ...each, start, end: start + each.tokens.length })),
  );
  const outermost = spans.filter(
    (span) =>
      !spans.some(
        (other) =>
          other.tokens.length > span.tokens.length &&
          other.start < span.end &&
          span.start < other.end,
      ),
  );
  const exact = outermost.filter(({ id }) => foldName(name).includes(foldName(id)));
  const graded = (exact.length === 0 || isOverlapFree(outermost) ? outermost : exact).flatMap(
    (span) => grade(parts, span),
  );
  const hasOtherNumber = hasMoreNumbers(parts, graded);
  const matches = new Map<T, NameMatch<T>>();
  for (const span of graded.sort((a, b) => b.tokens.length - a.tokens.length)) {
    const { find, id } = span;
    if (!matches.has(find))
      matches.set(find, { find, id, isDoubtful: hasOtherNumber || span.isDoubtful });
  }
  return { matches: [...matches.values()], hasOtherNumber };
}

/** Tells if no two ids share a position. */
function isOverlapFree(spans: readonly { readonly start: number }[]): boolean {
  return new Set(spans.map(({ start }) => start)).size === spans.length;
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

/** Returns the match with its doubt; empty where it is no find number. */
function grade<T>(name: Name, span: Span<T>): GradedSpan<T>[] {
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
  const isOfSitePart = SITE_PARTS.test(name.tokens[span.start - 1]?.text ?? '');
  const isUnusual =
    isPerhapsPhrase(name, span) || !isJoined(name, span) || isWrittenOnto(name, span);
  return [{ ...span, isDoubtful: isOthers || isBare || isOfSitePart || isUnusual }];
}

/** Tells if letters or digits follow or precede directly: `K-12b`, `2K-12`. */
function isWrittenOnto({ tokens, otherNumbers }: Name, { start, end }: Span<unknown>): boolean {
  const after = tokens[end];
  const isOfCopy = otherNumbers.some(
    (other) => other.kind === 'copy' && other.start === after?.start,
  );
  return (start > 0 && tokens[start]?.gap === '') || (after?.gap === '' && !isOfCopy);
}

/** Tells if the parts of the number are joined as in the id, or by one sign other than a blank. */
function isJoined({ tokens }: Name, span: Span<unknown>): boolean {
  return tokens.slice(span.start + 1, span.end).every(({ gap }, index) => {
    const inId = span.tokens[index + 1]?.gap;
    return gap === inId || /^[-_.~+\u2010-\u2015]?$/.test(gap) || (inId === '/' && gap === ',');
  });
}

/**
 * Tells if the letters of the number may be a word of a phrase: `profil v 2 vrstvě` for `V-2`. A
 * capital, a leading zero, or no separator shows that they are not.
 */
function isPerhapsPhrase({ tokens, plain }: Name, { start }: Span<unknown>): boolean {
  const word = tokens[start];
  const number = tokens[start + 1];
  if (word === undefined || number === undefined || !WORDS_BEFORE_NUMBERS.has(word.text))
    return false;
  const isCapital = /^\p{Lu}/u.test(plain.slice(word.start));
  return !isCapital && number.gap !== '' && plain[number.start] !== '0';
}

function hasMoreNumbers({ tokens, otherNumbers }: Name, spans: readonly Span<unknown>[]): boolean {
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
    // Design rule for Camera File systems: folders of three digits and five characters, files of four
    // characters and four digits.
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
