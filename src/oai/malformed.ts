import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';

/** An answer that cannot be read as OAI-PMH. Its bytes are kept, so that a person can look at them. */
export class MalformedAnswerError extends OaiError {
  readonly body: Buffer;
  /** Where reading stopped, from 0. */
  readonly byte: number | undefined;
  /** Identifier of the record in which it stopped, where one could be made out. */
  readonly record: string | undefined;

  constructor(
    message: string,
    body: Buffer,
    place: { readonly byte?: number; readonly record?: string; readonly cause?: unknown } = {},
  ) {
    super('malformed', message, {
      cause: place.cause,
      hint: t`Run the command again; what was stored is kept. If it happens again, tell the operator of the service.`,
    });
    this.body = body;
    this.byte = place.byte;
    this.record = place.record;
  }
}

/** The identifier of the record in which a byte stands, or of the last one before it. */
export function recordAt(body: Buffer, byte: number): string | undefined {
  const headers = body.toString('latin1', 0, byte).matchAll(/header[^<>]*>\s*<(?:[\w.-]+:)?identifier>\s*([^<\s]+)/g);
  return [...headers].at(-1)?.[1];
}
