import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { isWebPage, WEB_PAGE_ADVICE } from '../http/exchange.ts';
import type { XmlDocument, XmlElement } from '../xml/element.ts';
import { parseXml, XmlSyntaxError } from '../xml/parse.ts';

export const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** An answer that cannot be parsed as OAI-PMH, with its bytes for diagnosis. */
export class MalformedAnswerError extends OaiError {
  /** The whole answer, or the part that {@link MalformedAnswerError.shorten} left. */
  body: Buffer;
  readonly lengthBytes: number;
  /** Offset at which parsing stopped, from 0. */
  readonly byte: number | undefined;
  /** Identifier of the record in which parsing stopped, where it is readable. */
  readonly record: string | undefined;

  constructor(
    message: string,
    body: Buffer,
    place: { readonly byte?: number; readonly record?: string; readonly cause?: unknown } = {},
  ) {
    const isPage = isWebPage({ body });
    super(
      'malformed',
      isPage
        ? t`${message} It is a web page, as a firewall or the sign-in page of a network sends.`
        : message,
      {
        cause: place.cause,
        hint: isPage
          ? WEB_PAGE_ADVICE
          : t`Run the command again; what was stored is kept. If it happens again, tell the operator of the service.`,
      },
      isPage ? 'unavailable' : 'oaiProtocol',
    );
    this.body = body;
    this.lengthBytes = body.length;
    this.byte = place.byte;
    this.record = place.record;
  }

  /** Truncates the body to the maximum that is stored, to save memory during retries. */
  shorten(): void {
    if (this.body.length > MAX_KEPT_BYTES)
      this.body = Buffer.from(this.body.subarray(0, MAX_KEPT_BYTES));
  }
}

/** Maximum size of a record. */
const MAX_RECORD_BYTES = 1024 * 1024;

/** Returns the identifier of the record that contains a byte; undefined outside records. */
export function findRecordAt(body: Buffer, byte: number): string | undefined {
  const before = body.toString('latin1', Math.max(0, byte - MAX_RECORD_BYTES), byte);
  const headers = before.matchAll(
    /header[^<>]{0,99}>\s{0,99}<(?:[\w.-]{1,99}:)?identifier>\s{0,99}([^<\s]{1,999})/g,
  );
  const last = [...headers].at(-1);
  return last === undefined || /<\/(?:[\w.-]{1,99}:)?record\s{0,99}>/.test(before.slice(last.index))
    ? undefined
    : last[1];
}

type SalvagedPage = {
  /** The page without its broken records. */
  readonly document: XmlDocument;
  readonly broken: readonly BrokenRecord[];
};

export type BrokenRecord = {
  /** Undefined where the identifier is unreadable as well. */
  readonly identifier: string | undefined;
  readonly reason: string;
};

/**
 * Each record is parsed inside the page's frame, so the frame is parsed as often as there are
 * records.
 */
const MAX_FRAMES_CHARACTERS = 256 * 1024 * 1024;

/**
 * Removes the broken records from a page: cuts it at record tags, and parses each record inside the
 * page's frame.
 * @returns undefined where the page is broken outside its records, or has none
 */
export function recoverPage(body: Buffer): SalvagedPage | undefined {
  // Invalid bytes become a character that XML forbids, so that parsing fails in their record.
  const text = body.toString('utf8').replaceAll('\ufffd', '\ufffe');
  const pieces = splitRecords(text);
  if (pieces === undefined) return undefined;
  const { head, records, tail } = pieces;
  if ((head.length + tail.length) * records.length > MAX_FRAMES_CHARACTERS) return undefined;
  const broken: BrokenRecord[] = [];
  const whole = records.filter((record) => {
    const reason = findFault(head + record + tail);
    if (reason !== undefined) broken.push({ identifier: findIdentifier(record), reason });
    return reason === undefined;
  });
  try {
    return { document: parseXml(Buffer.from(head + whole.join('') + tail), 'utf-8'), broken };
  } catch (thrown) {
    if (thrown instanceof XmlSyntaxError) return undefined;
    throw thrown;
  }
}

function findFault(text: string): string | undefined {
  try {
    const { root } = parseXml(Buffer.from(text), 'utf-8');
    return countRecords(root) === 1 ? undefined : t`it is not separated from the next record`;
  } catch (thrown) {
    if (thrown instanceof XmlSyntaxError) return thrown.message;
    throw thrown;
  }
}

/** Counts the records at the place where the protocol has them. */
function countRecords(root: XmlElement): number {
  return root.children.flatMap(({ children }) => children).filter(({ name }) => name === 'record')
    .length;
}

type Pieces = { readonly head: string; readonly records: readonly string[]; readonly tail: string };

function splitRecords(text: string): Pieces | undefined {
  const starts = [...text.matchAll(/<(?:[\w.-]+:)?record[\s>]/g)].map(({ index }) => index);
  const [first] = starts;
  const lastEnd = /^[\s\S]*<\/(?:[\w.-]+:)?record\s*>/.exec(text)?.[0].length;
  if (first === undefined || lastEnd === undefined || lastEnd <= first) return undefined;
  const ends = [...starts.slice(1), lastEnd];
  return {
    head: text.slice(0, first),
    records: starts.map((start, index) => text.slice(start, ends[index])),
    // Text after the root is not part of the page.
    tail:
      /^[\s\S]*?<\/(?:[\w.-]+:)?OAI-PMH\s*>/.exec(text.slice(lastEnd))?.[0] ?? text.slice(lastEnd),
  };
}

/**
 * Returns the identifier of the header; undefined where it is broken itself, since half of it would
 * name another record.
 */
function findIdentifier(record: string): string | undefined {
  const header =
    /<(?:[\w.-]+:)?header(?:\s[^<>]*)?>\s*<(?:[\w.-]+:)?identifier>([^<\ufffe]+)</.exec(
      record,
    )?.[1];
  try {
    const identifier = parseXml(Buffer.from(`<t>${header ?? ''}</t>`), 'utf-8').root.text.trim();
    return identifier === '' || /\s/.test(identifier) ? undefined : identifier;
  } catch (thrown) {
    if (thrown instanceof XmlSyntaxError) return undefined;
    throw thrown;
  }
}
