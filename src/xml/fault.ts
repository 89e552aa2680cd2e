import { SayingError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';

/** The document is not well-formed, or contains refused markup (a DTD, too deep a nesting). */
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

/** Fault at an offset; the parser converts it to {@link XmlSyntaxError}. */
export class Fault extends SayingError {
  readonly offset: number;
  constructor(message: Message, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** A page of records has some hundred names. Each distinct one costs many times its length. */
const MOST_NAMES = 10_000;

/** @param count of the distinct names, prefixes or namespaces so far */
export function refuseMoreNames(count: number, offset: number): void {
  if (count > MOST_NAMES) throw new Fault(msg`there are more than ${MOST_NAMES} different names`, offset);
}

/** Limit of a text; the outline of a large area has a tenth. Reading and storing a text takes several times its length. */
const MOST_TEXT_BYTES = 4 * 1024 * 1024;

export function refuseLongText(lengthBytes: number, offset: number): void {
  if (lengthBytes > MOST_TEXT_BYTES) throw new Fault(msg`a text is longer than ${MOST_TEXT_BYTES} bytes`, offset);
}
