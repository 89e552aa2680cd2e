import { sourceOf, type XmlDocument, type XmlElement } from './element.ts';

/**
 * The namespace declarations that hold inside `path`, as they are typed, the inner ones winning: what text cut out of the
 * innermost element needs round it to be read alone.
 * @param path elements of the document, each the parent of the next
 */
export function declarationsWithin(document: XmlDocument, path: readonly XmlElement[]): string {
  const declarations = new Map<string, string>();
  for (const element of path) {
    const tag = startTagOf(document, element);
    for (const [text, name = ''] of tag.matchAll(/\s([^\s=]+)\s*=\s*(?:"[^"]*"|'[^']*')/g)) {
      if (/^xmlns(?::|$)/.test(name)) declarations.set(name, ` ${text.trim()}`);
    }
  }
  return [...declarations.values()].join('');
}

/** From `<` up to the `>` that closes it: one may also stand in the value of an attribute. */
export function startTagOf(document: XmlDocument, { start, end, children }: XmlElement): string {
  const beginning = sourceOf(document, { start, end: children[0]?.start ?? end });
  return /^<(?:[^>"']|"[^"]*"|'[^']*')*>/.exec(beginning)?.[0] ?? '';
}
