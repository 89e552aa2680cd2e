import { type Message, msg } from '../base/message.ts';
import { addDays, countDays, DAY_ZERO, isRealDate } from './date-form.ts';

/** No find in the service is older; an earlier year is a typing error, such as 0204. */
export const EARLIEST_YEAR = 1700;
/** Days before it are rare outside a table of old finds. */
const EARLIEST_LIKELY_DAY = '1950-01-01';

type DayContext = {
  /** Local day, YYYY-MM-DD. */
  readonly today: string;
  /** Old days are usual: most days of the table are. */
  readonly areOldUsual: boolean;
  /** The clock of a GPS device wrote the day. */
  readonly isOfDevice: boolean;
};

/**
 * First days of clocks that were never set: computers, cameras, satellites, GPS devices,
 * spreadsheets.
 */
const DAYS_WITHOUT_CLOCK = [
  '1970-01-01',
  '1980-01-01',
  '1980-01-06',
  '1989-12-31',
  '1999-08-22',
  '2000-01-01',
  '2019-04-07',
  '1899-12-30',
  '1899-12-31',
  '1900-01-01',
  '1904-01-01',
];

/** GPS counts 1,024 weeks and begins again. */
const ROUND_OF_GPS_DAYS = 1024 * 7;
/** A device with this fault is in use; older days of it are old data. */
const USED_DAYS = 3 * 366;

/** Returns the likely cause and the likely value; undefined where a case does not apply. */
type DayCase = (day: string, context: DayContext) => Message | undefined;

/** The first case that applies explains the day. */
const CASES: readonly DayCase[] = [
  (day) => {
    const year = countDays(DAY_ZERO, day);
    return year >= EARLIEST_YEAR && year < 2100
      ? msg`${day} is what a spreadsheet makes of the year ${year} in a cell of dates. Write the whole day, or leave the cell empty and write ${year} in poznamka.`
      : undefined;
  },
  (day) =>
    DAYS_WITHOUT_CLOCK.includes(day)
      ? msg`${day} is the first day of a clock that was never set. Write the right day, or leave the cell empty.`
      : undefined,
  (day, { today }) => {
    if (day <= today) return undefined;
    const likely = findPastDay(day, today);
    return msg`${day} is in the future. Perhaps ${likely} is meant, or this computer's clock is wrong.`;
  },
  (day) =>
    Number(day.slice(0, 4)) < EARLIEST_YEAR
      ? msg`${day} is very long ago. Check the year, of which a digit may be missing.`
      : undefined,
  (day, { today, isOfDevice }) => {
    const likely = addDays(day, ROUND_OF_GPS_DAYS);
    return isOfDevice && likely <= today && countDays(likely, today) <= USED_DAYS
      ? msg`${day} may be 1,024 weeks too early, as old GPS devices count. If so, write ${likely}.`
      : undefined;
  },
  (day, { areOldUsual }) =>
    isOldDay(day) && !areOldUsual
      ? msg`${day} is long before the other days of the table. Check the year.`
      : undefined,
];

/** Explains why a day is hardly the one that was meant, and names that one where it is known. */
export function findDayDoubt(day: string, context: DayContext): Message | undefined {
  for (const explain of CASES) {
    const doubt = explain(day, context);
    if (doubt !== undefined) return doubt;
  }
  return undefined;
}

export function isOldDay(day: string): boolean {
  return day < EARLIEST_LIKELY_DAY;
}

/** Returns the last such day of a year that is not in the future. */
function findPastDay(day: string, today: string): string {
  let year = Number(today.slice(0, 4));
  const makeDay = (): string => `${year}${day.slice(4)}`;
  while (makeDay() > today || !isRealDate(makeDay())) year -= 1;
  return makeDay();
}
