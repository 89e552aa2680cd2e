import { readFileSync } from 'node:fs';
import type { XmlDocument, XsdValidator } from 'libxml2-wasm';
import type { Addresses } from './addresses.ts';
import { packagePath } from './package-files.ts';

type Xml = typeof import('libxml2-wasm');

type SchemaError = { readonly line: number; readonly column: number; readonly message: string };

/** Longest document that is read as XML; a find has a few kilobytes. */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** The address under which the parser finds the one schema that ours import. */
const XML_XSD = 'mock-server:xml.xsd';

/** Reads XML and judges it by the schemas that this deployment serves. Nothing is ever fetched from the network. */
export class Schemas {
  readonly #addresses: Addresses;
  readonly #validators = new Map<string, Promise<XsdValidator>>();

  constructor(addresses: Addresses) {
    this.#addresses = addresses;
  }

  /** The schema file of a version as it is served, with the deployment's addresses in it. */
  text(version: string): string {
    return readFileSync(packagePath('schemas', 'svc', version, 'svc.xsd'), 'utf8')
      .replaceAll('{schema_base}', this.#addresses.schemaBase)
      .replaceAll('{prefix}', this.#addresses.prefix)
      .replace('../../xml/xml.xsd', `${this.#addresses.schemaBase}/xml.xsd`);
  }

  xmlSchemaText(): string {
    return readFileSync(packagePath('schemas', 'xml', 'xml.xsd'), 'utf8');
  }

  /** Compiles what the first import will need. */
  async warmUp(version: string): Promise<void> {
    await this.#validator(version);
  }

  /** See {@link withXml}. */
  withDocument<T>(bytes: Buffer, use: (document: XmlDocument, xml: Xml) => Promise<T> | T): Promise<T | undefined> {
    return withXml(bytes, use);
  }

  /** Every violation, in document order. */
  async errorsOf(document: XmlDocument, version: string): Promise<SchemaError[]> {
    const xml = await loadXml();
    const validator = await this.#validator(version);
    try {
      validator.validate(document);
      return [];
    } catch (thrown) {
      // The validator cannot judge a document that refers to entities of its own; the service reads no DTD either.
      if (thrown instanceof xml.XmlError && !(thrown instanceof xml.XmlValidateError)) return [entityError(document)];
      if (!(thrown instanceof xml.XmlValidateError)) throw thrown;
      return thrown.details.map((found) => ({ line: found.line, column: found.col, message: found.message.trim() }));
    }
  }

  dispose(): void {
    for (const pending of this.#validators.values()) pending.then((validator) => validator.dispose()).catch(() => {});
    this.#validators.clear();
  }

  #validator(version: string): Promise<XsdValidator> {
    const known = this.#validators.get(version);
    if (known !== undefined) return known;
    const compiled = this.#compile(version);
    this.#validators.set(version, compiled);
    return compiled;
  }

  async #compile(version: string): Promise<XsdValidator> {
    const xml = await loadXml();
    const source = this.text(version).replace(`${this.#addresses.schemaBase}/xml.xsd`, XML_XSD);
    const document = xml.XmlDocument.fromString(source);
    const xmlXsd = readFileSync(packagePath('schemas', 'xml', 'xml.xsd'));
    // The parser's list of inputs is one for the process, and whoever else compiles a schema in it empties it.
    xml.xmlRegisterInputProvider(new xml.XmlBufferInputProvider({ [XML_XSD]: xmlXsd }));
    try {
      return xml.XsdValidator.fromDoc(document);
    } finally {
      xml.xmlCleanupInputProvider();
      document.dispose();
    }
  }
}

/**
 * Hands a parsed document to `use` and frees it afterwards. DTDs and external entities are not loaded.
 * @returns what `use` returns, or undefined where the bytes are not well-formed XML
 */
export async function withXml<T>(
  bytes: Buffer,
  use: (document: XmlDocument, xml: Xml) => Promise<T> | T,
): Promise<T | undefined> {
  if (bytes.length === 0 || bytes.length > MAX_DOCUMENT_BYTES) return undefined;
  const xml = await loadXml();
  let document: XmlDocument;
  try {
    const option = xml.ParseOption.XML_PARSE_NONET | xml.ParseOption.XML_PARSE_NO_XXE | xml.ParseOption.XML_PARSE_BIG_LINES;
    document = xml.XmlDocument.fromBuffer(bytes, { option });
  } catch (thrown) {
    if (thrown instanceof xml.XmlError) return undefined;
    throw thrown;
  }
  try {
    return await use(document, xml);
  } finally {
    document.dispose();
  }
}

function entityError(document: XmlDocument): SchemaError {
  return { line: document.root.line, column: 0, message: 'The document refers to an entity, which cannot be validated.' };
}

let library: Promise<Xml> | undefined;

/** Loaded when first needed: compiling the WebAssembly would double the time to the first answer. */
function loadXml(): Promise<Xml> {
  library ??= import('libxml2-wasm');
  return library;
}
