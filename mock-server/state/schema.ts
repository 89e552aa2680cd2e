import { readFileSync } from 'node:fs';
import type { XmlDocument, XsdValidator } from 'libxml2-wasm';
import type { Addresses } from '../base/addresses.ts';
import { getPackagePath } from '../base/package-files.ts';

type Xml = typeof import('libxml2-wasm');

type SchemaError = { readonly line: number; readonly column: number; readonly message: string };

/** Maximum size of a parsed document; a find has a few kilobytes. */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** Address under which the parser finds the one imported schema. */
const XML_XSD = 'mock-server:xml.xsd';

/** Maximum of cached schemas; each address by which clients reach the server has its own. */
const MAX_VALIDATORS = 12;

/** Parses XML and validates it by the schemas of this deployment, without network access. */
export class Schemas {
  readonly #addresses: Addresses;
  readonly #validators = new Map<string, Promise<XsdValidator>>();

  constructor(addresses: Addresses) {
    this.#addresses = addresses;
  }

  /** Returns the schema file of a version, with the deployment's addresses. */
  readText(version: string, schemaBase = this.#addresses.schemaBase): string {
    return readFileSync(getPackagePath('schemas', 'svc', version, 'svc.xsd'), 'utf8')
      .replaceAll('{schema_base}', schemaBase)
      .replaceAll('{prefix}', this.#addresses.prefix)
      .replace('../../xml/xml.xsd', `${schemaBase}/xml.xsd`);
  }

  readXmlSchema(): string {
    return readFileSync(getPackagePath('schemas', 'xml', 'xml.xsd'), 'utf8');
  }

  /** Compiles what the first import needs. */
  async warmUp(version: string): Promise<void> {
    await this.#getValidator(version, this.#addresses.schemaBase);
  }

  /** See {@link withXml}. */
  withDocument<T>(
    bytes: Buffer,
    use: (document: XmlDocument, xml: Xml) => Promise<T> | T,
  ): Promise<T | undefined> {
    return withXml(bytes, use);
  }

  /**
   * Returns every violation, in document order.
   * @param schemaBase address in the document
   */
  async findErrors(
    document: XmlDocument,
    version: string,
    schemaBase = this.#addresses.schemaBase,
  ): Promise<SchemaError[]> {
    const xml = await loadXml();
    const validator = await this.#getValidator(version, schemaBase);
    try {
      validator.validate(document);
      return [];
    } catch (thrown) {
      // The validator fails for a document with entities of its own; the service reads no DTD
      // either.
      if (thrown instanceof xml.XmlError && !(thrown instanceof xml.XmlValidateError))
        return [makeEntityError(document)];
      if (!(thrown instanceof xml.XmlValidateError)) throw thrown;
      return thrown.details.map((error) => ({
        line: error.line,
        column: error.col,
        message: error.message.trim(),
      }));
    }
  }

  dispose(): void {
    for (const key of this.#validators.keys()) this.#forget(key);
  }

  #getValidator(version: string, schemaBase: string): Promise<XsdValidator> {
    const key = `${version} ${schemaBase}`;
    const cached = this.#validators.get(key);
    if (cached !== undefined) return cached;
    const compiled = this.#compile(version, schemaBase);
    this.#validators.set(key, compiled);
    const [oldest] = this.#validators.keys();
    if (this.#validators.size > MAX_VALIDATORS && oldest !== undefined) this.#forget(oldest);
    return compiled;
  }

  /** Frees a schema after the validations that wait for it. */
  #forget(key: string): void {
    this.#validators
      .get(key)
      ?.then((validator) => validator.dispose())
      .catch(() => {});
    this.#validators.delete(key);
  }

  async #compile(version: string, schemaBase: string): Promise<XsdValidator> {
    const xml = await loadXml();
    const source = this.readText(version, schemaBase).replace(`${schemaBase}/xml.xsd`, XML_XSD);
    const document = xml.XmlDocument.fromString(source);
    const xmlXsd = readFileSync(getPackagePath('schemas', 'xml', 'xml.xsd'));
    // The parser has one list of inputs per process, which each compilation clears.
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
 * Passes a parsed document to `use`, then frees it; undefined where not well-formed. No DTD or
 * external entity is loaded.
 */
export async function withXml<T>(
  bytes: Buffer,
  use: (document: XmlDocument, xml: Xml) => Promise<T> | T,
): Promise<T | undefined> {
  if (bytes.length === 0 || bytes.length > MAX_DOCUMENT_BYTES) return undefined;
  const xml = await loadXml();
  let document: XmlDocument;
  try {
    const option =
      xml.ParseOption.XML_PARSE_NONET |
      xml.ParseOption.XML_PARSE_NO_XXE |
      xml.ParseOption.XML_PARSE_BIG_LINES |
      xml.ParseOption.XML_PARSE_NOCDATA;
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

function makeEntityError(document: XmlDocument): SchemaError {
  return {
    line: document.root.line,
    column: 0,
    message: 'The document refers to an entity, which cannot be validated.',
  };
}

let library: Promise<Xml> | undefined;

/** Loaded on first use: compiling the WebAssembly would double the time to the first answer. */
function loadXml(): Promise<Xml> {
  library ??= import('libxml2-wasm');
  return library;
}
