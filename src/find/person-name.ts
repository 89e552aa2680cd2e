import { foldName, nameWords } from '../text/names.ts';
import { GIVEN_NAMES } from './given-names.ts';
import { ADDRESSES, LINKS_OF_TITLES, ONLY_WITH_DOT, PARTICLES, TITLES, UNKNOWN } from './name-words.ts';

export const NAME_ORDERS = ['surname-first', 'given-first'] as const;
export type NameOrder = (typeof NAME_ORDERS)[number];

export type PersonName = { readonly surname: string; readonly given: string };

/** A person's name as written, without titles and forms of address. */
export type WrittenName = {
  /** Parts between commas; one without a comma. */
  readonly parts: readonly string[];
  /** `st.` or `ml.` (senior, junior), which distinguishes people of the same name. */
  readonly suffix: string | undefined;
  /** Surname at birth. */
  readonly bornAs: string | undefined;
};

const SUFFIXES: Readonly<Record<string, string>> = {
  ...{ st: 'st.', starsi: 'st.', sen: 'st.', senior: 'st.', sr: 'st.' },
  ...{ ml: 'ml.', mladsi: 'ml.', jun: 'ml.', junior: 'ml.', jr: 'ml.' },
};
const BORN = /(?<![\s,(])[\s,(]+(?:roz(?:en[áaýy])?(?:\.\s*|\s+)|née\s+)(\p{L}[\p{L}'’-]*)\)?(?=[\s,]|$)/iu;

/** A dot ends a word, so a blank is inserted behind it except within one title: `Ph.D.`, `Ing.arch.`, `P.J.Novák`. */
function withBlanks(text: string): string {
  return text
    .replace(/\b(Ph|Th)\.?\s?D\b\.?/gi, '$1D.')
    .replace(/\bLL\.\s?M\b\.?/gi, 'LLM.')
    .replace(/\b(Dr|D|C|M)\.\s?Sc\b\.?/g, '$1Sc.')
    .replace(/\bakad\.\s*(?:mal|soch|arch)\b\.?/gi, 'akad.')
    .replace(/\.(?=\p{L})/gu, '. ')
    .replace(/\((\p{L}+\.?)\)/gu, (all, word: string) => (isSuffix(word) ? ` ${word} ` : all))
    .replace(/\s+/g, ' ')
    .trim();
}

/** Parses a name; it drops everything beside the name except what distinguishes people of the same name. */
export function parseName(text: string): WrittenName {
  const [, bornAs] = BORN.exec(text) ?? [];
  const spaced = withBlanks(bornAs === undefined ? text : text.replace(BORN, ' '));
  let suffix: string | undefined;
  const takeSuffix = (word: string): boolean => {
    const found = SUFFIXES[foldName(word)];
    suffix ??= found;
    return found !== undefined;
  };
  const parts = spaced.split(',').map((part) => withoutTitles(part.trim().split(' '), takeSuffix));
  // A part that was only a title is dropped; a part that was empty before stays, to be reported.
  const kept = parts.filter((part, index) => part !== '' || spaced.split(',')[index]?.trim() === '');
  return { parts: kept, suffix, bornAs };
}

function withoutTitles(all: readonly string[], takeSuffix: (word: string) => boolean): string {
  const left = [...all];
  let isBehindTitle = false;
  while (left.length > 0) {
    const [first = ''] = left;
    const isTitled: boolean = isTitle(first) || (isBehindTitle && LINKS_OF_TITLES.has(foldName(first)));
    if (!isTitled && !(left.length > 1 && isAddress(first)) && !(isSuffix(first) && takeSuffix(first))) break;
    isBehindTitle = isTitled;
    left.shift();
  }
  while (left.length > 0) {
    const last = left.at(-1) ?? '';
    const before = left.at(-2);
    const isLink = LINKS_OF_TITLES.has(foldName(last)) && before !== undefined && isTitle(before);
    if (!isTitle(last) && !isLink && !(isSuffix(last) && takeSuffix(last))) break;
    left.pop();
  }
  return left.join(' ');
}

function isTitle(word: string): boolean {
  const folded = foldName(word);
  return TITLES.has(folded) && (word.endsWith('.') || !ONLY_WITH_DOT.has(folded) || /^(?:DiS|MA)$/.test(word));
}

/** A capital `P.` may be the initial of a given name. */
function isAddress(word: string): boolean {
  const folded = foldName(word);
  return (
    ADDRESSES.has(folded) &&
    (word.endsWith('.') || !ONLY_WITH_DOT.has(folded) || word.toLowerCase() === 'pí') &&
    !/^P\.?$/.test(word)
  );
}

function isSuffix(word: string): boolean {
  return Object.hasOwn(SUFFIXES, foldName(word)) && !/^(?:St|Star|Mlad)/.test(word);
}

/** Tells if a text names no person: `neznámý nálezce`, `?`, `n/a`. */
export function isUnknownPerson(text: string): boolean {
  const said = nameWords(text);
  return (
    (said.every((word) => UNKNOWN.has(word)) && !text.includes(',')) || /^(?:n\/a|bez (?:jm[eé]na|[uú]daj[eů]))$/i.test(text)
  );
}

/** Characters that separate people, or occur in no name. */
const NO_NAME = /[;/&+\d@!?:=<>*_"„“”()[\]]/u;
const MAX_WORDS = 6;

/** Tells if words can be the name of one person, not a list of people, a family or a note. */
export function isOneName(name: string): boolean {
  const all = name.split(/[\s,]+/).filter((word) => word !== '');
  if (all.length < 2 || all.length > MAX_WORDS || NO_NAME.test(name)) return false;
  if (all.some((word) => /^(?:a|and|et|und|s|se|nebo|kol\.?|al\.)$/.test(word))) return false;
  const proper = all.filter((word) => !PARTICLES.has(foldName(word)));
  const lower = proper.filter((word) => /^\p{Ll}/u.test(word));
  return lower.length === 0 || lower.length === proper.length;
}

/** Returns both orders in which two to four words can be a name; undefined for other counts. */
export function readings(name: string): Readonly<Record<NameOrder, PersonName>> | undefined {
  const all = name.split(/\s+/);
  if (all.length > 4 || !isOneName(name)) return undefined;
  return {
    'surname-first': { surname: all[0] ?? '', given: all.slice(1).join(' ') },
    'given-first': { surname: all.at(-1) ?? '', given: all.slice(0, -1).join(' ') },
  };
}

/** Splits a name without a comma; known given names at one end are the given name. Undefined where none shows the order. */
export function splitName(name: string): PersonName | undefined {
  const all = name.split(/\s+/);
  const given = endsOf(all, isGiven);
  const feminine = endsOf(all, isFeminineSurname);
  const isCertain = ([first, last]: Ends): boolean => first > 0 !== last > 0;
  const by = isCertain(given) ? given : isCertain(feminine) ? ([feminine[1], feminine[0]] as const) : undefined;
  if (by === undefined) return undefined;
  const count = by === given ? given[0] + given[1] : all.length - feminine[0] - feminine[1];
  const isGivenFirst = by[0] > 0;
  const [front, back] = isGivenFirst
    ? [all.slice(0, count), all.slice(count)]
    : [all.slice(0, all.length - count), all.slice(all.length - count)];
  const [givenWords, surnameWords] = isGivenFirst ? [front, back] : [back, front];
  if (surnameWords.some(isGiven) || givenWords.some(isFeminineSurname)) return undefined;
  return { surname: surnameWords.join(' '), given: givenWords.join(' ') };
}

type Ends = readonly [first: number, last: number];

/** Counts the words of a kind at the beginning and at the end; none at either end where all words are of that kind. */
function endsOf(all: readonly string[], isOfKind: (word: string) => boolean): Ends {
  const first = all.findIndex((word) => !isOfKind(word));
  if (first === -1) return [0, 0];
  return [first, all.length - 1 - all.findLastIndex((word) => !isOfKind(word))];
}

/** Returns the order of a name; undefined where the words do not show it. */
export function orderOf(name: string): NameOrder | undefined {
  const split = splitName(name);
  if (split === undefined) return undefined;
  return name.startsWith(split.surname) ? 'surname-first' : 'given-first';
}

export function isGiven(word: string): boolean {
  const parts = word.split('-');
  return parts.every((part) => GIVEN_NAMES.has(foldName(part)) || /^(?:\p{Lu}|\p{L}\.)\.?$/u.test(part));
}

export function isFeminineSurname(word: string): boolean {
  return /ov[aá]$/i.test(word.normalize('NFC')) && !isGiven(word);
}
