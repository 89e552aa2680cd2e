import { childOf, childText } from '../../xml/element.ts';
import { parseXml, XmlSyntaxError } from '../../xml/parse.ts';

/** The identifier in a success document of interface A: root, `samostatny_nalez`, `ident_cely`. Undefined when it is none. */
export function parseRecordIdent(body: Buffer): string | undefined {
  try {
    const find = childOf(parseXml(body).root, 'samostatny_nalez');
    return find === undefined ? undefined : childText(find, 'ident_cely');
  } catch (thrown) {
    // Not the service's document: its header may still name the record, so this is not the place to give up.
    if (thrown instanceof XmlSyntaxError) return undefined;
    throw thrown;
  }
}
