import { beforeEach, expect } from 'vitest';
import type { MockServerOptions } from '../../mock-server/server.ts';
import { makeDocument } from '../support/contract-find.ts';
import {
  fetchToken,
  importXml,
  type RawAnswer,
  type WriteOptions,
} from '../support/contract-requests.ts';
import { type TestMock, useTestMock } from '../support/start-mock.ts';

type ShownRecord = {
  readonly stav: number;
  readonly datestamp: string;
  readonly deleted: boolean;
  readonly creator: string;
  readonly body: Readonly<Record<string, unknown>>;
};

/** Tools of a test file: one mock, reset before every test, and a signed-in account. */
export type Suite = {
  readonly mock: TestMock;
  readonly control: TestMock['control'];
  /** A record as the control interface shows it. */
  record(ident: string): Promise<ShownRecord>;
  /** The archaeologist's token. */
  token(): string;
  /**
   * Imports a find, typed as the content of the root, by the archaeologist unless told otherwise.
   */
  send(content: string, options?: WriteOptions): Promise<RawAnswer>;
  finds(): Promise<number>;
};

/** Starts one mock for the file and resets it before each test. */
export async function useMock(options: MockServerOptions = {}): Promise<Suite> {
  const mock = await useTestMock(options);
  const { control } = mock;
  let token = '';
  beforeEach(async () => {
    token = await fetchToken(mock, 'archaeologist');
  });
  return {
    mock,
    control,
    record: async (ident) => (await control('GET', `/records/${ident}`)).value as ShownRecord,
    token: () => token,
    send: (content, write) => importXml(mock, makeDocument(mock, content), { token, ...write }),
    finds: async () =>
      ((await control('GET', '/state')).value as { counts: { finds: number } }).counts.finds,
  };
}

/** One reason, as `detail`. */
export function expectDetail(answer: RawAnswer, status: number): void {
  expect(answer.status, answer.text).toBe(status);
  expect(Object.keys(answer.json ?? {})).toEqual(['detail']);
  expect(typeof answer.json?.['detail']).toBe('string');
}

export type Entry = {
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  readonly error_type: number;
};

/** A list of findings, all of one type. */
export function expectEntries(
  answer: RawAnswer,
  kind: 'schema_errors' | 'validation_errors',
  status: number,
  errorType: number,
): Entry[] {
  expect(answer.status, answer.text).toBe(status);
  expect(Object.keys(answer.json ?? {})).toEqual([kind]);
  const entries = answer.json?.[kind] as Entry[];
  expect(entries.length).toBeGreaterThan(0);
  expect(entries.map((entry) => entry.error_type)).toEqual(entries.map(() => errorType));
  for (const entry of entries)
    expect(Object.keys(entry)).toEqual(['line', 'column', 'message', 'error_type']);
  return entries;
}

export const expectInvalid = (answer: RawAnswer) =>
  expectEntries(answer, 'validation_errors', 422, 2);
export const expectAgainstSchema = (answer: RawAnswer) =>
  expectEntries(answer, 'schema_errors', 422, 2);
