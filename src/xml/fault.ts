import { SayingError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';

/** The document is not well-formed, or holds what is refused (a DTD, too deep a nesting). */
export class XmlSyntaxError extends SayingError {
  /** From 0. */
  readonly byte: number;
  /** From 1. */
  readonly line: number;
  constructor(message: Message, byte: number, line: number) {
    super(msg`${message} (line ${line}, byte ${byte})`);
    this.byte = byte;
    this.line = line;
  }
}

/** Thrown while parsing, where only the character's place is known. Never leaves the parser. */
export class Fault extends SayingError {
  readonly offset: number;
  constructor(message: Message, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** A page of records has some hundred. Each that differs costs many times its length. */
const MOST_NAMES = 10_000;

/** @param count of the names, prefixes or namespaces that the document has so far */
export function refuseMoreNames(count: number, offset: number): void {
  if (count > MOST_NAMES) throw new Fault(msg`there are more than ${MOST_NAMES} different names`, offset);
}

/** The outline of a large area has a tenth of it. What is held of a text as it is read, and written down, is several times its length. */
const MOST_TEXT_BYTES = 4 * 1024 * 1024;

export function refuseLongText(lengthBytes: number, offset: number): void {
  if (lengthBytes > MOST_TEXT_BYTES) throw new Fault(msg`a text is longer than ${MOST_TEXT_BYTES} bytes`, offset);
}
