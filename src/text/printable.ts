import type { Message } from '../base/message.ts';

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
