import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { trimText } from '../base/characters.ts';
import {
  ConfigError,
  getErrorMessage,
  getLocalizedMessage,
  LocalizedError,
} from '../base/errors.ts';
import { type Issue, makeErrorIssue } from '../base/issue.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import { packageRoot } from '../base/own-files.ts';
import { buildXml, replaceCharactersIllegalInXml, type XmlNode } from '../base/xml/build.ts';
import {
  getAttribute,
  getChildren,
  SCHEMA_NAMESPACE,
  XML_NAMESPACE,
  type XmlDocument,
} from '../base/xml/element.ts';
import { parseXml, XmlSyntaxError } from '../base/xml/parse.ts';
import type { Validator } from '../base/xml/xsd.ts';
import { FIELDS, type Field, type FindElements, type Reference } from './fields.ts';
import type { Find } from './find.ts';

/** The part of a profile that determines the form of a document (A-DECLARE-1). */
export type DocumentProfile = {
  /** `svc` in the contract; a deployed service may have another one. */
  readonly prefix: string;
  /** `{schema_base}`, without a final slash. */
  readonly schemaBase: string;
  /** `2.2` */
  readonly schemaVersion: string;
};

/** Returns the target namespace of the profile's schema, `{schema_base}/<x.y>/` (A-DECLARE-1). */
export function getTargetNamespace(profile: DocumentProfile): string {
  return `${profile.schemaBase}/${profile.schemaVersion}/`;
}

/**
 * Returns the address of the profile's schema, `{schema_base}/<x.y>/{prefix}.xsd` (A-DECLARE-1).
 */
export function getSchemaLocation(profile: DocumentProfile): string {
  return `${getTargetNamespace(profile)}${profile.prefix}.xsd`;
}

type NamesProblem = {
  readonly isCertain: boolean;
  readonly message: Message;
  readonly todo: Message;
};

/**
 * Compares the prefix and the namespace of the profile with those in an answer of the service.
 * Undefined where they agree, or where the namespace is not that of a schema (`base/x.y/`).
 * `message` names the difference, `todo` the settings to change or whom to ask. `isCertain`: the
 * service refuses every import; false where only the version differs, which it may accept.
 */
export function findSchemaNamesProblem(
  profile: DocumentProfile,
  { prefix, namespace }: { readonly prefix: string; readonly namespace: string },
): NamesProblem | undefined {
  const [, base, version] = /^(.+)\/(\d+\.\d+)\/$/.exec(namespace) ?? [];
  if (base === undefined || version === undefined) return undefined;
  if (prefix !== profile.prefix || base !== profile.schemaBase)
    return {
      isCertain: true,
      message: msg`The service refuses every import of this profile: its schema is ${prefix} at ${base}, but the profile has ${profile.prefix} at ${profile.schemaBase}.`,
      todo: msg`Set prefix = "${prefix}" and schema_base = "${base}" in the profile.`,
    };
  if (version === profile.schemaVersion) return undefined;
  return {
    isCertain: false,
    message: msg`The service may refuse every import of this profile: it uses schema version ${version}, but the profile has ${profile.schemaVersion}.`,
    todo: msg`Ask the operator which schema_version imports need.`,
  };
}

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';

/** An import always requests a new identifier (A-FIELD-5). */
const NEW_IDENTIFIER = ':tba';

/**
 * Builds the import document of a find: the exact bytes that are validated, stored, digested and
 * sent. It omits absent elements, blank texts, references without an identifier, and the point that
 * `geom_system` does not select. A character that XML cannot hold becomes U+FFFD, so that the find
 * can be shown; the rules report it, and such a document is never sent.
 */
export function buildDocument(find: Find, profile: DocumentProfile): Buffer {
  return buildXml(makeDocumentNode(find.elements, profile));
}

/**
 * Returns the bytes of a document up to its first value, by which documents of this prefix, schema
 * base and version are recognised: all of them begin so, and no others.
 */
export function makeDocumentHead(profile: DocumentProfile): Buffer {
  const document = buildXml(makeDocumentNode({}, profile));
  return document.subarray(0, document.indexOf(NEW_IDENTIFIER));
}

/**
 * Makes the tree of an import document in the order of the schema (A-FIELD-1), without what
 * {@link buildDocument} omits; `ident_cely` is `:tba`, which requests a new identifier.
 */
export function makeDocumentNode(elements: FindElements, profile: DocumentProfile): XmlNode {
  const { prefix } = profile;
  const children: XmlNode[] = [{ name: `${prefix}:ident_cely`, content: NEW_IDENTIFIER }];
  const protectedChildren: XmlNode[] = [];
  for (const field of FIELDS) {
    const node = makeFieldNode(field, elements, `${prefix}:${field.name}`);
    if (node === undefined) continue;
    if (field.parent === undefined) children.push(node);
    else protectedChildren.push(node);
  }
  // In the schema it stands behind all elements that a client sends.
  if (protectedChildren.length > 0)
    children.push({ name: `${prefix}:chranene_udaje`, content: protectedChildren });
  return {
    name: `${prefix}:${prefix}`,
    attributes: makeRootAttributes(profile),
    content: [{ name: `${prefix}:samostatny_nalez`, content: children }],
  };
}

function makeRootAttributes(profile: DocumentProfile): NonNullable<XmlNode['attributes']> {
  return {
    [`xmlns:${profile.prefix}`]: getTargetNamespace(profile),
    'xmlns:xsi': XSI,
    'xsi:schemaLocation': `${getTargetNamespace(profile)} ${getSchemaLocation(profile)}`,
  };
}

/** Caches nodes: the finds of a table share the references of equal cells. */
const referenceNodes = new WeakMap<Reference, XmlNode>();

/** Returns undefined for what {@link buildDocument} omits. */
function makeFieldNode(field: Field, elements: FindElements, name: string): XmlNode | undefined {
  const value = elements[field.name];
  if (value === undefined) return undefined;
  if (typeof value === 'object') {
    const existing = referenceNodes.get(value);
    if (existing?.name === name) return existing;
    const id = normalizeXmlText(value.id);
    if (id === '') return undefined;
    const attributes: Record<string, string> =
      field.kind === 'term' ? { 'xml:lang': 'cs', id } : { id };
    const node = { name, attributes, content: normalizeXmlText(value.text) || id };
    referenceNodes.set(value, node);
    return node;
  }
  const text = normalizeXmlText(String(value));
  if (text === '') return undefined;
  if (field.kind !== 'point') return { name, content: text };
  return field.epsg === elements.geom_system
    ? { name, attributes: { EPSG: field.epsg ?? '' }, content: text }
    : undefined;
}

/**
 * Returns the text that a parser reads back from a document, trimmed as the service trims each
 * text.
 */
function normalizeXmlText(text: string): string {
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  return trimText(replaceCharactersIllegalInXml(lines));
}

/**
 * A compiled schema of a profile, which is used for many documents. `check` returns no issue for
 * a valid document.
 */
export type FindSchema = {
  readonly profile: DocumentProfile;
  /** Returns issues with `line` and `element` where they are known, in English. */
  check(document: Buffer): readonly Issue[];
};

/** Reads the schema that was fetched from the profile's own service; undefined where none was. */
export type ReadOwnSchema = (profile: DocumentProfile) => Promise<SchemaSource | undefined>;

/**
 * Opens the schema that `readOwn` returns, else the bundled one of the profile's version. Nothing
 * is fetched; a schema is compiled once per process. The XML library is loaded here, since most
 * commands need none.
 * @param readOwn by default returns undefined, as if no schema was ever fetched
 * @throws ConfigError where no schema of the version is bundled, or the schema is not usable
 */
export async function openFindSchema(
  profile: DocumentProfile,
  readOwn: ReadOwnSchema = async () => undefined,
): Promise<FindSchema> {
  const ownSource = await readOwn(profile);
  const validator = await getCompiled(ownSource ?? (await readBundledSchema(profile))).catch(
    (thrown: unknown) => {
      throw new ConfigError(getErrorMessage(thrown), {
        cause: thrown,
        hint: msg`Fetch it again with \`${cmd`pas schema --update`}\`, or return to the bundled one: ${cmd`pas schema --bundled`}`,
      });
    },
  );
  return {
    profile,
    check(document) {
      const { wellFormed, violations } = validator.validate(document);
      const rule = wellFormed ? 'schema' : 'xml-not-well-formed';
      return violations.map(({ line, element, message }) =>
        makeErrorIssue(rule, message, { line: line ?? undefined, element }),
      );
    },
  };
}

/**
 * Reads the schema that pas brings for the profile's version, with the profile's `schema_base`
 * and prefix in place of its placeholders. `url` identifies it and leads nowhere.
 * @throws ConfigError where pas brings no schema of that version
 */
export async function readBundledSchema(profile: DocumentProfile): Promise<SchemaSource> {
  const template = await readSchema(profile.schemaVersion);
  const { fillPlaceholders } = await import('../base/xml/xsd.ts');
  return {
    url: `bundled:/svc/${profile.schemaVersion}/svc.xsd`,
    bytes: fillPlaceholders(template, { schema_base: profile.schemaBase, prefix: profile.prefix }),
  };
}

async function readSchema(version: string): Promise<Buffer> {
  if (!/^\d+\.\d+$/.test(version)) throw makeUnknownVersionError(version);
  try {
    return await readFile(join(packageRoot, 'schemas/svc', version, 'svc.xsd'));
  } catch (error) {
    throw makeUnknownVersionError(version, error);
  }
}

function makeUnknownVersionError(version: string, cause?: unknown): ConfigError {
  return new ConfigError(msg`pas has no schema of version ${version}.`, {
    hint: msg`Set schema_version of the profile to 2.2, the version that the service accepts.`,
    cause,
  });
}

type SchemaSource = { readonly url: string; readonly bytes: Buffer };

/**
 * Namespaces that a schema of finds may import; the bundled copies are used for any schemaLocation.
 */
const LOCAL_COPIES: Readonly<Record<string, string>> = {
  [XML_NAMESPACE]: 'schemas/xml/xml.xsd',
  'http://www.opengis.net/gml/3.2': 'schemas/gml/gml.xsd',
};

/** Compiled schemas of the process: compiling takes as long as checking ten finds. */
const compiled = new Map<string, Promise<Validator>>();

function getCompiled(schema: SchemaSource): Promise<Validator> {
  const key = `${schema.url}\n${createHash('sha256').update(schema.bytes).digest('hex')}`;
  const known = compiled.get(key) ?? compileLocally(schema);
  compiled.set(key, known);
  return known;
}

/**
 * Compiles a schema without a network: imports are read from the bundled copies.
 * @throws Error with the reason, where the bytes are no schema, include or import other files, or
 * are faulty
 */
async function compileLocally(schema: SchemaSource): Promise<Validator> {
  const imports = await Promise.all(
    listSchemaImports(schema).map(async ({ url, copy }) => ({
      url,
      bytes: await readFile(join(packageRoot, copy)),
    })),
  );
  const { compileSchema } = await import('../base/xml/xsd.ts');
  return compileSchema(schema, imports);
}

/**
 * Lists the imports that name a location, with the bundled copy of each.
 * @throws LocalizedError where the schema needs a file of which pas has no copy; XmlSyntaxError
 */
function listSchemaImports({
  url,
  bytes,
}: SchemaSource): { readonly url: string; readonly copy: string }[] {
  const { root } = parseXml(bytes);
  const otherFiles = ['include', 'redefine', 'import']
    .flatMap((kind) => getChildren(root, kind, SCHEMA_NAMESPACE))
    .filter((one) => LOCAL_COPIES[getAttribute(one, 'namespace') ?? ''] === undefined)
    .map((one) => getAttribute(one, 'schemaLocation') ?? '?')
    .join(', ');
  if (otherFiles !== '')
    throw new LocalizedError(
      msg`The schema ${url} needs other files, of which pas has no copy: ${otherFiles}`,
    );
  return getChildren(root, 'import', SCHEMA_NAMESPACE).flatMap((one) => {
    const namespace = getAttribute(one, 'namespace') ?? '';
    const location = getAttribute(one, 'schemaLocation');
    const copy = LOCAL_COPIES[namespace];
    return location === undefined || copy === undefined
      ? []
      : [{ url: new URL(location, url).href, copy }];
  });
}

/** The bundled schema has less than 50 kB. */
export const MAX_SCHEMA_BYTES = 1024 * 1024;

/**
 * Explains why a schema is not usable for a profile: larger than {@link MAX_SCHEMA_BYTES}, not
 * well-formed, with another namespace or root element than the profile's, or not compilable with
 * the bundled copies of what it imports. Undefined where it is usable. Nothing is fetched.
 */
export async function findSchemaProblem(
  schema: SchemaSource,
  profile: DocumentProfile,
): Promise<Message | undefined> {
  if (schema.bytes.length > MAX_SCHEMA_BYTES)
    return msg`it has ${schema.bytes.length} bytes; pas reads at most ${MAX_SCHEMA_BYTES}`;
  try {
    const problem = findRootProblem(parseXml(schema.bytes), profile);
    if (problem !== undefined) return problem;
    (await compileLocally(schema))[Symbol.dispose]();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof XmlSyntaxError)
      return msg`it is not a complete XML document: ${thrown.says}`;
    if (thrown instanceof Error) return getLocalizedMessage(thrown);
    throw thrown;
  }
}

function findRootProblem({ root }: XmlDocument, profile: DocumentProfile): Message | undefined {
  if (root.name !== 'schema' || root.namespace !== SCHEMA_NAMESPACE)
    return msg`its root is <${root.name}>, so it is not an XML schema`;
  const namespace = getAttribute(root, 'targetNamespace') ?? '';
  const expected = getTargetNamespace(profile);
  if (namespace !== expected) return msg`its namespace is "${namespace}", not ${expected}`;
  const hasRoot = getChildren(root, 'element').some(
    (element) => getAttribute(element, 'name') === profile.prefix,
  );
  return hasRoot ? undefined : msg`it does not declare the element ${profile.prefix}`;
}
