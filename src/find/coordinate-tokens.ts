/** What people write for a position, cut into its parts: numbers, marks of degrees, hemispheres, what stands between two coordinates. */
export type Token =
  | { readonly kind: 'number'; readonly text: string; readonly isNegative: boolean }
  | { readonly kind: 'degrees' | 'minutes' | 'seconds' | 'between' }
  | { readonly kind: 'hemisphere'; readonly letter: Hemisphere };

export type Hemisphere = 'N' | 'S' | 'E' | 'W';

/** In the order in which they are tried. Czech writes `s. š.` for the north and `v. d.` for the east. */
const PATTERNS: readonly (readonly [RegExp, (text: string) => Token | undefined])[] = [
  [/[\s]+/y, () => undefined],
  [/s\.?\s*š\.?/iy, () => hemisphere('N')],
  [/j\.?\s*š\.?/iy, () => hemisphere('S')],
  [/v\.?\s*d\.?/iy, () => hemisphere('E')],
  [/z\.?\s*d\.?/iy, () => hemisphere('W')],
  // Names of axes say nothing that the numbers do not: x and y change places from one system to the next.
  [/(?:gps|loc|wgs\s?84|epsg:?\s?(?:4326|5514)|[xy])\s*[:=]?(?=[\s\d+\-−NSEW])/iy, () => undefined],
  [/lat(?:itude)?\s*[:=]?(?=[\s\d+\-−])/iy, () => hemisphere('N')],
  [/lon(?:g|gitude)?\s*[:=]?(?=[\s\d+\-−])/iy, () => hemisphere('E')],
  [/[NSEW](?![a-zá-ž])/iy, (text) => hemisphere(text.toUpperCase() as Hemisphere)],
  [/[°º˚*]/y, () => ({ kind: 'degrees' })],
  [/''|″|”|“|"|′′|’’/y, () => ({ kind: 'seconds' })],
  [/['′’‘´`]/y, () => ({ kind: 'minutes' })],
  [/[;/|,]/y, () => ({ kind: 'between' })],
];

const NUMBER = /(?:([+\-−–])\s?)?(\d+)((?:[.,]\d+)?)/y;
/** `743 011,72`: blanks between thousands, as in tables. */
const GROUPED = /([+\-−–]?)(\d{1,3}(?:[ \u00a0\u202f]\d{3})+)((?:[.,]\d+)?)(?![\d])/y;

/** Undefined where something stands in the text that belongs to no position. */
export function tokensOf(text: string): readonly Token[] | undefined {
  const plain = text.trim().replace(/[()[\]]/g, ' ');
  // Where points stand in numbers, commas stand between them; else a comma without a blank behind it is a decimal one.
  const decimals = /\d\.\d|^[+-]?\d+,[+-]?\d+$/.test(plain) ? '.' : '.,';
  const tokens: Token[] = [];
  for (let at = 0; at < plain.length; ) {
    const read = numberAt(plain, at, decimals) ?? markAt(plain, at);
    if (read === undefined) return undefined;
    if (read.token !== undefined) tokens.push(read.token);
    at = read.end;
  }
  return tokens;
}

type Read = { readonly token: Token | undefined; readonly end: number };

function numberAt(text: string, at: number, decimals: string): Read | undefined {
  for (const pattern of [GROUPED, NUMBER]) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) continue;
    const [whole, sign = '', digits = '', tail = ''] = match;
    const isGrouped = pattern === GROUPED;
    // `50 004 …` is no number of thousands; S-JTSK is, and it has six digits at least.
    if (isGrouped && digits.replace(/\D/g, '').length < 6) continue;
    const fraction = decimals.includes(tail.charAt(0)) ? tail : '';
    const number = `${digits.replace(/\D/g, '')}${fraction.replace(',', '.')}`;
    const token: Token = { kind: 'number', text: number, isNegative: sign !== '' && sign !== '+' };
    return { token, end: at + whole.length - (tail.length - fraction.length) };
  }
  return undefined;
}

function markAt(text: string, at: number): Read | undefined {
  for (const [pattern, make] of PATTERNS) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) return { token: make(match[0]), end: at + match[0].length };
  }
  return undefined;
}

function hemisphere(letter: Hemisphere): Token {
  return { kind: 'hemisphere', letter };
}
