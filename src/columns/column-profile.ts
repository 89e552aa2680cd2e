import { isReadable } from '../base/issue.ts';
import { msgid } from '../base/language.ts';
import { type Message, nmsg } from '../base/message.ts';
import { parseDateCell } from '../find/parse-cell.ts';
import { parseDecimal } from '../place/geometry.ts';
import { parseCoordinate, parsePosition } from '../place/read-position.ts';
import type { Table } from '../tables/table.ts';
import { foldName, isPictureName } from '../text/names.ts';
import { DAY_NUMBER, parseDateForm } from './apply-column-rule.ts';
import { makeColumnKeys } from './columns.ts';

export type ColumnProfile = {
  /** See `makeColumnKeys`. */
  readonly key: string;
  readonly header: string;
  readonly index: number;
  /** Rows with a text. */
  readonly filled: number;
  /**
   * Distinct texts with their number of rows, in the order of the table, up to {@link MAX_VALUES}.
   */
  readonly values: ReadonlyMap<string, number>;
  /** The first distinct texts, by which a person recognises the column. */
  readonly examples: readonly string[];
  /** No two rows have the same text. */
  readonly unique: boolean;
  readonly rowCount: number;
};

/** Further distinct texts do not change the judgement of a column. */
const MAX_VALUES = 3000;
const MAX_EXAMPLES = 3;

/**
 * Reads all rows once, and counts the first {@link MAX_VALUES} distinct values of each column;
 * blank cells do not count.
 */
export function profileColumns(table: Table): ColumnProfile[] {
  const values = table.header.map(() => new Map<string, number>());
  const filled = table.header.map(() => 0);
  const repeated = table.header.map(() => false);
  let rowCount = 0;
  for (const { cells } of table.rows) {
    rowCount += 1;
    for (const [index, counts] of values.entries()) {
      const text = (cells[index] ?? '').trim();
      if (text === '') continue;
      filled[index] = (filled[index] ?? 0) + 1;
      const count = counts.get(text);
      if (count !== undefined) repeated[index] = true;
      if (count !== undefined || counts.size < MAX_VALUES) counts.set(text, (count ?? 0) + 1);
    }
  }
  return makeColumnKeys(table.header).map((key, index) => ({
    key,
    header: table.header[index] ?? '',
    index,
    filled: filled[index] ?? 0,
    values: values[index] ?? new Map(),
    examples: [...(values[index]?.keys() ?? [])].slice(0, MAX_EXAMPLES),
    unique: repeated[index] === false,
    rowCount,
  }));
}

/**
 * Returns the share (0 to 1) of the counted values that fit, weighted by their rows; 0 for an empty
 * column.
 */
export function getShare({ values }: ColumnProfile, fits: (text: string) => boolean): number {
  let fitting = 0;
  let all = 0;
  for (const [text, count] of values) {
    all += count;
    if (fits(text)) fitting += count;
  }
  return all === 0 ? 0 : fitting / all;
}

/** Reports how many values cannot be used without a conversion. */
export function makeUnreadableDoubt(profile: ColumnProfile, share: number): Message | undefined {
  const all = profile.filled;
  const bad = Math.round(all * (1 - share));
  return bad === 0
    ? undefined
    : nmsg(
        msgid`${bad} of ${all} values cannot be read this way; its row will show the error`,
        msgid`${bad} of ${all} values cannot be read this way; their rows will show the errors`,
        bad,
      );
}

/** Date forms of tables, the most frequent first. Those before `yyyy` are read without a rule. */
const FORMS = [
  'yyyy-mm-dd',
  'd.m.yyyy',
  'd.m.yy',
  'd/m/yyyy',
  'm/d/yyyy',
  'd-m-yyyy',
  'yyyy/m/d',
  'yyyy.m.d',
  'yyyymmdd',
] as const;

type DateShape = {
  readonly form: string;
  /** Share of the form among filled rows. */
  readonly share: number;
  /** Share of days and years in any readable form. */
  readonly readable: number;
  /** Day and month cannot be distinguished. */
  readonly ambiguous: boolean;
  /** Share of years without a day. */
  readonly years: number;
};

/** Returns the form that most texts have. */
export function detectDateForm(profile: ColumnProfile): DateShape {
  const years = getShare(profile, isYear);
  const shares = FORMS.map((form) => ({
    form,
    share: getShare(profile, (text) => parseDateForm(text, form) !== undefined),
  }));
  const best = shares.reduce((one, other) => (other.share > one.share ? other : one));
  const rival =
    best.form === 'd/m/yyyy' ? shares.find(({ form }) => form === 'm/d/yyyy') : undefined;
  const isDay = (text: string): boolean =>
    parseDateForm(text, best.form) !== undefined || isReadable(parseDateCell(text));
  const readable = getShare(profile, isDay) + years;
  const numbers = readable < 0.6 ? detectDayNumbers(profile) : undefined;
  if (numbers !== undefined) return numbers;
  const ambiguous = best.share > 0 && rival?.share === best.share;
  return {
    form: best.share === 0 ? 'd.m.yyyy' : best.form,
    share: best.share,
    readable,
    ambiguous,
    years,
  };
}

function isYear(text: string): boolean {
  return /^(?:1[789]|20)\d\d$/.test(text);
}

/** 20 000 to 60 000 are days from 1954 to 2064. */
function detectDayNumbers(profile: ColumnProfile): DateShape | undefined {
  const share = getShare(
    profile,
    (text) => /^[2-5]\d{4}$/.test(text) && parseDateForm(text, DAY_NUMBER) !== undefined,
  );
  return share < 0.9
    ? undefined
    : { form: DAY_NUMBER, share, readable: share, ambiguous: false, years: 0 };
}

/**
 * Parses a decimal and drops a unit of length or `ks` behind it, without conversion; undefined
 * where it is no number.
 */
export function parsePlainNumber(text: string): number | undefined {
  const reading = parseDecimal(text.replace(/(?<!\s)\s*(?:mm|cm|dm|m|ks)\.?$/i, ''));
  return isReadable(reading) ? Number(reading.value) : undefined;
}

export type NumberShape = {
  readonly share: number;
  readonly least: number;
  readonly most: number;
  readonly fractions: boolean;
};

/** @param values texts with their number of rows */
export function measureNumbers(values: readonly (readonly [string, number])[]): NumberShape {
  let rows = 0;
  let all = 0;
  let least = Infinity;
  let most = -Infinity;
  let fractions = false;
  for (const [text, count] of values) {
    all += count;
    const value = parsePlainNumber(text);
    if (value === undefined) continue;
    rows += count;
    [least, most] = [Math.min(least, value), Math.max(most, value)];
    fractions ||= !Number.isInteger(value);
  }
  return { share: all === 0 ? 0 : rows / all, least, most, fractions };
}

/** Parses a coordinate of either axis. */
export function parseAxisNumber(text: string): number | undefined {
  const reading = (['x', 'y'] as const).map((axis) => parseCoordinate(text, axis)).find(isReadable);
  return reading === undefined ? parsePlainNumber(text) : Number(reading.value);
}

/** Ranges of the axes of both systems; they do not overlap, so a number determines its axis. */
const AXES = {
  east: { least: 400_000, most: 905_000 },
  south: { least: 930_000, most: 1_230_000 },
  lon: { least: 12, most: 19 },
  lat: { least: 48.4, most: 51.2 },
} as const;
export type Axis = keyof typeof AXES;

type AxisShape = { readonly axis: Axis; readonly share: number; readonly withoutMinus: number };

/** Returns the axis that a column holds; `east` and `south` are those of S-JTSK. */
export function detectAxis(profile: ColumnProfile): AxisShape | undefined {
  for (const [axis, { least, most }] of Object.entries(AXES) as [
    Axis,
    { least: number; most: number },
  ][]) {
    const isInRange = (text: string): boolean => {
      const value = Math.abs(parseAxisNumber(text) ?? 0);
      return value >= least && value <= most;
    };
    const share = getShare(profile, isInRange);
    if (share < 0.6) continue;
    const degrees = axis === 'lon' || axis === 'lat';
    // Numbers from 12 to 19 are frequent; degrees of positions have a name that says so, or at
    // least three decimals.
    const isNamed = isNamedAsAxis(profile);
    const decimals = isNamed ? /[.,]\d|^[^°º\s]*[°º\s].*\d/ : /[.,]\d{3}|^[^°º\s]*[°º\s].*\d/;
    if (degrees && getShare(profile, (text) => decimals.test(text)) < 0.5) continue;
    return {
      axis,
      share,
      withoutMinus: getShare(
        profile,
        (text) => isInRange(text) && (parsePlainNumber(text) ?? 0) > 0,
      ),
    };
  }
  return undefined;
}

function isNamedAsAxis({ header }: ColumnProfile): boolean {
  return foldName(header)
    .split('_')
    .some((word) => AXIS_NAMES.includes(word));
}

const AXIS_NAMES: readonly string[] = [
  'x',
  'y',
  'lon',
  'long',
  'lng',
  'longitude',
  'lat',
  'latitude',
];

/**
 * Tells if a column gives places, also with lost decimal marks or in systems that pas does not
 * read, such as UTM.
 */
export function isOfPlaces(profile: ColumnProfile): boolean {
  const isNorthing = (text: string): boolean =>
    /^5[2-7]\d{5}$/.test(String(Math.trunc(parsePlainNumber(text) ?? 0)));
  // A place in the trench, such as 2.35, has fewer digits.
  const isLong = (text: string): boolean => /^(?:[^\p{L}\d]*\d){5,}[^\p{L}\d]*$/u.test(text);
  if (
    (isNamedAsAxis(profile) && getShare(profile, isLong) >= 0.6) ||
    detectAxis(profile) !== undefined
  )
    return true;
  return measurePositionShare(profile) >= 0.6 || getShare(profile, isNorthing) >= 0.6;
}

/**
 * Returns the share of cells with both coordinates. Two short whole numbers, such as `12/45`, are
 * no evidence.
 */
export function measurePositionShare(profile: ColumnProfile): number {
  const looked = { ...profile, values: new Map([...profile.values].slice(0, 200)) };
  return getShare(
    looked,
    (text) => !/^\D*\d{1,3}\D+\d{1,3}\D*$/.test(text) && isReadable(parsePosition(text)),
  );
}

export function measurePhotographShare(profile: ColumnProfile): number {
  return getShare(profile, isPictureName);
}
