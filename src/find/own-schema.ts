import { ConfigError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { attributeOf, childrenOf, type XmlDocument } from '../xml/element.ts';
import { parseXml, XmlSyntaxError } from '../xml/parse.ts';
import { differencesOf, type SchemaDifference } from '../xml/xsd-differences.ts';
import { outlineOf, SCHEMA_NAMESPACE, SchemaTooLargeError } from '../xml/xsd-outline.ts';
import { type DocumentProfile, namespaceOf } from './find.ts';
import { bundledSchema } from './schema.ts';
import type { SchemaSource } from './schema-imports.ts';
import { compileLocally } from './schema-imports.ts';

/** Ours has less than 50 kB. */
export const MAX_SCHEMA_BYTES = 1024 * 1024;

/** The newest schema that comes with pas, to compare with where it has none of the profile's version. */
const NEWEST_BUNDLED = '2.2';

/**
 * Why a schema cannot be the one of this profile; undefined where it can.
 * @param charset of the `Content-Type` header, where there is one
 */
export async function findSchemaProblem(
  schema: SchemaSource,
  profile: DocumentProfile,
  charset?: string,
): Promise<string | undefined> {
  if (schema.bytes.length > MAX_SCHEMA_BYTES) return t`it has ${schema.bytes.length} bytes; at most ${MAX_SCHEMA_BYTES} are read`;
  try {
    const document = parseXml(schema.bytes, charset);
    const problem = rootProblem(document, profile);
    if (problem !== undefined) return problem;
    outlineOf(document, profile.prefix);
    (await compileLocally(schema))[Symbol.dispose]();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof XmlSyntaxError) return t`it is no whole XML document: ${thrown.message}`;
    if (thrown instanceof SchemaTooLargeError) return thrown.message;
    if (thrown instanceof Error) return thrown.message.replace(/\.$/, '');
    throw thrown;
  }
}

function rootProblem({ root }: XmlDocument, profile: DocumentProfile): string | undefined {
  if (root.name !== 'schema' || root.namespace !== SCHEMA_NAMESPACE) return t`it is <${root.name}>, not an XML schema`;
  const namespace = attributeOf(root, 'targetNamespace') ?? '';
  const expected = namespaceOf(profile);
  if (namespace === '') return t`it is for no namespace, not for ${expected}`;
  if (namespace !== expected) return t`it is for ${namespace}, not for ${expected}`;
  const hasRoot = childrenOf(root, 'element').some((element) => attributeOf(element, 'name') === profile.prefix);
  return hasRoot ? undefined : t`it declares no element ${profile.prefix}`;
}

/** How a schema differs from the one that comes with pas. */
export type Comparison = {
  /** Version of the bundled schema that it was held against. */
  readonly version: string;
  readonly differences: readonly SchemaDifference[];
};

export async function compareWithBundled(schema: SchemaSource, profile: DocumentProfile): Promise<Comparison> {
  const { bundled, version } = await nearestBundled(profile);
  const outline = ({ bytes }: SchemaSource) => outlineOf(parseXml(bytes), profile.prefix);
  return { version, differences: differencesOf(outline(bundled), outline(schema)) };
}

async function nearestBundled(profile: DocumentProfile): Promise<{ bundled: SchemaSource; version: string }> {
  try {
    return { bundled: await bundledSchema(profile), version: profile.schemaVersion };
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    return { bundled: await bundledSchema({ ...profile, schemaVersion: NEWEST_BUNDLED }), version: NEWEST_BUNDLED };
  }
}
