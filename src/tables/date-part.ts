/** A token of a number format: a part of a date, or of an elapsed time (`[h]`). */
export type DateToken = {
  readonly kind: 'date' | 'elapsed';
  readonly unit: 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'fraction' | 'half';
  /** Number of letters in the format. */
  readonly length: number;
};

export type DayParts = {
  readonly moment: Date;
  /** Serial number of the cell. */
  readonly days: number;
  /** Hours count to twelve. */
  readonly has12: boolean;
  readonly language: Language;
};

type Language = {
  readonly months: readonly string[];
  readonly short: readonly string[];
  readonly days: readonly string[];
};

const CZECH: Language = {
  months: [
    'leden',
    'únor',
    'březen',
    'duben',
    'květen',
    'červen',
    'červenec',
    'srpen',
    'září',
    'říjen',
    'listopad',
    'prosinec',
  ],
  short: ['led', 'úno', 'bře', 'dub', 'kvě', 'čvn', 'čvc', 'srp', 'zář', 'říj', 'lis', 'pro'],
  days: ['neděle', 'pondělí', 'úterý', 'středa', 'čtvrtek', 'pátek', 'sobota'],
};
const ENGLISH: Language = {
  months: [
    'January',
    'February',
    'March',
    'April',
    'May',
    'June',
    'July',
    'August',
    'September',
    'October',
    'November',
    'December',
  ],
  short: ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
  days: ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'],
};
const GERMAN: Language = {
  months: [
    'Januar',
    'Februar',
    'März',
    'April',
    'Mai',
    'Juni',
    'Juli',
    'August',
    'September',
    'Oktober',
    'November',
    'Dezember',
  ],
  short: ['Jan', 'Feb', 'Mrz', 'Apr', 'Mai', 'Jun', 'Jul', 'Aug', 'Sep', 'Okt', 'Nov', 'Dez'],
  days: ['Sonntag', 'Montag', 'Dienstag', 'Mittwoch', 'Donnerstag', 'Freitag', 'Samstag'],
};

/**
 * Returns the language of a locale in a format: `405`, `cs-CZ`, `1000409`. Czech where the format
 * has none.
 */
export function parseLanguage(locale: string): Language {
  const text = locale.toLowerCase();
  if (/^(?:en\b|[\da-f]*0?[48c]09$)/.test(text)) return ENGLISH;
  return /^(?:de\b|[\da-f]*0?[48c]07$)/.test(text) ? GERMAN : CZECH;
}

export function showDatePart(token: DateToken, parts: DayParts): string {
  const { moment, days, has12, language } = parts;
  const { unit, length } = token;
  if (token.kind === 'elapsed') {
    const inDay = { hour: 24, minute: 1440, second: 86_400 }[unit as 'hour' | 'minute' | 'second'];
    return String(Math.floor(Number((days * inDay).toFixed(6)))).padStart(length, '0');
  }
  const padValue = (value: number): string => String(value).padStart(Math.min(length, 2), '0');
  const hours = moment.getUTCHours();
  switch (unit) {
    case 'year':
      return String(moment.getUTCFullYear())
        .padStart(4, '0')
        .slice(length <= 2 ? -2 : 0);
    case 'month':
      return formatNameOrNumber(
        length,
        language.months,
        language.short,
        moment.getUTCMonth(),
        moment.getUTCMonth() + 1,
      );
    case 'day': {
      const names = language.days;
      const short = names.map((name) => name.slice(0, language === ENGLISH ? 3 : 2));
      return formatNameOrNumber(length, names, short, moment.getUTCDay(), moment.getUTCDate());
    }
    case 'hour':
      return padValue(has12 ? hours % 12 || 12 : hours);
    case 'minute':
      return padValue(moment.getUTCMinutes());
    case 'second':
      return padValue(moment.getUTCSeconds());
    case 'fraction':
      return `.${String(moment.getUTCMilliseconds()).padStart(3, '0').slice(0, length).padEnd(length, '0')}`;
    case 'half':
      return (hours < 12 ? 'AM' : 'PM').slice(0, length > 3 ? 2 : 1);
  }
}

/**
 * Formats by length: one or two letters are the number, three the short name, five its first
 * letter.
 */
function formatNameOrNumber(
  length: number,
  names: readonly string[],
  short: readonly string[],
  index: number,
  number: number,
): string {
  if (length <= 2) return String(number).padStart(length, '0');
  const name = (length === 3 ? short : names)[index] ?? '';
  return length === 5 ? name.slice(0, 1) : name;
}
