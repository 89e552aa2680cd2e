import { decodeXml, EncodingError } from './decode.ts';
import { lineAt, type XmlDocument } from './element.ts';
import { Fault, XmlSyntaxError } from './fault.ts';
import { Parser, type XmlPart } from './parser.ts';

export { XmlSyntaxError } from './fault.ts';

type DecodedXml = ReturnType<typeof decodeXml>;

/**
 * Parses XML 1.0 with namespaces, strictly and without a DTD: nothing is fetched, nothing but the five entities and
 * character references is replaced, and whatever is not well-formed is an error with its place.
 * @param charset of the `Content-Type` header, where there is one
 * @param mostNodes elements, attributes and other markup together
 * @throws XmlSyntaxError
 */
export function parseXml(bytes: Buffer, charset?: string, mostNodes = Number.POSITIVE_INFINITY): XmlDocument {
  const xml = decode(bytes, charset);
  try {
    return { root: new Parser(xml.utf8, mostNodes).parse(), bytes: xml.utf8 };
  } catch (thrown) {
    throw asSyntaxError(xml, thrown);
  }
}

/** A document of which no more is held than its text and one of its parts; of the root only its start tag. */
export type XmlWalk = XmlDocument & {
  /**
   * The elements of these names that are in no other of them, in document order. They may be walked more than once; the last walk to
   * end has seen all of the document.
   * @throws XmlSyntaxError on the way
   */
  parts(names: ReadonlySet<string>): Iterable<XmlPart>;
};

/**
 * The same in parts.
 * @param mostNodes elements, attributes and other markup of a part, and of what is around the parts
 * @throws XmlSyntaxError where it does not even begin
 */
export function walkXml(bytes: Buffer, mostNodes: number): XmlWalk {
  const xml = decode(bytes);
  const parser = (): Parser => new Parser(xml.utf8, mostNodes);
  const parts = function* (names: ReadonlySet<string>): Generator<XmlPart> {
    try {
      yield* parser().parts(names);
    } catch (thrown) {
      throw asSyntaxError(xml, thrown);
    }
  };
  try {
    return { root: parser().root(), bytes: xml.utf8, parts };
  } catch (thrown) {
    throw asSyntaxError(xml, thrown);
  }
}

function decode(bytes: Buffer, charset?: string): DecodedXml {
  try {
    return decodeXml(bytes, charset);
  } catch (thrown) {
    if (!(thrown instanceof EncodingError)) throw thrown;
    throw new XmlSyntaxError(thrown.says, thrown.byte, lineAt(bytes.toString('latin1', 0, thrown.byte), thrown.byte));
  }
}

function asSyntaxError({ utf8, byteOf }: DecodedXml, thrown: unknown): unknown {
  if (!(thrown instanceof Fault)) return thrown;
  return new XmlSyntaxError(thrown.says, byteOf(thrown.offset), lineAt(utf8, thrown.offset));
}
