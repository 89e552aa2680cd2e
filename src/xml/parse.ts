import { getLineAt, type XmlDocument, XmlFault, XmlSyntaxError } from './element.ts';
import { type DecodedXml, decodeXml } from './encoding.ts';
import { Parser, type XmlPart } from './parser.ts';

export { XmlSyntaxError } from './element.ts';

/**
 * Parses XML 1.0 with namespaces, strictly and without a DTD: nothing is fetched, only the five
 * predefined entities and character references are resolved, and any violation is an error with its
 * position.
 * @param charset of the `Content-Type` header, where there is one
 * @param maxNodes limit of elements, attributes and other markup together
 * @throws XmlSyntaxError
 */
export function parseXml(
  bytes: Buffer,
  charset?: string,
  maxNodes = Number.POSITIVE_INFINITY,
): XmlDocument {
  const xml = decodeXml(bytes, charset);
  try {
    return { root: new Parser(xml.utf8, maxNodes).parse(), bytes: xml.utf8 };
  } catch (thrown) {
    throw asSyntaxError(xml, thrown);
  }
}

/**
 * A document of which only its bytes and one part at a time are held; of the root only the start
 * tag is parsed.
 */
export type XmlWalk = XmlDocument & {
  /**
   * Yields the elements with these names that are not inside another of them, in document order.
   * Each iteration parses again; one that ends has checked the whole document.
   * @throws XmlSyntaxError during the iteration
   */
  readParts(names: ReadonlySet<string>): Iterable<XmlPart>;
};

/**
 * Parses a document in parts.
 * @param maxNodes limit of elements, attributes and other markup of a part, and of the document
 * around the parts
 * @throws XmlSyntaxError where the start of the document is malformed
 */
export function walkXml(bytes: Buffer, maxNodes: number): XmlWalk {
  const xml = decodeXml(bytes);
  const makeParser = (): Parser => new Parser(xml.utf8, maxNodes);
  const parts = function* (names: ReadonlySet<string>): Generator<XmlPart> {
    try {
      yield* makeParser().parseParts(names);
    } catch (thrown) {
      throw asSyntaxError(xml, thrown);
    }
  };
  try {
    return { root: makeParser().parseRoot(), bytes: xml.utf8, readParts: parts };
  } catch (thrown) {
    throw asSyntaxError(xml, thrown);
  }
}

function asSyntaxError({ utf8, getByte }: DecodedXml, thrown: unknown): unknown {
  if (!(thrown instanceof XmlFault)) return thrown;
  return new XmlSyntaxError(thrown.says, getByte(thrown.offset), getLineAt(utf8, thrown.offset));
}
