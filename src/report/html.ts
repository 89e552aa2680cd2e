/** Markup that is finished: everything of others' that stands in it is escaped. The symbol keeps data from passing for it. */
const MARKUP = Symbol('markup');
export type Html = { readonly [MARKUP]: string };

/** What may stand in a template: text is escaped, markup and lists of markup are put in as they are, nothing is nothing. */
export type Part = string | number | Html | undefined | readonly Part[];

/**
 * Markup from a template. The values may stand as text, or in an attribute between double quotes; nowhere else, and in an address
 * only what {@link webAddress} let through.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return trusted(strings.map((text, index) => (index === 0 ? text : markupOf(parts[index - 1]) + text)).join(''));
}

/** Markup of our own making, such as a style sheet of this package. Never for data. */
export function trusted(markup: string): Html {
  return { [MARKUP]: markup };
}

export function markupOf(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  if (MARKUP in part) return part[MARKUP];
  return part.map(markupOf).join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // A bare one would be read as a line feed.
  '\r': '&#13;',
  // No document may hold it.
  '\0': '\ufffd',
};

function escaped(text: string): string {
  return text.replace(/[&<>"'\r\0]/g, (character) => ESCAPES[character] ?? character);
}

/** An address that a link may lead to: one of the web. Undefined for `javascript:` and whatever else. */
export function webAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}
