import { trimText } from './white-space.ts';

/** Special blanks, and invisible characters, which programs write and no person types. */
const BLANKS = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g;
const UNSEEN = /[\u00ad\u200b\u2060\ufeff]/g;

/** Normalises a text for storage: composed accents (NFC), plain blanks, trimmed. */
export function normalText(text: string): string {
  const trimmed = trimText(text);
  // Shortcut: most cells are ASCII.
  if (!/[^\u0000-\u007f]/.test(trimmed)) return trimmed;
  return trimText(trimmed.replace(BLANKS, ' ').replace(UNSEEN, '').normalize('NFC'));
}

/** Normalises a local id for storage: as {@link normalText}, with single blanks. */
export function normalId(text: string): string {
  return normalText(text).replace(/ {2,}/g, ' ');
}
