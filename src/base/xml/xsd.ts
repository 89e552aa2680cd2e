import type { XmlDocument, XsdValidator } from 'libxml2-wasm';
import { LocalizedError } from '../errors.ts';
import { type Message, msg } from '../message.ts';
import { XML_NAMESPACE } from './element.ts';

/** Loaded when a schema is compiled: it is WebAssembly, whose loading is asynchronous. */
type Library = typeof import('libxml2-wasm');

/**
 * A schema and the address under which others import it: `svc/2.2/svc.xsd` imports
 * `../../xml/xml.xsd` as `xml/xml.xsd`.
 */
export type SchemaFile = { readonly url: string; readonly bytes: Buffer };

type SchemaViolation = {
  /**
   * From 1; the last line of the start tag for a fault of an element. Null for a fault outside the
   * document.
   */
  readonly line: number | null;
  /** The fault in English, without the namespaces of the schema; `xml:lang` keeps its prefix. */
  readonly message: Message;
  /** Local name of the element at fault. */
  readonly element?: string;
};

/** Result of the validation of one document. */
export type Validation = {
  /**
   * False where the bytes are no acceptable document (not XML, a DOCTYPE, too large), so nothing
   * was validated.
   */
  readonly wellFormed: boolean;
  readonly violations: readonly SchemaViolation[];
};

/** A compiled schema, to be disposed: its memory is not collected. */
export type Validator = {
  /** Returns all violations. Reads only the given bytes. Throws Error once it is disposed. */
  validate(document: Buffer): Validation;
  [Symbol.dispose](): void;
};

/**
 * WASM memory never shrinks, and failed allocations there are not reported, so larger documents are
 * refused first.
 */
export const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

function parseSchemaDocument(
  { ParseOption, XmlDocument }: Library,
  bytes: Buffer,
  url?: string,
): XmlDocument {
  const option =
    ParseOption.XML_PARSE_NONET |
    ParseOption.XML_PARSE_NO_XXE |
    ParseOption.XML_PARSE_BIG_LINES |
    // The tree is only read, so short texts may be stored in their nodes; a find parses 8 % faster.
    ParseOption.XML_PARSE_COMPACT;
  return XmlDocument.fromBuffer(bytes, { option, url });
}

/** Advice of libxml2 to programmers in its messages about limits. */
const PARSER_ADVICE = /,? (?:use|try|see) (?:XML_PARSE_HUGE|xmlCtxt\w+)(?: option)?/;

/**
 * Compiles a schema (XML Schema 1.0), which may import `imports` by their addresses, and nothing
 * from disk or network. The caller must dispose of the validator.
 * @throws LocalizedError where the schema is faulty or imports another file
 */
export async function compileSchema(
  main: SchemaFile,
  imports: readonly SchemaFile[],
): Promise<Validator> {
  const library = await import('libxml2-wasm');
  const held: { dispose(): void }[] = [];
  try {
    const document = parseSchemaDocument(library, main.bytes, main.url);
    held.push(document);
    const schema = withInputs(library, imports, () => library.XsdValidator.fromDoc(document));
    // The compiled schema points into its document, so the document is disposed last.
    held.unshift(schema);
    const namespaces = [main, ...imports].map(getTargetNamespace);
    return makeValidator({ library, schema, namespaces }, held);
  } catch (error) {
    for (const resource of held) resource.dispose();
    const reason = error instanceof Error ? error.message.trim() : String(error);
    throw new LocalizedError(msg`The schema ${main.url} cannot be used: ${reason}`, {
      cause: error,
    });
  }
}

/**
 * Replaces the placeholders `{name}` of a schema's template in UTF-8 by the values of these names,
 * escaped for attributes in double quotes.
 * @throws Error where a placeholder has no value
 */
export function fillPlaceholders(
  template: Buffer,
  values: Readonly<Record<string, string>>,
): Buffer {
  const filled = template
    .toString('utf8')
    .replace(/\{([a-z_]+)\}/g, (placeholder, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`no value for the placeholder ${placeholder}`);
      return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
    });
  return Buffer.from(filled, 'utf8');
}

type CompiledSchema = {
  readonly library: Library;
  readonly schema: XsdValidator;
  /** Target namespaces of all its files. */
  readonly namespaces: readonly string[];
};

/** @param held freed in this order when the validator is disposed */
function makeValidator(compiled: CompiledSchema, held: readonly { dispose(): void }[]): Validator {
  let disposed = false;
  return {
    validate(document) {
      // The library would take a freed schema for "no schema" and follow the document's own
      // schemaLocation.
      if (disposed) throw new Error('this validator was disposed');
      return validateDocument(compiled, document);
    },
    [Symbol.dispose]() {
      if (disposed) return;
      disposed = true;
      for (const resource of held) resource.dispose();
    },
  };
}

/** A document that is too large, or has a DOCTYPE, counts as not well-formed. */
function validateDocument(
  { library, schema, namespaces }: CompiledSchema,
  bytes: Buffer,
): Validation {
  if (bytes.length > MAX_DOCUMENT_BYTES) {
    const message = msg`The document has ${bytes.length} bytes; pas reads at most ${MAX_DOCUMENT_BYTES}.`;
    return { wellFormed: false, violations: [{ line: null, message }] };
  }
  let document: XmlDocument;
  try {
    document = parseSchemaDocument(library, bytes);
  } catch (error) {
    return { wellFormed: false, violations: toViolations(library, error, namespaces) };
  }
  try {
    if (document.dtd !== null) {
      return {
        wellFormed: false,
        violations: [
          { line: null, message: msg`A document type declaration (DOCTYPE) is not allowed.` },
        ],
      };
    }
    schema.validate(document);
    return { wellFormed: true, violations: [] };
  } catch (error) {
    return { wellFormed: true, violations: toViolations(library, error, namespaces) };
  } finally {
    document.dispose();
  }
}

/**
 * @param namespaces of the schemas
 * @throws the error itself where it is not the library's list of faults
 */
function toViolations(
  { XmlLibError }: Library,
  error: unknown,
  namespaces: readonly string[],
): SchemaViolation[] {
  if (!(error instanceof XmlLibError)) throw error;
  if (error.details.length === 0) return [{ line: null, message: error.message.trim() }];
  return error.details.map((detail) => {
    const words = detail.message.trim().replace(PARSER_ADVICE, '');
    const message = namespaces.reduce(
      (text, namespace) =>
        text.replaceAll(`{${namespace}}`, namespace === XML_NAMESPACE ? 'xml:' : ''),
      words,
    );
    const element = /^Element '(?:\{[^}']*\})?([^'{}]+)'/.exec(message)?.[1];
    return {
      line: detail.line > 0 ? detail.line : null,
      message,
      element,
    };
  });
}

/** Returns it as it is written, with its references. */
function getTargetNamespace({ bytes }: SchemaFile): string {
  return /\stargetNamespace\s*=\s*["']([^"']*)/.exec(bytes.toString('latin1'))?.[1] ?? '';
}

/**
 * The library's list of inputs is global, so it is filled only while `use` runs, and never across
 * an await.
 */
function withInputs<T>(library: Library, files: readonly SchemaFile[], use: () => T): T {
  const { XmlBufferInputProvider, xmlCleanupInputProvider, xmlRegisterInputProvider } = library;
  const provider = new XmlBufferInputProvider(
    Object.fromEntries(files.map((file) => [file.url, file.bytes])),
  );
  if (!xmlRegisterInputProvider(provider)) throw new Error('the XML library takes no more inputs');
  try {
    return use();
  } finally {
    xmlCleanupInputProvider();
  }
}
