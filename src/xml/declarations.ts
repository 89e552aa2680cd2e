import { sourceOf, type XmlDocument, type XmlElement } from './element.ts';

/**
 * Returns the source of the namespace declarations in scope at the end of `path`, inner ones winning: text cut out of the
 * innermost element needs them to be parsed alone.
 * @param path elements of the document, each the parent of the next
 */
export function namespaceDeclarationsIn(document: XmlDocument, path: readonly XmlElement[]): string {
  const declarations = new Map<string, string>();
  for (const element of path) {
    const tag = startTagOf(document, element);
    for (const [text, name = ''] of tag.matchAll(/\s([^\s=]+)\s*=\s*(?:"[^"]*"|'[^']*')/g)) {
      if (/^xmlns(?::|$)/.test(name)) declarations.set(name, ` ${text.trim()}`);
    }
  }
  return [...declarations.values()].join('');
}

/** Returns the start tag, up to the `>` outside attribute values. */
export function startTagOf(document: XmlDocument, { start, end, children }: XmlElement): string {
  const beginning = sourceOf(document, { start, end: children[0]?.start ?? end });
  return /^<(?:[^>"']|"[^"]*"|'[^']*')*>/.exec(beginning)?.[0] ?? '';
}
