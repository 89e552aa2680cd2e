import { foldName } from './names.ts';

/** A word, or a number without its leading zeros, as it stands in a name. */
type Token = { readonly text: string /** Nothing stands between it and the token before. */; readonly isAttached: boolean };

type NamedFind<T> = { readonly find: T; readonly ids: readonly string[] };

export type NameMatch<T> = {
  readonly find: T;
  /** The id that was read, as it is written in the outbox. */
  readonly id: string;
  /** It may be another one: something is written onto it (`K-12b`), or it is a lone number among others. */
  readonly isLoose: boolean;
};

export type NameIndex<T> = ReadonlyMap<
  string,
  readonly { readonly find: T; readonly id: string; readonly tokens: readonly Token[] }[]
>;

/** What cameras, telephones and messengers begin their own names with: the number behind it counts pictures, not finds. */
const OF_CAMERAS: readonly string[] = [
  ...[
    'img',
    'mvimg',
    'mg',
    'image',
    'images',
    'dsc',
    'dscn',
    'dscf',
    'sam',
    'pxl',
    'pic',
    'pict',
    'photo',
    'foto',
    'dji',
    'gopr',
    'wp',
  ],
  ...['screenshot', 'snimek', 'scan', 'burst'],
];

/** An ident of the service, whose own file names go on with `F01`. */
const IDENT = /-N\d+$/;

/** To look finds up by the first token of their ids. */
export function indexNames<T>(finds: readonly NamedFind<T>[]): NameIndex<T> {
  const index = new Map<string, { find: T; id: string; tokens: readonly Token[] }[]>();
  for (const { find, ids } of finds) {
    for (const id of ids) {
      const tokens = tokensOf(id);
      const first = tokens[0]?.text;
      if (first === undefined) continue;
      const before = index.get(first);
      if (before === undefined) index.set(first, [{ find, id, tokens }]);
      else before.push({ find, id, tokens });
    }
  }
  return index;
}

/**
 * The finds that a file's or a folder's name says, the longest id first; several where it says several, or where ids differ in
 * nothing but their writing. Case, accents, separators and leading zeros do not matter; a number counts only as a whole, so that
 * `K-12` never says `K-1`.
 * @param name without its extension
 */
export function findsInName<T>(name: string, index: NameIndex<T>): NameMatch<T>[] {
  const tokens = tokensOf(name);
  const spans = tokens.flatMap((token, start) =>
    (index.get(token.text) ?? [])
      .filter((each) => each.tokens.every(({ text }, offset) => tokens[start + offset]?.text === text))
      .filter((each) => each.tokens.length > 1 || mayStandAlone(tokens, start))
      .map((each) => ({ ...each, start, end: start + each.tokens.length })),
  );
  const outermost = spans.filter(
    (span) => !spans.some((other) => lengthOf(other) > lengthOf(span) && other.start < span.end && span.start < other.end),
  );
  const exact = outermost.filter(({ id }) => foldName(name).includes(foldName(id)));
  const kept = exact.length === 0 || isOverlapFree(outermost) ? outermost : exact;
  const matches = new Map<T, NameMatch<T>>();
  for (const { find, id, start, end } of kept.sort((a, b) => lengthOf(b) - lengthOf(a))) {
    if (matches.has(find)) continue;
    const isIdent = IDENT.test(id) && tokens[end]?.text === 'f';
    const isWritten = tokens[start]?.isAttached === true || (tokens[end]?.isAttached === true && !isIdent);
    const isLoose = isWritten || (end - start === 1 && (start > 0 || numbersFrom(tokens, end) > 1));
    matches.set(find, { find, id, isLoose });
  }
  return [...matches.values()];
}

type Span = { readonly start: number; readonly end: number };

function lengthOf({ start, end }: Span): number {
  return end - start;
}

/** Whether every id stands at a place of its own. */
function isOverlapFree(spans: readonly Span[]): boolean {
  return new Set(spans.map(({ start }) => start)).size === spans.length;
}

/** An id of one token is soon met by chance: it counts at the beginning only, and never behind the name of a camera. */
function mayStandAlone(tokens: readonly Token[], start: number): boolean {
  const before = tokens.slice(0, start);
  return before.every(({ text }) => /^\p{L}/u.test(text) && !OF_CAMERAS.includes(text)) && before.length <= 1;
}

/** A day and the like go on in numbers. */
function numbersFrom(tokens: readonly Token[], from: number): number {
  return tokens.slice(from).filter(({ text }) => /^\p{Nd}/u.test(text)).length;
}

/** Runs of letters, and runs of digits. */
function tokensOf(name: string): Token[] {
  const folded = name
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();
  let end = -1;
  return [...folded.matchAll(/\p{L}+|\p{Nd}+/gu)].map((match) => {
    const isAttached = match.index === end;
    end = match.index + match[0].length;
    return { text: match[0].replace(/^0+(?=\d)/, ''), isAttached };
  });
}
