type HtmlText = {
  readonly text: string;
  /** Targets of its pictures and links, in order, each once. */
  readonly pictures: readonly string[];
};

/** A plain text may contain `<`, so only a closing tag, a break, a picture or another known tag counts as HTML. */
const LOOKS_LIKE_HTML = /<(?:\/[a-z]+\d?\s*>|!--|!\[CDATA\[|(?:br|hr|img|p|div|table|html|body|font|span)\b[^<]{0,2000}>)/i;
const BREAKS = /^\/?(?:br|hr|p|div|tr|table|li|ul|ol|h[1-6])\b/i;
const CELL = /^\/?t[dh]\b/i;
/** Elements whose content is not visible text. */
const HIDDEN = /^(?:script|style|head|title)\b/i;

/** Extracts the visible text; a text without HTML stays as it is. */
export function parseHtml(source: string): HtmlText {
  if (!LOOKS_LIKE_HTML.test(source)) return { text: source, pictures: [] };
  const [pieces, pictures]: [string[], Set<string>] = [[], new Set()];
  const lower = source.toLowerCase();
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf('<', at);
    pieces.push(source.slice(at, open === -1 ? undefined : open));
    if (open === -1) break;
    const isComment = source.startsWith('<!--', open);
    const close = source.indexOf(isComment ? '-->' : '>', open);
    if (close === -1) {
      if (!isComment) pieces.push(source.slice(open));
      break;
    }
    const tag = source.slice(open + 1, close);
    at = close + (isComment ? 3 : 1);
    if (isComment) continue;
    const hidden = HIDDEN.exec(tag)?.[0];
    if (hidden !== undefined) at = behind(lower, `</${hidden.toLowerCase()}`, at);
    if (BREAKS.test(tag)) pieces.push('\n');
    else if (CELL.test(tag)) pieces.push(' ');
    const picture = /^img\s/i.test(tag) ? attribute(tag, 'src') : undefined;
    if (picture !== undefined) pictures.add(withCharacters(picture).trim());
  }
  const lines = withCharacters(pieces.join('').replace(/(?<![ \t\r\f])[ \t\r\f]*\n\s*/g, '\n'))
    .split('\n')
    .map((line) => line.replace(/[ \t\u00a0]+/g, ' ').trim());
  return { text: lines.filter((line) => line !== '').join('\n'), pictures: [...pictures] };
}

function behind(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  return at === -1 ? source.length : at;
}

function attribute(tag: string, name: string): string | undefined {
  const match = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"']+))`, 'i').exec(tag);
  return match?.[1] ?? match?.[2] ?? match?.[3];
}

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

function withCharacters(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return CHARACTERS[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
    return code <= 0x10ffff && code > 0 ? String.fromCodePoint(code) : whole;
  });
}
