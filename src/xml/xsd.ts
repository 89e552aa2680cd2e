import {
  ParseOption,
  XmlBufferInputProvider,
  XmlDocument,
  XmlLibError,
  XsdValidator,
  xmlCleanupInputProvider,
  xmlRegisterInputProvider,
} from 'libxml2-wasm';
import { SayingError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import { XML_NAMESPACE } from './element.ts';

/** A schema and the address under which others import it: `svc/2.2/svc.xsd` imports `../../xml/xml.xsd` as `xml/xml.xsd`. */
export type SchemaFile = { readonly url: string; readonly bytes: Buffer };

export type SchemaViolation = {
  /** From 1; the last line of the start tag where an element is at fault. Null where nothing in the document is. */
  readonly line: number | null;
  /** What is wrong, in English, without the namespaces that the schema itself defines; `xml:lang` has its prefix. */
  readonly message: Message;
  /** Local name of the element at fault. */
  readonly element?: string;
};

export type Validation = {
  /** False where the bytes were not taken as a document (not XML, a DOCTYPE, too large), so nothing was validated. */
  readonly wellFormed: boolean;
  readonly violations: readonly SchemaViolation[];
};

export type Validator = {
  /** All violations at once. Reads nothing but the given bytes. */
  validate(document: Buffer): Validation;
  [Symbol.dispose](): void;
};

/** WASM memory never shrinks, and an allocation that fails there is not reported: larger documents don't get that far. */
export const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

const PARSE_OPTIONS =
  ParseOption.XML_PARSE_NONET |
  ParseOption.XML_PARSE_NO_XXE |
  ParseOption.XML_PARSE_BIG_LINES |
  // The tree is only read, so short texts may stand in their nodes; a find parses 8 % faster.
  ParseOption.XML_PARSE_COMPACT;

/** What libxml2 tells programmers who run into one of its limits. */
const PARSER_ADVICE = /,? (?:use|try|see) (?:XML_PARSE_HUGE|xmlCtxt\w+)(?: option)?/;

/**
 * Compiles a schema once, for many documents. Its imports are looked up among `imports` only: neither disk nor network
 * is ever asked.
 *
 * @throws Error when the schema itself is faulty or imports something that was not given
 */
export function compileSchema(main: SchemaFile, imports: readonly SchemaFile[]): Validator {
  const held: { dispose(): void }[] = [];
  try {
    const document = XmlDocument.fromBuffer(main.bytes, { url: main.url, option: PARSE_OPTIONS });
    held.push(document);
    const schema = withInputs(imports, () => XsdValidator.fromDoc(document));
    // The compiled schema points into its document, so the document goes last.
    held.unshift(schema);
    let namespaces: readonly string[] | undefined;
    return makeValidator(schema, held, () => {
      namespaces ??= [main, ...imports].map(targetNamespaceOf);
      return namespaces;
    });
  } catch (error) {
    for (const resource of held) resource.dispose();
    const reason = error instanceof Error ? error.message.trim() : String(error);
    throw new SayingError(msg`The schema ${main.url} cannot be used: ${reason}`, { cause: error });
  }
}

/**
 * Puts values in the place of `{name}` placeholders, escaped so that they can stand in an attribute.
 *
 * @throws Error when a placeholder is left without a value
 */
export function fillPlaceholders(template: Buffer, values: Readonly<Record<string, string>>): Buffer {
  const filled = template.toString('utf8').replace(/\{([a-z_]+)\}/g, (placeholder, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for the placeholder ${placeholder}`);
    return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  });
  return Buffer.from(filled, 'utf8');
}

function makeValidator(
  schema: XsdValidator,
  held: readonly { dispose(): void }[],
  namespaces: () => readonly string[],
): Validator {
  let disposed = false;
  return {
    validate(document) {
      // A compiled schema that was freed would be taken for "no schema", and the document's own schemaLocation be followed.
      if (disposed) throw new Error('this validator was disposed');
      return validateDocument(schema, document, namespaces);
    },
    [Symbol.dispose]() {
      if (disposed) return;
      disposed = true;
      for (const resource of held) resource.dispose();
    },
  };
}

function validateDocument(schema: XsdValidator, bytes: Buffer, namespaces: () => readonly string[]): Validation {
  if (bytes.length > MAX_DOCUMENT_BYTES) {
    const message = msg`The document has ${bytes.length} bytes; at most ${MAX_DOCUMENT_BYTES} are read.`;
    return { wellFormed: false, violations: [{ line: null, message }] };
  }
  let document: XmlDocument;
  try {
    document = XmlDocument.fromBuffer(bytes, { option: PARSE_OPTIONS });
  } catch (error) {
    return { wellFormed: false, violations: violationsOf(error, namespaces) };
  }
  try {
    if (document.dtd !== null) {
      return {
        wellFormed: false,
        violations: [{ line: null, message: msg`A document type declaration (DOCTYPE) is not allowed.` }],
      };
    }
    schema.validate(document);
    return { wellFormed: true, violations: [] };
  } catch (error) {
    return { wellFormed: true, violations: violationsOf(error, namespaces) };
  } finally {
    document.dispose();
  }
}

/**
 * @param namespaces that the schemas define: looked up where there is a fault, since most documents have none
 * @throws the error itself where it is not the library's list of faults
 */
function violationsOf(error: unknown, namespaces: () => readonly string[]): SchemaViolation[] {
  if (!(error instanceof XmlLibError)) throw error;
  if (error.details.length === 0) return [{ line: null, message: error.message.trim() }];
  const own = namespaces();
  return error.details.map((detail) => {
    const words = detail.message.trim().replace(PARSER_ADVICE, '');
    const message = own.reduce(
      (text, namespace) => text.replaceAll(`{${namespace}}`, namespace === XML_NAMESPACE ? 'xml:' : ''),
      words,
    );
    const element = /^Element '(?:\{[^}']*\})?([^'{}]+)'/.exec(message)?.[1];
    return { line: detail.line > 0 ? detail.line : null, message, ...(element === undefined ? {} : { element }) };
  });
}

function targetNamespaceOf(file: SchemaFile): string {
  const document = XmlDocument.fromBuffer(file.bytes, { option: PARSE_OPTIONS });
  try {
    return document.root.attr('targetNamespace')?.value ?? '';
  } finally {
    document.dispose();
  }
}

/** The library's list of inputs is global, so it is filled only while `use` runs, and never across an await. */
function withInputs<T>(files: readonly SchemaFile[], use: () => T): T {
  const provider = new XmlBufferInputProvider(Object.fromEntries(files.map((file) => [file.url, file.bytes])));
  if (!xmlRegisterInputProvider(provider)) throw new Error('the XML library takes no more inputs');
  try {
    return use();
  } finally {
    xmlCleanupInputProvider();
  }
}
