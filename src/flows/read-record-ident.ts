import { parseXml } from '../xml/parse.ts';

/** The identifier in a success document of interface A: root, `samostatny_nalez`, `ident_cely`. Undefined when it is none. */
export function readRecordIdent(body: Buffer): string | undefined {
  try {
    const find = parseXml(body).children.find((child) => child.name === 'samostatny_nalez');
    const ident = find?.children.find((child) => child.name === 'ident_cely')?.text.trim();
    return ident === '' ? undefined : ident;
  } catch {
    // Not the service's document: its header may still name the record, so this is not the place to give up.
    return undefined;
  }
}
