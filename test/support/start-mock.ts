import { afterAll, beforeEach } from 'vitest';
import {
  type MockServer,
  type MockServerOptions,
  startMockServer,
} from '../../mock-server/server.ts';
import { Described } from '../contract/openapi.ts';

const CONTROL = new Described('control');

export type ControlAnswer = { readonly status: number; readonly value: unknown };

/**
 * A running mock with hands on its control interface. Disposable: `await using mock = await
 * startMock()`.
 */
export type TestMock = AsyncDisposable & {
  readonly server: MockServer;
  readonly url: string;
  control(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<ControlAnswer>;
  faults(...rules: readonly Readonly<Record<string, unknown>>[]): Promise<unknown>;
  settings(changes: Readonly<Record<string, unknown>>): Promise<unknown>;
  clock(change: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** Back to the seed, with these settings changed. */
  reset(settings?: Readonly<Record<string, unknown>>): Promise<void>;
  close(): Promise<void>;
};

/** Starts a mock in this process, with the throttle off. */
export async function startMock(options: MockServerOptions = {}): Promise<TestMock> {
  const server = await startMockServer({ minIntervalMs: 0, ...options });
  const control: TestMock['control'] = async (method, path, body) => {
    const response = await fetch(`${server.control_url}${path}`, {
      method,
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const { status, headers } = response;
    const fault = CONTROL.fault({
      method,
      path: path.split('?')[0] ?? '',
      status,
      headers: Object.fromEntries(headers),
      body: text,
    });
    if (fault !== undefined) throw new Error(fault);
    return { status, value: JSON.parse(text) };
  };
  const settings: TestMock['settings'] = (changes) => control('PUT', '/settings', changes);
  return {
    server,
    url: server.base_url,
    control,
    faults: (...rules) => control('PUT', '/faults', rules),
    settings,
    clock: (change) => control('POST', '/clock', change),
    reset: async (changes) => {
      await control('POST', '/reset');
      if (changes !== undefined) await settings(changes);
    },
    close: server.close,
    [Symbol.asyncDispose]: server.close,
  };
}

/** One for the tests of a file or of a block, as new before each of them. */
export async function useTestMock(options: MockServerOptions = {}): Promise<TestMock> {
  const mock = await startMock(options);
  beforeEach(() => mock.reset());
  afterAll(mock.close);
  return mock;
}
