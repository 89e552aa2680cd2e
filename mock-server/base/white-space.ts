/**
 * White space of Unicode, as in the deployed service: with U+001C to U+001F and U+0085, without
 * U+FEFF.
 */
const WHITE =
  '\t\n\v\f\r\u001c\u001d\u001e\u001f \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

/** Trims the white space of the service. */
export function trimText(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && WHITE.includes(text.charAt(start))) start += 1;
  while (end > start && WHITE.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Trims it, and replaces each white space within by one blank. */
export function collapseWhiteSpace(text: string): string {
  return trimText(text).replace(WHITE_RUN, ' ');
}

const WHITE_RUN = new RegExp(`[${WHITE}]+`, 'g');
