import { trimText } from './white-space.ts';

/** Blanks that look like one, and characters that cannot be seen: programs write them, and no person types them. */
const BLANKS = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g;
const UNSEEN = /[\u00ad\u200b\u2060\ufeff]/g;

/** A text as it is kept: accents composed, plain blanks, none around it. */
export function normalText(text: string): string {
  const trimmed = trimText(text);
  // Most cells have none of these letters.
  if (!/[^\u0000-\u007f]/.test(trimmed)) return trimmed;
  return trimText(trimmed.replace(BLANKS, ' ').replace(UNSEEN, '').normalize('NFC'));
}

/** A local id as it is kept: the same in whatever way its blanks were typed. */
export function normalId(text: string): string {
  return normalText(text).replace(/ {2,}/g, ' ');
}
