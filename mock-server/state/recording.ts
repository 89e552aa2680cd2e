import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { getErrorMessage } from '../base/error-message.ts';
import { type Exchange, KEPT_BYTES } from '../base/exchange.ts';
import { flag, integer, nullable, object, type Reader, ShapeError, text } from '../base/shape.ts';
import type { JournalEntry } from './journal.ts';

/** Limit of a recorded request; a longer one cannot be replayed. */
export const RECORDED_BODY_BYTES = 1024 * 1024;
const MAX_FILE_BYTES = 256 * 1024 * 1024;

const parseHeaders: Reader<Record<string, string>> = (value, place = '') => {
  if (typeof value !== 'object' || value === null) throw new ShapeError(place, 'must be an object');
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, text()(item, `${place}.${name}`)]),
  );
};
const readBody = object({
  /** Text where it is UTF-8, else Base64; null where it holds a secret. */
  text: nullable(text()),
  base64: flag,
  size_bytes: integer({ min: 0 }),
  /** Shortened. */
  cut: flag,
});
const message = object({ headers: parseHeaders, body: readBody });
const readRecorded = object({
  method: text({ min: 1 }),
  /** Requested path with the query; for a tenant below its mount. */
  path: text({ min: 1 }),
  /** Account of the token or password; null for none. */
  user: nullable(text()),
  /** 0: never answered. */
  status: integer({ min: 0 }),
  /** Fault of an operator. */
  fault: nullable(text()),
  request: message,
  answer: nullable(message),
});
type RecordedBody = ReturnType<typeof readBody>;
type RecordedMessage = ReturnType<typeof message>;
export type Recorded = ReturnType<typeof readRecorded>;

/** Requests and answers as JSON lines, each written when its answer has been sent. */
export class Recording {
  readonly #path: string;
  #file: number | undefined;
  #sizeBytes = 0;

  /** @throws Error where the file has content, or cannot be created */
  constructor(path: string) {
    this.#path = path;
    try {
      this.#file = openSync(path, 'a', 0o600);
    } catch (thrown) {
      throw new Error(`the recording ${path} cannot be written: ${getErrorMessage(thrown)}`, {
        cause: thrown,
      });
    }
    if (fstatSync(this.#file).size === 0) return;
    this.close();
    throw new Error(`the recording ${path} is there already; name another file`);
  }

  /** @param mount of the tenant; empty for none */
  write(mount: string, entry: JournalEntry, { request, answer }: Exchange): void {
    if (this.#file === undefined) return;
    const recordMessage = (
      { headers, body, sizeBytes }: Exchange['request'],
      maxBytes: number,
    ): RecordedMessage => ({
      headers,
      body: toRecordedBody(body?.subarray(0, maxBytes), sizeBytes),
    });
    const recorded: Recorded = {
      method: entry.method,
      path: mount + entry.path,
      user: entry.user,
      status: entry.status ?? 0,
      fault: entry.fault,
      request: recordMessage(request, RECORDED_BODY_BYTES),
      answer: answer === undefined ? null : recordMessage(answer, KEPT_BYTES),
    };
    const line = Buffer.from(`${JSON.stringify(recorded)}\n`);
    try {
      if (this.#sizeBytes + line.length > MAX_FILE_BYTES)
        throw new Error(`it has ${MAX_FILE_BYTES} bytes, the most that it may`);
      for (let sent = 0; sent < line.length; ) sent += writeSync(this.#file, line, sent);
      this.#sizeBytes += line.length;
    } catch (thrown) {
      // A failed recording does not stop the server, and its file stays.
      process.stderr.write(
        `mock server: the recording ${this.#path} ends here: ${getErrorMessage(thrown)}\n`,
      );
      this.close();
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

function toRecordedBody(bytes: Buffer | undefined, sizeBytes: number): RecordedBody {
  if (bytes === undefined) return { text: null, base64: false, size_bytes: sizeBytes, cut: false };
  const asText = bytes.toString('utf8');
  const base64 = !Buffer.from(asText).equals(bytes);
  return {
    text: base64 ? bytes.toString('base64') : asText,
    base64,
    size_bytes: sizeBytes,
    cut: bytes.length < sizeBytes,
  };
}

/**
 * Parses a recording. An incomplete last line of a killed server is skipped. @throws Error with the
 * line and its fault
 */
export function parseRecording(content: string): Recorded[] {
  return content
    .split('\n')
    .slice(0, -1)
    .map((line, at) => {
      try {
        return readRecorded(JSON.parse(line));
      } catch (thrown) {
        throw new Error(`line ${at + 1} is no line of a recording: ${getErrorMessage(thrown)}`, {
          cause: thrown,
        });
      }
    });
}
