import { type Message, msg } from '../base/message.ts';
import { isReadable, type Reading, unreadable } from '../text/reading.ts';
import { parseDecimal } from './geometry.ts';
import { inDegrees } from './read-position.ts';

/** Parts of an angle that may have columns of their own, in their order. */
export const ANGLE_PARTS = ['degrees', 'minutes', 'seconds'] as const;
export type AnglePart = (typeof ANGLE_PARTS)[number];

const MARKS: Readonly<Record<AnglePart, string>> = { degrees: '°', minutes: "'", seconds: '"' };

/**
 * Combines columns of degrees, minutes and seconds into decimal degrees; '' where all are empty. An invalid angle such as `49°
 * 75' 25.8"` is returned as text, for which {@link parseCoordinate} reports the fault.
 */
export function angleCell(parts: ReadonlyMap<AnglePart, string>): string {
  const text = angleText(parts);
  const angle = readAngle(text);
  return angle !== undefined && isReadable(angle) ? angle.value : text;
}

/** Removes the mark of an angle: `49°` in a column of degrees is 49. */
export function withoutAngleMark(text: string): string {
  return text.replace(/(?<![°º'′’"″”])[°º'′’"″”]+$/u, '').trim();
}

/** Joins the parts. An empty part keeps its mark, so that the reader reports it as missing. */
function angleText(parts: ReadonlyMap<AnglePart, string>): string {
  const texts = ANGLE_PARTS.flatMap((part) => {
    const text = parts.get(part);
    return text === undefined ? [] : [`${withoutAngleMark(text)}${MARKS[part]}`];
  });
  return texts.every((text) => text.length === 1) ? '' : texts.join(' ');
}

/** Parses a decimal number, or an angle with its marks. */
export function parseCoordinate(text: string): Reading<string> {
  const decimal = parseDecimal(text);
  if (isReadable(decimal)) return decimal;
  const angle = readAngle(text);
  return angle === undefined || isReadable(angle) ? decimal : angle;
}

/** Parses an angle; undefined where the text has no marks of degrees in this order. */
function readAngle(text: string): Reading<string> | undefined {
  const match = /^([^°]*)°(?:([^'"°]*)')?(?:([^'"°]*)")?$/.exec(text);
  if (match === null) return undefined;
  const [degrees = '', minutes, seconds] = match.slice(1).map((part) => part?.trim());
  const missing = missingPart(degrees, minutes, seconds);
  if (missing !== undefined) return unreadable('coordinate', missing);
  const written = [degrees, minutes, seconds].filter((part) => part !== undefined && part !== '');
  if (written.slice(1).some((part) => /^[+\-−–]/.test(part ?? '')))
    return unreadable('coordinate', msg`${text} has a sign before its minutes or seconds. Write the sign before the degrees.`);
  const numbers: string[] = [];
  for (const part of written) {
    const number = parseDecimal(part ?? '');
    if (!isReadable(number)) return number;
    numbers.push(number.value);
  }
  const [whole = '', wholeMinutes = '0', wholeSeconds = '0'] = numbers;
  if (numbers.slice(0, -1).some((number) => /\.\d*[1-9]/.test(number)))
    return unreadable('coordinate', msg`"${text}" has a decimal point before its minutes or seconds.`);
  if (Number(wholeMinutes) >= 60 || Number(wholeSeconds) >= 60)
    return unreadable('coordinate', msg`"${text}" has 60 minutes or seconds, or more.`);
  const size = inDegrees(whole.replace('-', ''), wholeMinutes, wholeSeconds);
  return { value: whole.startsWith('-') ? `-${size}` : size };
}

/** Seconds may be empty behind minutes with decimals; any other empty part is reported, since 0 must be written. */
function missingPart(degrees: string, minutes: string | undefined, seconds: string | undefined): Message | undefined {
  if (degrees === '') return msg`The minutes or seconds are filled in, but the degrees are empty. Fill them in.`;
  if (minutes === '' || (minutes === undefined && seconds !== undefined))
    return msg`The minutes of ${degrees}° are empty. Write 0 if there are none.`;
  if (seconds === '' && minutes !== undefined && !/[.,]/.test(minutes))
    return msg`The seconds of ${degrees}° ${minutes}' are empty. Write 0 if there are none.`;
  return undefined;
}
