import { formatPlainNumber, formatSpreadsheetNumber } from '../text/characters.ts';
import { type DateToken, type DayParts, parseLanguage, showDatePart } from './date-part.ts';

/** Display of a number by a number format of a workbook. */
export type CellFormat = {
  /** The format shows years, months or days. */
  readonly isDate: boolean;
  /** The format shows hours, minutes or seconds. */
  readonly isTime: boolean;
  /** The format shows day, month and year, so the text means one day. */
  readonly isWholeDay: boolean;
  /**
   * Returns the displayed text; undefined for a format of another calendar. Digits are not grouped
   * and the decimal separator is a point: both are settings of the computer, not of the workbook.
   */
  show(value: number): string | undefined;
};

type Token =
  | DateToken
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'digit'; readonly text: '0' | '#' | '?' }
  | { readonly kind: 'point' | 'comma' | 'percent' | 'slash' | 'general' | 'text' }
  | { readonly kind: 'exponent'; readonly plus: boolean };

type Section = {
  readonly tokens: readonly Token[];
  readonly condition?: (value: number) => boolean;
  readonly locale: string;
  /** The format has letters of an unsupported calendar. */
  readonly isStrange: boolean;
};

/** Offset of serial numbers; those of old Macs are converted before. */
const DAYS_BEFORE_1970 = 25_569;
const DAY_MS = 86_400_000;

/** Parses a number format of XLSX; its first section decides if values are dates or times. */
export function parseNumberFormat(code: string): CellFormat {
  const sections = splitSections(code === '' ? 'General' : code).map(parseSection);
  const [first] = sections;
  const dateTokens = (first?.tokens ?? []).filter(isOfDate);
  const has = (unit: DateToken['unit'], most = Number.POSITIVE_INFINITY): boolean =>
    dateTokens.some(
      (token) => token.kind === 'date' && token.unit === unit && token.length <= most,
    );
  const isDate = has('year') || has('month') || has('day');
  return {
    isDate,
    isTime: dateTokens.some(
      ({ unit }) => unit === 'hour' || unit === 'minute' || unit === 'second',
    ),
    isWholeDay: has('year') && has('month', 4) && has('day', 2),
    show(value) {
      const section = chooseSection(sections, value);
      if (section === undefined || section.isStrange)
        return section === undefined ? formatPlainNumber(value) : undefined;
      const isDated = section.tokens.some(isOfDate);
      // A section for negative numbers includes their sign.
      const isSigned = value < 0 && !(sections.length > 1 && section === sections[1]);
      const text = isDated ? showDate(section, value) : showNumber(section.tokens, Math.abs(value));
      const shown = text?.replace(/\s+/g, ' ').trim();
      return shown !== undefined && isSigned && !isDated && /[1-9]/.test(shown)
        ? `-${shown}`
        : shown;
    },
  };
}

function isOfDate(token: Token): token is DateToken {
  return token.kind === 'date' || token.kind === 'elapsed';
}

/** Splits a format at `;` outside quotes and brackets. */
function splitSections(code: string): string[] {
  const sections = [''];
  for (const [piece] of code.matchAll(/"[^"]*"?|\\.|\[[^\]]*\]?|[\s\S]/g)) {
    if (piece === ';') sections.push('');
    else sections[sections.length - 1] += piece;
  }
  return sections;
}

const PIECES =
  /"(?<quoted>[^"]*)"?|\\(?<escaped>.)|_(?<blank>.)|\*.|\[(?<bracket>[^\]]*)\]?|(?<general>general)|(?<half>am\/pm|a\/p)|(?<letters>y+|m+|d+|h+|s+|e+(?![+-])|r+|a{3,5}|g+|b+\d?)|(?<exponent>e[+-])|(?<fraction>(?<=s\]?)[.,]0+)|(?<sign>[0#?.,%/@])|(?<other>[\s\S])/gi;

function parseSection(code: string): Section {
  const tokens: Token[] = [];
  let condition: Section['condition'];
  let locale: string = '';
  let isStrange: boolean = false;
  for (const { groups = {} } of code.matchAll(PIECES)) {
    const {
      quoted,
      escaped,
      blank,
      bracket,
      general,
      half,
      letters,
      exponent,
      fraction,
      sign,
      other,
    } = groups;
    if (bracket !== undefined) {
      const read = parseBracket(bracket);
      condition ??= read.condition;
      if (read.locale !== undefined) locale = read.locale;
      if (read.token !== undefined) tokens.push(read.token);
    } else if (general !== undefined) tokens.push({ kind: 'general' });
    else if (half !== undefined) tokens.push({ kind: 'date', unit: 'half', length: half.length });
    else if (letters !== undefined) {
      const token = parseDateToken(letters.toLowerCase());
      if (token === undefined) isStrange ||= !/^b\d$/i.test(letters);
      else tokens.push(token);
    } else if (exponent !== undefined)
      tokens.push({ kind: 'exponent', plus: exponent.endsWith('+') });
    else if (fraction !== undefined)
      tokens.push({ kind: 'date', unit: 'fraction', length: fraction.length - 1 });
    else if (sign !== undefined) tokens.push(signToken(sign));
    else
      tokens.push({
        kind: 'literal',
        text: quoted ?? escaped ?? (blank === undefined ? (other ?? '') : ' '),
      });
  }
  return {
    tokens: withMinutes(asLiterals(tokens)),
    ...(condition && { condition }),
    locale,
    isStrange,
  };
}

function parseBracket(text: string): {
  condition?: (value: number) => boolean;
  locale?: string;
  token?: Token;
} {
  const [, operator, number = ''] = /^(<=|>=|<>|<|>|=)\s*(-?[\d.]+)$/.exec(text) ?? [];
  if (operator !== undefined)
    return { condition: CONDITIONS[operator]?.(Number(number)) ?? (() => true) };
  const [elapsed] = /^(?:h+|m+|s+)$/i.exec(text) ?? [];
  if (elapsed !== undefined) {
    const unit = { h: 'hour', m: 'minute', s: 'second' } as const;
    return {
      token: {
        kind: 'elapsed',
        unit: unit[elapsed.charAt(0).toLowerCase() as 'h' | 'm' | 's'],
        length: elapsed.length,
      },
    };
  }
  const [, currency = '', locale = ''] = /^\$([^-]*)-?(.*)$/s.exec(text) ?? [];
  return {
    ...(locale !== '' && { locale }),
    ...(currency !== '' && { token: { kind: 'literal', text: currency } }),
  };
}

const CONDITIONS: Readonly<Record<string, (limit: number) => (value: number) => boolean>> = {
  '<': (limit) => (value) => value < limit,
  '>': (limit) => (value) => value > limit,
  '=': (limit) => (value) => value === limit,
  '<=': (limit) => (value) => value <= limit,
  '>=': (limit) => (value) => value >= limit,
  '<>': (limit) => (value) => value !== limit,
};

function parseDateToken(letters: string): DateToken | undefined {
  const unit = ({ y: 'year', e: 'year', m: 'month', d: 'day', h: 'hour', s: 'second' } as const)[
    letters.charAt(0)
  ];
  if (/^a{3,5}$/.test(letters))
    return { kind: 'date', unit: 'day', length: letters.length === 3 ? 3 : 4 };
  if (unit === undefined) return undefined;
  return { kind: 'date', unit, length: letters.startsWith('e') ? 4 : letters.length };
}

function signToken(sign: string): Token {
  if (sign === '0' || sign === '#' || sign === '?') return { kind: 'digit', text: sign };
  const kinds = { '.': 'point', ',': 'comma', '%': 'percent', '/': 'slash', '@': 'text' } as const;
  return { kind: kinds[sign as keyof typeof kinds] };
}

/** Beside date letters, points, commas and slashes are separators. */
function asLiterals(tokens: readonly Token[]): readonly Token[] {
  if (!tokens.some(isOfDate)) return tokens;
  const signs = { point: '.', comma: ',', slash: '/', percent: '%' } as const;
  return tokens.map((token) =>
    token.kind in signs
      ? { kind: 'literal', text: signs[token.kind as keyof typeof signs] }
      : token,
  );
}

/** An `m` behind hours or before seconds means minutes. */
function withMinutes(tokens: readonly Token[]): readonly Token[] {
  const dated = tokens.filter(isOfDate);
  return tokens.map((token) => {
    if (token.kind !== 'date' || token.unit !== 'month' || token.length > 2) return token;
    const at = dated.indexOf(token);
    return dated[at - 1]?.unit === 'hour' || dated[at + 1]?.unit === 'second'
      ? { ...token, unit: 'minute' }
      : token;
  });
}

function chooseSection(sections: readonly Section[], value: number): Section | undefined {
  const numeric = sections
    .filter(({ tokens }) => !tokens.some(({ kind }) => kind === 'text'))
    .slice(0, 3);
  if (numeric.some(({ condition }) => condition !== undefined)) {
    return (
      numeric.find(({ condition }) => condition?.(value) === true) ??
      numeric.find(({ condition }) => condition === undefined)
    );
  }
  const [positive, negative = positive, zero = positive] = numeric;
  if (value < 0) return negative;
  return value === 0 ? zero : positive;
}

function showDate({ tokens, locale }: Section, value: number): string | undefined {
  const moment = new Date(Math.round((value - DAYS_BEFORE_1970) * DAY_MS));
  if (Number.isNaN(moment.getTime())) return undefined;
  const has12 = tokens.some((token) => isOfDate(token) && token.unit === 'half');
  const parts: DayParts = { moment, days: value, has12, language: parseLanguage(locale) };
  return tokens
    .map((token) => {
      if (token.kind === 'literal') return token.text;
      return isOfDate(token) ? showDatePart(token, parts) : '';
    })
    .join('');
}

function showNumber(tokens: readonly Token[], value: number): string {
  if (tokens.some(({ kind }) => kind === 'slash')) return showFraction(tokens, value);
  const exponent = tokens.findIndex(({ kind }) => kind === 'exponent');
  const percents = tokens.filter(({ kind }) => kind === 'percent').length;
  const scaled = value * 100 ** percents * 0.001 ** countScalingCommas(tokens);
  if (exponent !== -1) return showExponent(tokens, exponent, scaled);
  return fill(tokens, countDecimals(tokens), scaled, value);
}

/** Each comma behind the last integer digit divides by a thousand. */
function countScalingCommas(tokens: readonly Token[]): number {
  const point = tokens.findIndex(({ kind }) => kind === 'point');
  const whole = point === -1 ? tokens : tokens.slice(0, point);
  const last = whole.findLastIndex(({ kind }) => kind === 'digit');
  return last === -1 ? 0 : whole.slice(last).filter(({ kind }) => kind === 'comma').length;
}

function countDecimals(tokens: readonly Token[]): number {
  const point = tokens.findIndex(({ kind }) => kind === 'point');
  return point === -1 ? 0 : tokens.slice(point).filter(({ kind }) => kind === 'digit').length;
}

/**
 * Fills the digit placeholders from the point outwards; literals between them stay: `0000"/"00`.
 */
function fill(tokens: readonly Token[], decimals: number, scaled: number, value: number): string {
  const [digits, fraction = ''] = roundDecimals(formatSpreadsheetNumber(scaled), decimals).split(
    '.',
  ) as [string, string?];
  const point = tokens.findIndex(({ kind }) => kind === 'point');
  const places = tokens.flatMap(({ kind }, index) =>
    kind === 'digit' && (point === -1 || index < point) ? [index] : [],
  );
  const whole = digits === '0' ? '' : digits;
  const lastDecimal = fraction.replace(/(?<!0)0+$/, '').length;
  let decimal = 0;
  return tokens
    .map((token, index) => {
      if (token.kind === 'literal') return token.text;
      if (token.kind === 'general') return formatSpreadsheetNumber(value);
      if (token.kind === 'percent') return '%';
      if (token.kind === 'point') return '.';
      if (token.kind !== 'digit') return '';
      if (point !== -1 && index > point) {
        decimal += 1;
        return decimal <= lastDecimal || token.text === '0' ? (fraction[decimal - 1] ?? '') : '';
      }
      const fromEnd = places.length - places.indexOf(index);
      const digit =
        index === places[0]
          ? whole.slice(0, Math.max(0, whole.length - fromEnd + 1))
          : (whole.at(-fromEnd) ?? '');
      return digit === '' && token.text === '0' ? '0' : digit;
    })
    .join('');
}

/** Rounds half away from zero in decimal digits, so that 1.005 gives 1.01 as in the cell. */
function roundDecimals(text: string, decimals: number): string {
  const [whole = '0', fraction = ''] = text.split('.');
  if (fraction.length <= decimals)
    return decimals === 0 ? whole : `${whole}.${fraction.padEnd(decimals, '0')}`;
  const roundedDigits =
    BigInt(whole + fraction.slice(0, decimals)) +
    (Number(fraction[decimals] ?? '0') >= 5 ? 1n : 0n);
  const digits = roundedDigits.toString().padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

function showExponent(tokens: readonly Token[], at: number, value: number): string {
  const mantissa = tokens.slice(0, at);
  const sign = tokens[at];
  const power = value === 0 ? 0 : Math.floor(Math.log10(value));
  const number = fill(
    mantissa,
    countDecimals(mantissa),
    Number((value / 10 ** power).toPrecision(15)),
    value,
  );
  const least = tokens
    .slice(at)
    .filter((token) => token.kind === 'digit' && token.text === '0').length;
  const plus = sign?.kind === 'exponent' && sign.plus ? '+' : '';
  return `${number}E${power < 0 ? '-' : plus}${String(Math.abs(power)).padStart(least, '0')}`;
}

/**
 * Formats a fraction: `# ?/?` is the nearest one with so many digits in the denominator; `# ?/8`
 * has eighths.
 */
function showFraction(tokens: readonly Token[], value: number): string {
  const slash = tokens.findIndex(({ kind }) => kind === 'slash');
  const below = tokens.slice(slash + 1);
  const fixed = below
    .map((token) => (token.kind === 'literal' ? token.text : ''))
    .join('')
    .trim();
  const most = 10 ** Math.max(1, below.filter(({ kind }) => kind === 'digit').length) - 1;
  const above = tokens.slice(0, slash);
  const hasWhole = /(?<![0#?])[0#?]+\s+[0#?]+$/.test(
    above
      .map((token) => ('text' in token ? token.text : ''))
      .join('')
      .trim(),
  );
  const whole = hasWhole ? Math.floor(value) : 0;
  const [top, bottom] = /^\d+$/.test(fixed)
    ? [Math.round((value - whole) * Number(fixed)), Number(fixed)]
    : findNearestFraction(value - whole, most);
  if (hasWhole && top === bottom) return String(whole + 1);
  if (top === 0) return String(whole);
  return hasWhole && whole > 0 ? `${whole} ${top}/${bottom}` : `${top}/${bottom}`;
}

function findNearestFraction(value: number, most: number): readonly [number, number] {
  let best: readonly [number, number] = [Math.round(value), 1];
  for (let bottom = 2; bottom <= most; bottom++) {
    const top = Math.round(value * bottom);
    if (Math.abs(top / bottom - value) < Math.abs(best[0] / best[1] - value) - 1e-12)
      best = [top, bottom];
  }
  return best;
}
