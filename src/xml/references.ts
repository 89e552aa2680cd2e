import { msg } from '../base/message.ts';
import { Fault } from './parse-error.ts';

/** Text in the parser has one character per byte of UTF-8, so that offsets in text and bytes are equal. */

/** Flags of a byte: none, not ASCII, or to be decoded in a text or a value. U+FFFE begins with 0xef. */
export const NON_ASCII = 1;
const [ODD_IN_TEXT, ODD_IN_VALUE] = [2, 4];
export const DECODING_NEEDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return byte === 0xef ? NON_ASCII | ODD_IN_TEXT | ODD_IN_VALUE : NON_ASCII;
  const character = String.fromCharCode(byte);
  if ('\t\n<'.includes(character)) return ODD_IN_VALUE;
  if (character < ' ' || character === '&') return ODD_IN_TEXT | ODD_IN_VALUE;
  return character === ']' ? ODD_IN_TEXT : 0;
});

/**
 * Decodes a text or a value; undefined where it equals its source.
 * @param demands flags of all bytes from `start` to `end`, combined
 * @param rawName of the attribute, for a value
 */
export function decoded(bytes: Buffer, start: number, end: number, demands: number, rawName?: string): string | undefined {
  if ((demands & (rawName === undefined ? ODD_IN_TEXT : ODD_IN_VALUE)) === 0) return undefined;
  const raw = bytes.toString('latin1', start, end);
  return rawName === undefined ? decodedText(raw, start) : decodedValue(raw, start, rawName);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Size of a piece: millions of matches at once would take many times the memory of the text. */
const PIECE_CHARACTERS = 64 * 1024;

/** Negation of XML 1.0, production 2; U+FFFE and U+FFFF are three bytes each. */
const FORBIDDEN_CHARACTER = /[\0-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]/;

export function assertAllowedCharacters(raw: string, start: number): void {
  const forbidden = raw.search(FORBIDDEN_CHARACTER);
  if (forbidden !== -1) throw new Fault(msg`a control character is not allowed in XML`, start + forbidden);
}

/** Decodes character data. @param raw source, which begins at `start` */
function decodedText(raw: string, start: number): string {
  assertAllowedCharacters(raw, start);
  if (raw.includes(']]>')) throw new Fault(msg`]]> is not allowed in text`, start + raw.indexOf(']]>'));
  return decodedInPieces(raw, start, REPLACED_IN_TEXT, '\n');
}

export function decodedSection(raw: string, start: number): string {
  assertAllowedCharacters(raw, start);
  return decodedInPieces(raw, start, LINE_BREAK, '\n');
}

/** Decodes an attribute value. @param rawName for the fault */
function decodedValue(raw: string, start: number, rawName: string): string {
  if (raw.includes('<')) throw new Fault(msg`< is not allowed in the value of ${rawName}`, start + raw.indexOf('<'));
  assertAllowedCharacters(raw, start);
  return decodedInPieces(raw, start, REPLACED_IN_VALUE, ' ');
}

const LINE_BREAK = /\r\n?/g;
const REFERENCE = '&(?:#(\\d+);|#x([\\da-fA-F]+);|([\\w.:-]+);)?';
const REPLACED_IN_TEXT = new RegExp(`\\r\\n?|${REFERENCE}`, 'g');
const REPLACED_IN_VALUE = new RegExp(`\\r\\n?|[\\t\\n]|${REFERENCE}`, 'g');

/** Replaces references once, from left to right; the result is not parsed again. @param space replaces a line break */
function decodedInPieces(raw: string, start: number, replaced: RegExp, space: string): string {
  const bytes = Buffer.allocUnsafe(raw.length);
  let length = 0;
  for (let at = 0; at < raw.length; ) {
    const piece = raw.slice(at, pieceEnd(raw, at));
    const read = piece.replace(replaced, (whole, decimal, hexadecimal, name, index) =>
      whole.startsWith('&') ? referred(whole, decimal, hexadecimal, name, start + at + index) : space,
    );
    length += bytes.write(read, length, 'latin1');
    at += piece.length;
  }
  return bytes.toString('utf8', 0, length);
}

/** Ends a piece outside references and line breaks. */
function pieceEnd(raw: string, at: number): number {
  const end = at + PIECE_CHARACTERS;
  if (end >= raw.length) return raw.length;
  const [open] = /(?:\r|&[^;&]*)$/.exec(raw.slice(at, end)) ?? [];
  return open === undefined || open.length === PIECE_CHARACTERS ? end : end - open.length;
}

function referred(
  whole: string,
  decimal: string | undefined,
  hexadecimal: string | undefined,
  name: string | undefined,
  offset: number,
): string {
  if (name !== undefined && Object.hasOwn(ENTITIES, name)) return ENTITIES[name] ?? whole;
  if (name !== undefined) throw unknownEntity(name.slice(0, 40), offset);
  const digits = decimal ?? hexadecimal;
  if (digits === undefined) throw new Fault(msg`& must be written as &amp;`, offset);
  const code = Number.parseInt(digits, decimal === undefined ? 16 : 10);
  if (!isCharacter(code)) throw new Fault(msg`${whole} is not a character allowed in XML`, offset);
  return Buffer.from(String.fromCodePoint(code)).toString('latin1');
}

/** XML 1.0, production 2. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}

function unknownEntity(name: string, offset: number): Fault {
  return new Fault(msg`the entity &${name}; is unknown without a DTD`, offset);
}
