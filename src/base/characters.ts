import { type Message, msg } from './message.ts';

/**
 * White space of the service, which is Unicode's: unlike JavaScript's it has U+001C to U+001F and
 * U+0085, and not U+FEFF. Texts are trimmed by it before they are compared with a record, or
 * checked for being empty.
 */
const WHITE =
  '\t\n\v\f\r\u001c\u001d\u001e\u001f \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

/** Returns a text without white space, as the service defines it, at either end. */
export function trimText(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && WHITE.includes(text.charAt(start))) start += 1;
  while (end > start && WHITE.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/**
 * Trims a text as {@link trimText}, and replaces each run of such white space within it by one
 * blank.
 */
export function collapseWhiteSpace(text: string): string {
  return trimText(text).replace(WHITE_RUN, ' ');
}

const WHITE_RUN = new RegExp(`[${WHITE}]+`, 'g');

/** Special blanks, and invisible characters, which programs write and no person types. */
const BLANKS = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g;
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/g;

/**
 * Normalises a text for storage: composed accents (NFC), special blanks as plain ones, trimmed, and
 * without soft hyphens, zero-width spaces, word joiners and byte order marks. Blanks in a row and
 * line breaks stay.
 */
export function normalizeText(text: string): string {
  const trimmed = trimText(text);
  // Shortcut: most cells are ASCII.
  if (!/[^\u0000-\u007f]/.test(trimmed)) return trimmed;
  return trimText(trimmed.replace(BLANKS, ' ').replace(INVISIBLE, '').normalize('NFC'));
}

/**
 * Normalises a registration number for storage: composed accents, plain blanks, trimmed. Invisible
 * characters stay, so that they are refused.
 */
export function normalizeRegistrationNumber(text: string): string {
  return trimText(text.replace(BLANKS, ' ').normalize('NFC'));
}

/** Dashes and minus signs, which programs write in place of a hyphen. */
const DASHES = /[\u2010-\u2015\u2212\ufe58\ufe63]/g;

/**
 * Normalises an identifier for storage: as {@link normalizeText}, with single blanks, and hyphens
 * for dashes. Letter case, tabs and line breaks stay.
 */
export function normalizeId(text: string): string {
  return normalizeText(text).replace(/ {2,}/g, ' ').replace(DASHES, '-');
}

/**
 * Makes the key by which a typed identifier is found: case, blanks and kinds of dash do not count.
 */
export function makeIdKey(text: string): string {
  return normalizeId(text).replaceAll(' ', '').toLowerCase();
}

/** Matches a character that cannot be seen, whatever stands beside it. */
export const INVISIBLE_CHARACTER =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufffe\uffff]/u;

/**
 * Adds to a message about two texts the first position at which they differ, if a person may not
 * see the difference: one of the two characters is a blank, a control character, or not of ASCII.
 * Any other message is returned unchanged.
 */
export function addHiddenDifference(message: Message, one: string, other: string): Message {
  const first = [...one];
  const second = [...other];
  const found = first.findIndex((character, index) => character !== second[index]);
  const at = found === -1 ? first.length : found;
  if (isPlain(first[at]) && isPlain(second[at])) return message;
  const here = formatCharacter(first[at]);
  const there = formatCharacter(second[at]);
  const position = at + 1;
  return msg`${message} The texts differ in character ${position}: ${here} and ${there}.`;
}

function isPlain(character = '-'): boolean {
  return /[!-~]/.test(character);
}

function formatCharacter(character: string | undefined): Message {
  return character === undefined ? msg`nothing` : `"${character}" (${formatCodePoint(character)})`;
}

/**
 * Returns a sentence without its full stop and the white space at its end, to be quoted in another
 * one.
 */
export function removeFullStop(text: string): string {
  return text.trimEnd().replace(/\.$/, '');
}

/** Control, format and separator characters except tab, line feed and blank. */
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Returns a text, a message in the language of the process, with invisible characters escaped as
 * `\u202e`: foreign text must not steer the terminal or hide a part of itself. Tabs and line feeds
 * stay.
 */
export function toPrintable(text: Message): string {
  return String(text).replace(UNSEEN, escapeCharacter);
}

/** Escapes as JSON does, where a character may be two code units. */
function escapeCharacter(character: string): string {
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16));
  return units.map((unit) => `\\u${unit.padStart(4, '0')}`).join('');
}

/** Formats the code point of a text's first character, as in `U+00A0`. */
export function formatCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

type HtmlText = {
  readonly text: string;
  /** Addresses of its pictures (`src` of `img`), in order, each once; links are not among them. */
  readonly pictures: readonly string[];
};

/**
 * A plain text may contain `<`, so only a closing tag, a break, a picture or another known tag
 * counts as HTML.
 */
const LOOKS_LIKE_HTML =
  /<(?:\/[a-z]+\d?\s*>|!--|!\[CDATA\[|(?:br|hr|img|p|div|table|html|body|font|span)\b[^<]{0,2000}>)/i;
/** Comments, and elements whose content is not visible text. */
const HIDDEN = /<!--[\s\S]*?(?:-->|$)|<(script|style|head|title)\b[\s\S]*?(?:<\/\1\b[^<>]*>?|$)/gi;
const TAG = /<[a-z/!?][^<>]*>/gi;
const BREAK = /^<\/?(?:br|hr|p|div|tr|table|li|ul|ol|h[1-6])\b/i;
const CELL = /^<\/?t[dh]\b/i;
const PICTURE = /^<img\s/i;
const SOURCE = /\ssrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))/i;

/**
 * Extracts the visible text of HTML, without blank lines, and the sources of its pictures. A text
 * that does not look like HTML is returned unchanged, and without pictures.
 */
export function parseHtml(source: string): HtmlText {
  if (!LOOKS_LIKE_HTML.test(source)) return { text: source, pictures: [] };
  const visible = source.replace(HIDDEN, '');
  const pictures = [...visible.matchAll(TAG)].flatMap(([tag]) => findSource(tag) ?? []);
  const lines = withCharacters(visible.replace(TAG, getGap))
    .split('\n')
    .map((line) => line.replace(/[ \t\u00a0]+/g, ' ').trim());
  return {
    text: lines.filter((line) => line !== '').join('\n'),
    pictures: [...new Set(pictures)],
  };
}

function findSource(tag: string): string | undefined {
  const match = PICTURE.test(tag) ? SOURCE.exec(tag) : null;
  if (match === null) return undefined;
  const [, quoted, single, bare = ''] = match;
  return withCharacters(quoted ?? single ?? bare).trim();
}

function getGap(tag: string): string {
  if (BREAK.test(tag)) return '\n';
  return CELL.test(tag) ? ' ' : '';
}

const CHARACTERS: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

function withCharacters(text: string): string {
  return text.replace(/&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,6});/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return CHARACTERS[name.toLowerCase()] ?? whole;
    const code = Number(name.slice(1).replace(/^x/i, '0x'));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/**
 * Digits that a spreadsheet keeps; further digits are rounding noise, such as in
 * 0.30000000000000004.
 */
const SPREADSHEET_DIGITS = 15;

/** Formats a finite number with all its digits, a decimal point, and no exponent. */
export function formatPlainNumber(value: number): string {
  const text = String(value);
  return text.includes('e')
    ? value.toLocaleString('en', { useGrouping: false, maximumSignificantDigits: 21 })
    : text;
}

/**
 * Formats a finite number as a spreadsheet keeps it: rounded to 15 significant digits, except a
 * safe integer, with a decimal point and without an exponent.
 */
export function formatSpreadsheetNumber(value: number): string {
  return formatPlainNumber(
    Number.isSafeInteger(value) ? value : Number(value.toPrecision(SPREADSHEET_DIGITS)),
  );
}

// Widths of texts in terminal cells; a character takes none, one, or two (`string-width`).

const COLOURS = /\u001b\[\d+(?:;\d+)*m/g;
/**
 * Latin letters with composed accents, and the signs of pas's own texts: one cell each. Most runs
 * meet no other characters.
 */
const ONE_CELL_EACH =
  /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u2013-\u201e\u2026\u2190-\u2193█░✓✗]*$/;

let countCells = (text: string): number => text.length;

/**
 * Loads the library (`string-width`) by which this module measures characters of other widths than
 * one cell; until then each UTF-16 unit counts as one. Loading takes half as long as starting Node,
 * so it is left out where none of `texts` has such a character.
 * @param texts that will be measured; undefined: the library is loaded in any case
 */
export async function loadWidthLibrary(texts?: readonly string[]): Promise<void> {
  if (texts?.every((text) => ONE_CELL_EACH.test(text)) !== true)
    countCells = (await import('string-width')).default;
}

/**
 * Returns the width of a line in terminal cells; colour codes take none. A text with characters of
 * other widths needs {@link loadWidthLibrary} before.
 */
export function measureDisplayWidth(line: string): number {
  const text = line.replace(COLOURS, '');
  return ONE_CELL_EACH.test(text) ? text.length : countCells(text);
}

/**
 * Adds blanks at the end of a text up to a width in terminal cells; a wider text stays as it is.
 */
export function padEndText(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - measureDisplayWidth(text)));
}

/**
 * Shortens a text without colours to at most `cells` terminal cells, the `…` at its end included; a
 * text that fits stays as it is.
 */
export function cutText(text: string, cells: number): string {
  if (measureDisplayWidth(text) <= cells) return text;
  if (ONE_CELL_EACH.test(text)) return `${text.slice(0, Math.max(0, cells - 1)).trimEnd()}…`;
  let shortened = '';
  for (const { segment } of new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)) {
    if (measureDisplayWidth(shortened + segment) > cells - 1) break;
    shortened += segment;
  }
  return `${shortened.trimEnd()}…`;
}

/** Puts `head` before the first line of a text, and `indent` blanks before each other line. */
export function indentText(text: string, head: string, indent: number): string {
  return head + text.replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/**
 * Breaks lines that are wider than `cells` between words; the text's own line breaks stay. A part
 * in backticks is one word, and a word that is too wide gets a line of its own. An indented line
 * that is a command (`pas`, `chmod`, `source`) is never broken, so that a person can copy it.
 * Continuation lines are indented as the text behind the mark and label of the first line; where
 * that is more than half of `cells`, as the first line; where that is too, by four.
 * @param cells terminal cells; a wide character takes two
 */
export function wrapText(text: string, cells: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, cells))
    .join('\n');
}

function wrapLine(line: string, cells: number): string {
  if (measureDisplayWidth(line) <= cells || COMMAND.test(line)) return line;
  const head = HEAD.exec(line)?.[0] ?? '';
  const blanks = head.length - head.trimStart().length;
  const indent = [measureDisplayWidth(head), blanks].find((width) => width <= cells / 2) ?? 4;
  const lines: string[] = [];
  let current = head;
  let isEmpty = true;
  for (const [, gap = '', word = ''] of line.slice(head.length).matchAll(WORD)) {
    if (!isEmpty && measureDisplayWidth(`${current}${gap}${word}`) > cells) {
      lines.push(current);
      current = ' '.repeat(indent) + word;
    } else current += isEmpty ? word : gap + word;
    isEmpty = false;
  }
  return [...lines, current].join('\n');
}

/** A line that is a command; it is not broken. */
const COMMAND = /^ +(?:\$ )?(?:pas|chmod|source) /;
/** Indent, mark and label of a line. */
const HEAD = /^ *(?:(?:\u001b\[\d+m)*[✓✗!–→](?:\u001b\[\d+m)* )?(?:\S* {2,})?/;
const WORD = /( *)((?:`[^`]*`|[^ ])+)/g;
