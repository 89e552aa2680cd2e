import { msg } from '../base/message.ts';
import { Fault } from './fault.ts';

/** Text as the parser has it: each character stands for a byte of UTF-8, so that the place of one is that of the other. */

/** What a byte in a text or a value asks for: nothing, to be read as UTF-8, or a closer look. U+FFFE begins with 0xef. */
export const WIDE = 1;
const [ODD_IN_TEXT, ODD_IN_VALUE] = [2, 4];
export const DEMANDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return byte === 0xef ? WIDE | ODD_IN_TEXT | ODD_IN_VALUE : WIDE;
  const character = String.fromCharCode(byte);
  if ('\t\n<'.includes(character)) return ODD_IN_VALUE;
  if (character < ' ' || character === '&') return ODD_IN_TEXT | ODD_IN_VALUE;
  return character === ']' ? ODD_IN_TEXT : 0;
});

/**
 * A text or a value, where it is not what stands there.
 * @param demands of all bytes from `start` to `end`, together
 * @param rawName of the attribute whose value it is
 */
export function decoded(bytes: Buffer, start: number, end: number, demands: number, rawName?: string): string | undefined {
  if ((demands & (rawName === undefined ? ODD_IN_TEXT : ODD_IN_VALUE)) === 0) return undefined;
  const raw = bytes.toString('latin1', start, end);
  return rawName === undefined ? decodedText(raw, start) : decodedValue(raw, start, rawName);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** So much is replaced at a time: millions of matches at once would take many times the room of the text. */
const PIECE_CHARACTERS = 64 * 1024;

/** XML 1.0, production 2, turned round; U+FFFE and U+FFFF are three bytes each. */
const FORBIDDEN_CHARACTER = /[\0-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]/;

export function refuseForbidden(raw: string, start: number): void {
  const forbidden = raw.search(FORBIDDEN_CHARACTER);
  if (forbidden !== -1) throw new Fault(msg`a control character is not allowed in XML`, start + forbidden);
}

/** Character data as a parser hands it on. @param raw as it stands in the document, at `start` */
function decodedText(raw: string, start: number): string {
  refuseForbidden(raw, start);
  if (raw.includes(']]>')) throw new Fault(msg`]]> may not stand in text`, start + raw.indexOf(']]>'));
  return decodedInPieces(raw, start, REPLACED_IN_TEXT, '\n');
}

/** The same of a CDATA section. */
export function decodedSection(raw: string, start: number): string {
  refuseForbidden(raw, start);
  return decodedInPieces(raw, start, LINE_BREAK, '\n');
}

/** The same of an attribute's value. @param name for the fault */
function decodedValue(raw: string, start: number, rawName: string): string {
  if (raw.includes('<')) throw new Fault(msg`< may not stand in the value of ${rawName}`, start + raw.indexOf('<'));
  refuseForbidden(raw, start);
  return decodedInPieces(raw, start, REPLACED_IN_VALUE, ' ');
}

const LINE_BREAK = /\r\n?/g;
const REFERENCE = '&(?:#(\\d+);|#x([\\da-fA-F]+);|([\\w.:-]+);)?';
const REPLACED_IN_TEXT = new RegExp(`\\r\\n?|${REFERENCE}`, 'g');
const REPLACED_IN_VALUE = new RegExp(`\\r\\n?|[\\t\\n]|${REFERENCE}`, 'g');

/** Once, from left to right: what a reference yields is never read again. @param space what stands for a line break */
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

/** Never in the middle of a reference or of a line break. */
function pieceEnd(raw: string, at: number): number {
  const end = at + PIECE_CHARACTERS;
  if (end >= raw.length) return raw.length;
  const [open] = /(?:\r|&[^;&]*)$/.exec(raw.slice(at, end)) ?? [];
  return open === undefined || open.length === PIECE_CHARACTERS ? end : end - open.length;
}

/** What a reference stands for, as bytes. */
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
  if (!isCharacter(code)) throw new Fault(msg`${whole} is not a character of XML`, offset);
  return Buffer.from(String.fromCodePoint(code)).toString('latin1');
}

/** XML 1.0, production 2. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}

function unknownEntity(name: string, offset: number): Fault {
  return new Fault(msg`the entity &${name}; is not known without a DTD`, offset);
}
