import { ConfigError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { attributeOf, childrenOf, SCHEMA_NAMESPACE, type XmlDocument, type XmlElement } from '../xml/element.ts';
import { parseXml, XmlSyntaxError } from '../xml/parse.ts';
import { type DocumentProfile, namespaceOf } from './find.ts';
import { bundledSchema } from './schema.ts';
import { compileLocally, type SchemaSource } from './schema-imports.ts';

/** Ours has less than 50 kB. */
export const MAX_SCHEMA_BYTES = 1024 * 1024;

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
    const problem = rootProblem(parseXml(schema.bytes, charset), profile);
    if (problem !== undefined) return problem;
    (await compileLocally(schema))[Symbol.dispose]();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof XmlSyntaxError) return t`it is no whole XML document: ${thrown.message}`;
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

/** Whether it says what the schema says that comes with pas: comments, notes and where imports lie do not count. */
export async function isSameAsBundled(bytes: Buffer, profile: DocumentProfile): Promise<boolean> {
  try {
    const bundled = await bundledSchema(profile);
    const [own, ours] = [bytes, bundled.bytes].map((each) => JSON.stringify(sayingOf(parseXml(each).root)));
    return own === ours;
  } catch (thrown) {
    // One of a version that pas does not bring.
    if (thrown instanceof ConfigError) return false;
    throw thrown;
  }
}

function sayingOf({ namespace, name, attributes, children }: XmlElement): readonly unknown[] {
  const meant = attributes.filter((attribute) => attribute.name !== 'schemaLocation');
  const said = meant.map((attribute) => `${attribute.name}=${attribute.value}`).sort();
  return [namespace, name, said, children.filter((child) => child.name !== 'annotation').map(sayingOf)];
}
