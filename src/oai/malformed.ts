import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';

/** Error for an answer that cannot be read. */
export const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** An answer that cannot be read as OAI-PMH. Its bytes are kept, so that a person can look at them. */
export class MalformedAnswerError extends OaiError {
  /** The whole answer, or what {@link MalformedAnswerError.shorten} left of it. */
  body: Buffer;
  readonly lengthBytes: number;
  /** Byte at which reading stopped, from 0. */
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
    this.lengthBytes = body.length;
    this.byte = place.byte;
    this.record = place.record;
  }

  /** Leaves of the answer no more than is ever kept, while it is asked for again. */
  shorten(): void {
    if (this.body.length > MAX_KEPT_BYTES) this.body = Buffer.from(this.body.subarray(0, MAX_KEPT_BYTES));
  }
}

/** A record is far smaller. */
const LOOKED_BACK_BYTES = 1024 * 1024;

/** The identifier of the record in which a byte stands; undefined behind the end of one. */
export function recordAt(body: Buffer, byte: number): string | undefined {
  const before = body.toString('latin1', Math.max(0, byte - LOOKED_BACK_BYTES), byte);
  const headers = before.matchAll(/header[^<>]{0,99}>\s{0,99}<(?:[\w.-]{1,99}:)?identifier>\s{0,99}([^<\s]{1,999})/g);
  const last = [...headers].at(-1);
  return last === undefined || /<\/(?:[\w.-]{1,99}:)?record\s{0,99}>/.test(before.slice(last.index)) ? undefined : last[1];
}
