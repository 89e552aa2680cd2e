import { t } from '../base/language.ts';
/** The document is not well-formed, or holds what is refused (a DTD, too deep a nesting). */
export class XmlSyntaxError extends Error {
  /** From 0. */
  readonly byte: number;
  /** From 1. */
  readonly line: number;
  constructor(message: string, byte: number, line: number) {
    super(t`${message} (line ${line}, byte ${byte})`);
    this.name = 'XmlSyntaxError';
    this.byte = byte;
    this.line = line;
  }
}

/** Thrown while parsing, where only the character's place is known. Never leaves the parser. */
export class Fault extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}
