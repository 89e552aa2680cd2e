import { foldName } from '../text/names.ts';
import { numbersOfOthers, type OtherNumber, type Token, tokensOf, withoutAccents } from './name-parts.ts';

type NamedFind<T> = { readonly find: T; readonly ids: readonly string[] };

/** Why the find number that was read in a name may be none: other numbers stand beside it, or it is not written as find numbers are. */
export type NameDoubt = 'more-in-name' | 'like-name';

export type NameMatch<T> = {
  readonly find: T;
  /** The id that was read, as it is written in the outbox. */
  readonly id: string;
  readonly doubt: NameDoubt | undefined;
};

type IndexedId<T> = { readonly find: T; readonly id: string; readonly plain: string; readonly tokens: readonly Token[] };

export type NameIndex<T> = ReadonlyMap<string, readonly IndexedId<T>[]>;

/** An ident of the service, whose own file names go on with `F01`. */
const IDENT = /-N\d+$/;

/** Czech, English and German words that stand before a number in a phrase: `profil v 2 vrstvě`. */
const WORDS_BEFORE_NUMBERS: ReadonlySet<string> = new Set(
  'a|i|k|ke|ku|o|s|se|u|v|ve|z|ze|na|do|od|po|za|at|by|in|no|of|on|to|am|an|im|zu'.split('|'),
);

/** To look finds up by the first token of their ids. */
export function indexNames<T>(finds: readonly NamedFind<T>[]): NameIndex<T> {
  const index = new Map<string, IndexedId<T>[]>();
  for (const { find, ids } of finds) {
    for (const id of ids) {
      const plain = withoutAccents(id);
      const tokens = tokensOf(plain);
      const first = tokens[0]?.text;
      if (first === undefined) continue;
      const before = index.get(first);
      if (before === undefined) index.set(first, [{ find, id, plain, tokens }]);
      else before.push({ find, id, plain, tokens });
    }
  }
  return index;
}

type Name = { readonly plain: string; readonly tokens: readonly Token[]; readonly others: readonly OtherNumber[] };
type Span<T> = IndexedId<T> & { readonly start: number; readonly end: number };
type Graded<T> = Span<T> & { readonly doubt: NameDoubt | undefined };

/**
 * The finds that a file's or a folder's name says, the longest id first; several where it says several, or where ids differ in
 * nothing but their writing. Case, accents, separators and leading zeros do not matter; a number counts only as a whole, so that
 * `K-12` never says `K-1`. Numbers of cameras, dates and sizes are no find numbers.
 * @param name without its extension
 */
export function findsInName<T>(name: string, index: NameIndex<T>): NameMatch<T>[] {
  const plain = withoutAccents(name);
  const tokens = tokensOf(plain);
  const parts: Name = { plain, tokens, others: numbersOfOthers(plain, tokens) };
  const spans = tokens.flatMap((token, start) =>
    (index.get(token.text) ?? [])
      .filter((each) => each.tokens.every(({ text }, offset) => tokens[start + offset]?.text === text))
      .filter((each) => each.tokens.length > 1 || mayStandAlone(tokens, start))
      .map((each): Span<T> => ({ ...each, start, end: start + each.tokens.length })),
  );
  const outermost = spans.filter(
    (span) => !spans.some((other) => lengthOf(other) > lengthOf(span) && other.start < span.end && span.start < other.end),
  );
  const exact = outermost.filter(({ id }) => foldName(name).includes(foldName(id)));
  const graded = (exact.length === 0 || isOverlapFree(outermost) ? outermost : exact).flatMap((span) => grade(parts, span));
  const matches = new Map<T, NameMatch<T>>();
  for (const { find, id, doubt } of graded.sort((a, b) => lengthOf(b) - lengthOf(a))) {
    if (matches.has(find)) continue;
    matches.set(find, { find, id, doubt: hasMoreNumbers(parts, graded) ? 'more-in-name' : doubt });
  }
  return [...matches.values()];
}

/** Whether a name has a number that may be a find's: neither part of a find number that was read, nor of a camera, date or size. */
export function hasOpenNumber(name: string): boolean {
  const plain = withoutAccents(name);
  const tokens = tokensOf(plain);
  return hasMoreNumbers({ plain, tokens, others: numbersOfOthers(plain, tokens) }, []);
}

function lengthOf({ start, end }: { readonly start: number; readonly end: number }): number {
  return end - start;
}

/** Whether every id stands at a place of its own. */
function isOverlapFree(spans: readonly { readonly start: number }[]): boolean {
  return new Set(spans.map(({ start }) => start)).size === spans.length;
}

/** An id of one token is soon met by chance: it counts at the beginning, or behind one word. */
function mayStandAlone(tokens: readonly Token[], start: number): boolean {
  const before = tokens.slice(0, start);
  return before.every(({ text }) => !isNumber(text)) && before.length <= 1;
}

function isNumber(text: string): boolean {
  return /^\p{Nd}/u.test(text);
}

/** With what speaks against it; empty where it is no find number at all. */
function grade<T>(name: Name, span: Span<T>): Graded<T>[] {
  const [first, last] = [name.tokens[span.start], name.tokens[span.end - 1]];
  if (first === undefined || last === undefined) return [];
  const [from, to] = [first.start, last.end];
  const crossing = name.others.filter(
    (other) => other.start < to && from < other.end && !(from <= other.start && other.end <= to),
  );
  if (crossing.some(({ kind }) => kind !== 'size')) return [];
  const phrase = readAsPhrase(name, span);
  if (phrase === 'phrase') return [];
  const isOthers = crossing.length > 0 || name.others.some(({ start, end }) => start === from && end === to);
  const isBare = !(/\p{L}/u.test(span.plain) && /\p{Nd}/u.test(span.plain));
  const isUnlike = isOthers || isBare || phrase === 'perhaps' || !isJoined(name, span);
  const doubt = isWrittenOnto(name, span) ? 'more-in-name' : isUnlike ? 'like-name' : undefined;
  return [{ ...span, doubt }];
}

/** `K-12b`, `2K-12`: letters or digits follow, or come before, without anything between. */
function isWrittenOnto({ tokens }: Name, { id, start, end }: Span<unknown>): boolean {
  const [before, first, last, after] = [tokens[start - 1], tokens[start], tokens[end - 1], tokens[end]];
  const isIdent = IDENT.test(id) && after?.text === 'f';
  return before?.end === first?.start || (after !== undefined && after.start === last?.end && !isIdent);
}

/** Whether the parts of the number are joined as in the id, or by one sign that is no blank. */
function isJoined(name: Name, span: Span<unknown>): boolean {
  return span.tokens.slice(1).every((_token, index) => {
    const between = gapBefore(name.plain, name.tokens, span.start + index + 1);
    const inId = gapBefore(span.plain, span.tokens, index + 1);
    return between === inId || /^[-_.~+\u2010-\u2015]?$/.test(between) || (inId === '/' && between === ',');
  });
}

function gapBefore(plain: string, tokens: readonly Token[], at: number): string {
  return plain.slice(tokens[at - 1]?.end ?? 0, tokens[at]?.start ?? plain.length);
}

/**
 * Whether the letters of the number are a word before a number: `profil v 2 vrstvě` does not say `V-02`, and `k-2-detail` may say `K-2`.
 * With a leading zero, without anything between, or in capitals among small letters it is written as numbers of finds are.
 */
function readAsPhrase(name: Name, span: Span<unknown>): 'phrase' | 'perhaps' | 'no' {
  const [word, number] = [name.tokens[span.start], name.tokens[span.start + 1]];
  if (word === undefined || number === undefined || !WORDS_BEFORE_NUMBERS.has(word.text)) return 'no';
  const between = name.plain.slice(word.end, number.start);
  if (!/^[\s_-]+$/.test(between) || !isNumber(number.text) || name.plain[number.start] === '0') return 'no';
  const lastEnd = name.tokens[span.end - 1]?.end ?? 0;
  const around = withoutOthers(name, word.start, lastEnd);
  const isBlank = /\s/.test(between);
  const isCapital = /^\p{Lu}/u.test(name.plain.slice(word.start));
  if (isCapital && !isBlank && (/\p{Ll}/u.test(around) || !/\p{L}/u.test(around))) return 'no';
  const isWordAt = (at: number, gapAt: number): boolean =>
    name.tokens[at] !== undefined && !isNumber(name.tokens[at].text) && gapBefore(name.plain, name.tokens, gapAt) === between;
  const [before, after] = [isWordAt(span.start - 1, span.start), isWordAt(span.end, span.end)];
  return (isBlank ? before || after : before && after) ? 'phrase' : 'perhaps';
}

/** The name without one part of it, and without the names that cameras give. */
function withoutOthers({ plain, others }: Name, from: number, to: number): string {
  const isOutside = (at: number): boolean => (at < from || at >= to) && !others.some(({ start, end }) => start <= at && at < end);
  return plain.replace(/./gsu, (sign, at: number) => (isOutside(at) ? sign : ' '));
}

function hasMoreNumbers({ tokens, others }: Name, spans: readonly Span<unknown>[]): boolean {
  return tokens.some(({ text, start, end }, at) => {
    if (!isNumber(text) || others.some((other) => other.start <= start && end <= other.end)) return false;
    return !spans.some((span) => (span.start <= at && at < span.end) || isFileOfIdent(tokens, span, at));
  });
}

/** `C202400101N00012F01`: the service numbers the files of a record. */
function isFileOfIdent(tokens: readonly Token[], { id, end }: Span<unknown>, at: number): boolean {
  return IDENT.test(id) && at === end + 1 && tokens[end]?.text === 'f';
}
