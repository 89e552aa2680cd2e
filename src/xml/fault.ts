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
