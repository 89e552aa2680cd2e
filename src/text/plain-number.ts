/** Digits that a spreadsheet keeps; further digits are rounding noise, such as in 0.30000000000000004. */
const SPREADSHEET_DIGITS = 15;

/** Formats a number with all its digits and without an exponent. */
export function plainNumber(value: number): string {
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign = '', first = '', rest = '', exponent = '0'] = match;
  const digits = first + rest;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return sign + (digits.length <= point ? digits.padEnd(point, '0') : `${digits.slice(0, point)}.${digits.slice(point)}`);
}

/** Formats a number with the digits that a spreadsheet keeps. */
export function spreadsheetNumber(value: number): string {
  return plainNumber(Number.isSafeInteger(value) ? value : Number(value.toPrecision(SPREADSHEET_DIGITS)));
}
