import { setImmediate } from 'node:timers/promises';

/** The end of an answer that is a page of a list, with a token of plain characters. */
const END_OF_PAGE =
  /<([\w.-]+:)?resumptionToken(?:\s[^<>]*)?>\s*([!-%'-;=?-~]+)\s*<\/\1resumptionToken>\s*<\/[\w.:-]+>\s*<\/[\w.:-]+>\s*$/;
const END_BYTES = 2048;

/**
 * A guess at the next token from the bytes of a page that is not read yet; whoever uses it must compare it with the token
 * that reading finds. Undefined where the end looks in any way unusual.
 */
export function peekResumptionToken(body: Buffer): string | undefined {
  return END_OF_PAGE.exec(body.toString('latin1', Math.max(0, body.length - END_BYTES)))?.[2];
}

/** Reading a page holds the process; requests that were begun before should be on their way by then. */
export async function yieldToIo(): Promise<void> {
  for (let turn = 0; turn < TURNS_OF_A_REQUEST; turn++) await setImmediate();
}

const TURNS_OF_A_REQUEST = 3;
