import { msg } from '../base/message.ts';
import { Fault } from './fault.ts';

/** Text as the parser has it: each character stands for a byte of UTF-8, so that the place of one is that of the other. */

/** What a byte in a text or a value asks for: nothing, to be read as UTF-8, or a closer look. U+FFFE begins with 0xef. */
const [WIDE, ODD_IN_TEXT, ODD_IN_VALUE] = [1, 2, 4];
export const DEMANDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0x80) return byte === 0xef ? WIDE | ODD_IN_TEXT | ODD_IN_VALUE : WIDE;
  const character = String.fromCharCode(byte);
  if ('\t\n<'.includes(character)) return ODD_IN_VALUE;
  if (character < ' ' || character === '&') return ODD_IN_TEXT | ODD_IN_VALUE;
  return character === ']' ? ODD_IN_TEXT : 0;
});

/**
 * A text or a value, where it is not what stands there.
 * @param source a character for each of the bytes
 * @param demands of all bytes from `start` to `end`, together
 * @param rawName of the attribute whose value it is
 */
export function decoded(
  bytes: Buffer,
  source: string,
  start: number,
  end: number,
  demands: number,
  rawName?: string,
): string | undefined {
  if ((demands & (rawName === undefined ? ODD_IN_TEXT : ODD_IN_VALUE)) === 0) {
    return (demands & WIDE) === 0 ? undefined : bytes.toString('utf8', start, end);
  }
  const raw = source.slice(start, end);
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

export function fromBytes(raw: string): string {
  return Buffer.from(raw, 'latin1').toString();
}

/** Character data as a parser hands it on. @param raw as it stands in the document, at `start` */
function decodedText(raw: string, start: number): string {
  refuseForbidden(raw, start);
  if (raw.includes(']]>')) throw new Fault(msg`]]> may not stand in text`, start + raw.indexOf(']]>'));
  const text = raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw;
  return fromBytes(text.includes('&') ? decodeReferences(text, start, raw) : text);
}

/** The same of an attribute's value. @param name for the fault */
function decodedValue(raw: string, start: number, rawName: string): string {
  if (raw.includes('<')) throw new Fault(msg`< may not stand in the value of ${rawName}`, start + raw.indexOf('<'));
  refuseForbidden(raw, start);
  const spaced = raw.replace(/\r\n|[\t\n\r]/g, ' ');
  return fromBytes(spaced.includes('&') ? decodeReferences(spaced, start, raw) : spaced);
}

/**
 * Once, from left to right: what a reference yields is never read again.
 * @param raw the text as it stands in the document, where a line break may be two characters: a fault is told by its place there
 */
function decodeReferences(text: string, start: number, raw = text): string {
  if (raw.length > text.length) decodeReferences(raw, start);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const piece = text.slice(at, pieceEnd(text, at));
    pieces.push(decodePiece(piece, start + at));
    at += piece.length;
  }
  return pieces.join('');
}

/** Never in the middle of a reference. */
function pieceEnd(text: string, at: number): number {
  const end = at + PIECE_CHARACTERS;
  const open = end < text.length ? text.lastIndexOf('&', end - 1) : -1;
  return open > at && text.indexOf(';', open) >= end ? open : end;
}

function decodePiece(text: string, start: number): string {
  return text.replace(/&(?:#(\d+);|#x([\da-fA-F]+);|([\w.:-]+);)?/g, (whole, decimal, hexadecimal, name, index: number) => {
    if (name !== undefined && Object.hasOwn(ENTITIES, name)) return ENTITIES[name] ?? whole;
    if (name !== undefined) throw unknownEntity(String(name).slice(0, 40), start + index);
    if (decimal === undefined && hexadecimal === undefined) throw new Fault(msg`& must be written as &amp;`, start + index);
    const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number.parseInt(decimal, 10);
    if (!isCharacter(code)) throw new Fault(msg`${whole} is not a character of XML`, start + index);
    return Buffer.from(String.fromCodePoint(code)).toString('latin1');
  });
}

/** XML 1.0, production 2. */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}

function unknownEntity(name: string, offset: number): Fault {
  return new Fault(msg`the entity &${name}; is not known without a DTD`, offset);
}
