import { LocalizedError } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';

/** The document is not well-formed, or contains refused markup (a DTD, too deep a nesting). */
export class XmlSyntaxError extends LocalizedError {
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
export class Fault extends LocalizedError {
  readonly offset: number;
  constructor(message: Message, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** A page of records has some hundred names. Each distinct one costs many times its length. */
const MAX_NAMES = 10_000;

/** @param count of the distinct names, prefixes or namespaces so far */
export function assertNameLimit(count: number, offset: number): void {
  if (count > MAX_NAMES) throw new Fault(msg`there are more than ${MAX_NAMES} different names`, offset);
}

/** Limit of a text; the outline of a large area has a tenth. Reading and storing a text takes several times its length. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

export function assertTextLimit(lengthBytes: number, offset: number): void {
  if (lengthBytes > MAX_TEXT_BYTES) throw new Fault(msg`a text is longer than ${MAX_TEXT_BYTES} bytes`, offset);
}
