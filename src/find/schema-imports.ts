import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { t } from '../base/language.ts';
import { packageRoot } from '../base/package-root.ts';
import { attributeOf, childrenOf, SCHEMA_NAMESPACE, XML_NAMESPACE } from '../xml/element.ts';
import { parseXml } from '../xml/parse.ts';
import type { Validator } from '../xml/xsd.ts';

/** A schema and the address that its imports start from. */
export type SchemaSource = { readonly url: string; readonly bytes: Buffer };

/** What a schema of finds may import; wherever it says that they lie, our own copies are used. */
const LOCAL_COPIES: Readonly<Record<string, string>> = {
  [XML_NAMESPACE]: 'schemas/xml/xml.xsd',
  'http://www.opengis.net/gml/3.2': 'schemas/gml/gml.xsd',
};

/**
 * Compiles a schema without asking a network: its imports are answered from the copies that come with pas.
 * @throws Error that says why, where it is no schema, includes or imports what is not here, or is faulty
 */
export async function compileLocally(schema: SchemaSource): Promise<Validator> {
  const imports = await Promise.all(
    importsOf(schema).map(async ({ url, copy }) => ({ url, bytes: await readFile(join(packageRoot, copy)) })),
  );
  const { compileSchema } = await import('../xml/xsd.ts');
  return compileSchema(schema, imports);
}

function importsOf({ url, bytes }: SchemaSource): { readonly url: string; readonly copy: string }[] {
  const { root } = parseXml(bytes);
  for (const kind of ['include', 'redefine'] as const) {
    const [first] = childrenOf(root, kind, SCHEMA_NAMESPACE);
    if (first === undefined) continue;
    const other = attributeOf(first, 'schemaLocation') ?? '?';
    throw new Error(t`The schema ${url} is not one file: it has an ${kind} of ${other}.`);
  }
  return childrenOf(root, 'import', SCHEMA_NAMESPACE).flatMap((one) => {
    const namespace = attributeOf(one, 'namespace') ?? '';
    const location = attributeOf(one, 'schemaLocation');
    const copy = LOCAL_COPIES[namespace];
    if (copy === undefined) {
      const named = namespace === '' ? t`(none)` : namespace;
      throw new Error(t`The schema ${url} imports the namespace ${named}, of which pas has no copy.`);
    }
    return location === undefined ? [] : [{ url: resolved(location, url), copy }];
  });
}

/** As the XML library resolves it, also where the schema itself has no full address. */
function resolved(location: string, base: string): string {
  if (URL.canParse(base)) return new URL(location, base).href;
  const root = 'file:///';
  return new URL(location, `${root}${base}`).href.slice(root.length);
}
