/** A run of letters in lower case, or of digits without leading zeros, and its position. */
export type NameToken = { readonly text: string; readonly start: number; readonly end: number };

/** A part of a name whose number does not refer to a find. */
export type OtherNumber = {
  readonly kind: 'camera' | 'date' | 'size' | 'copy';
  readonly start: number;
  readonly end: number;
};

export function withoutAccents(name: string): string {
  return name.normalize('NFKD').replace(/\p{Mn}/gu, '');
}

/** @param plain text without accents */
export function nameTokens(plain: string): NameToken[] {
  return [...plain.matchAll(/\p{L}+|\p{Nd}+/gu)].map((match) => ({
    text: match[0].toLowerCase().replace(/^0+(?=\d)/, ''),
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** Prefixes of picture names from cameras, phones, messengers and people: the number behind them counts pictures. */
const OF_PICTURES: ReadonlySet<string> = new Set(
  (
    'img|mvimg|mg|imag|image|images|dsc|dscn|dscf|sam|pxl|pic|pict|picture|photo|foto|snimek|obrazek|obrazovky|scan|dji|gopr|gx|gh|gp|wp|' +
    'vid|mov|cimg|hpim|rimg|burst|screenshot|received|fb|psx|resized|snapchat|signal|viber|whatsapp|telegram'
  ).split('|'),
);

const [YEAR, MONTH, DAY] = [String.raw`(?:19|20)\d\d`, '(?:0?[1-9]|1[0-2])', '(?:0?[1-9]|[12]\\d|3[01])'];
const TIME = String.raw`(?:(?: at |[-_ .T]+)(?:[01]\d|2[0-3])[-_.:h]?[0-5]\d(?:[-_.:]?[0-5]\d(?:[-_.]?\d{3})?)?)?`;
const COMPACT_DAY = String.raw`${YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])`;
const UNIT = '(?:mm|cm|dm|km|m|kg|g|ks|px|mpx?|dpi|x|%|°|hod|min|metr\\p{L}*|\\p{L}{4,5}metr\\p{L}*|gram\\p{L}*)';

const PATTERNS: readonly { readonly kind: OtherNumber['kind']; readonly pattern: RegExp }[] = [
  { kind: 'date', pattern: new RegExp(String.raw`(?<!\d)${YEAR}([-_. ])${MONTH}\1${DAY}${TIME}(?!\d)`, 'gi') },
  { kind: 'date', pattern: new RegExp(String.raw`(?<!\d)${COMPACT_DAY}(?:\d{6}|${TIME})(?!\d)`, 'gi') },
  { kind: 'date', pattern: new RegExp(String.raw`(?<!\d)${DAY}([-_. ]) ?${MONTH}\1 ?${YEAR}(?!\d)`, 'g') },
  { kind: 'date', pattern: new RegExp(String.raw`(?<!\d)${DAY}\. ?${MONTH}\.(?: ?\d\d(?!\d)|(?! ?\d))`, 'g') },
  { kind: 'size', pattern: /(?<!\d)\d+ ?[x×] ?\d+(?!\d)/gi },
  { kind: 'size', pattern: new RegExp(String.raw`(?<!\d)\d+(?:[.,]\d+)?[-_ ]?${UNIT}(?!\p{L})`, 'giu') },
  { kind: 'copy', pattern: /\(\d{1,3}\)/g },
  // Design rule for Camera File systems: folders of three digits and five characters, files of four characters and four digits.
  { kind: 'camera', pattern: /^[1-9]\d\d(?:_\d{4}|[a-z_][a-z0-9_]{4})$/gi },
  { kind: 'camera', pattern: /(?<![\p{L}\p{Nd}])(?:[plrsbm]\d{7}|p[abc]\d{6}|wa\d{4}|e\d{4})(?![\p{L}\p{Nd}])/giu },
  {
    kind: 'camera',
    pattern: /(?<![\p{L}\p{Nd}])[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}(?![\p{L}\p{Nd}])/giu,
  },
];

/** @param plain text without accents */
export function numbersOfOthers(plain: string, tokens: readonly NameToken[]): OtherNumber[] {
  const written = PATTERNS.flatMap(({ kind, pattern }) =>
    [...plain.matchAll(pattern)].map(({ index, 0: text }): OtherNumber => ({ kind, start: index, end: index + text.length })),
  );
  return [...written, ...namesOfPictures(tokens)];
}

/** Finds camera names: `IMG_0001`, `IMG_E0017`, `IMG-20240601-WA0017`: the prefix and the numbers behind it. */
function namesOfPictures(tokens: readonly NameToken[]): OtherNumber[] {
  const found: OtherNumber[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const first = tokens[at];
    if (first === undefined || !OF_PICTURES.has(first.text)) continue;
    let [end, digits] = [at + 1, 0];
    for (let token = tokens[end]; token !== undefined && goesOn(tokens, at, end); token = tokens[end]) {
      if (/^\p{Nd}/u.test(token.text)) digits += 1;
      end += 1;
    }
    if (digits > 0) found.push({ kind: 'camera', start: first.start, end: tokens[end - 1]?.end ?? first.end });
    at = end - 1;
  }
  return found;
}

/** Tells if the token at `at` belongs to the picture name that begins at `start`. */
function goesOn(tokens: readonly NameToken[], start: number, at: number): boolean {
  const [token, next] = [tokens[at], tokens[at + 1]];
  if (token === undefined) return false;
  if (/^\p{Nd}/u.test(token.text) || OF_PICTURES.has(token.text)) return true;
  const isBeforeDigits = next?.start === token.end;
  return isBeforeDigits && ((token.text === 'e' && at === start + 1) || (token.text === 'wa' && at > start + 1));
}
