/** Digits that a spreadsheet shows and keeps; what stands behind them is noise of the arithmetic, such as 0.30000000000000004. */
const SPREADSHEET_DIGITS = 15;

/** All digits of a number, without an exponent. */
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

/** The same as a spreadsheet would show it. */
export function spreadsheetNumber(value: number): string {
  return plainNumber(Number.isSafeInteger(value) ? value : Number(value.toPrecision(SPREADSHEET_DIGITS)));
}
