import type { Message } from '../base/message.ts';

/**
 * White space of the service, which is Unicode's: unlike JavaScript's it has U+001C to U+001F and U+0085, and not U+FEFF. What is
 * compared with a record, or judged empty, is trimmed so.
 */
const WHITE =
  '\t\n\v\f\r\u001c\u001d\u001e\u001f \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

/** A text without white space at its ends. */
export function trimText(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && WHITE.includes(text.charAt(start))) start += 1;
  while (end > start && WHITE.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** The same, with each white space within as one blank. */
export function collapseText(text: string): string {
  return trimText(text).replace(WHITE_RUN, ' ');
}

const WHITE_RUN = new RegExp(`[${WHITE}]+`, 'g');

/** Special blanks, and invisible characters, which programs write and no person types. */
const BLANKS = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g;
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/g;

/** Normalises a text for storage: composed accents (NFC), plain blanks, trimmed. */
export function normalText(text: string): string {
  const trimmed = trimText(text);
  // Shortcut: most cells are ASCII.
  if (!/[^\u0000-\u007f]/.test(trimmed)) return trimmed;
  return trimText(trimmed.replace(BLANKS, ' ').replace(INVISIBLE, '').normalize('NFC'));
}

/** Normalises a local id for storage: as {@link normalText}, with single blanks. */
export function normalId(text: string): string {
  return normalText(text).replace(/ {2,}/g, ' ');
}

/** Control, format and separator characters except tab, line feed and blank. */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes invisible characters in foreign text, so that it cannot steer the terminal or hide a part of itself. */
export function printable(text: Message): string {
  return String(text).replace(UNSEEN, escaped);
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** Formats a character as `U+0085`. */
export function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
