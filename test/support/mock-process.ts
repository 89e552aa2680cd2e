import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { startMockServer } from '../../mock-server/server.ts';
import {
  addMockServerOptions,
  type MockServerFlags,
  parseMockServerOptions,
} from '../../mock-server/state/options.ts';
import { PROJECT } from './run-pas.ts';
import { tied } from './tied.ts';

/** A mock server with hands on its control interface, for runs of `pas`. */
export type RunningMock = AsyncDisposable & {
  readonly base_url: string;
  readonly oai_base: string;
  readonly schema_base: string;
  readonly control_url: string;
  control<T>(method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<T>;
  faults(...rules: readonly Record<string, unknown>[]): Promise<void>;
  settings(changes: Readonly<Record<string, unknown>>): Promise<void>;
  clock(change: Readonly<Record<string, unknown>>): Promise<void>;
  state(): Promise<MockState>;
  journal(): Promise<JournalEntry[]>;
  stop(): Promise<void>;
};

/** The mock server as a process of its own, as an integrator runs it. */
export type MockProcess = RunningMock & { readonly child: ChildProcess };

export type MockState = { readonly finds: number; readonly photos: number };
export type JournalEntry = {
  readonly method: string;
  readonly path: string;
  readonly user: string | null;
  readonly status: number | null;
  readonly at_ms: number;
};

/**
 * In this process, which costs no start of another, and without a throttle unless the flags of the
 * command say otherwise.
 */
export async function serveMock(...flags: string[]): Promise<RunningMock> {
  const parsedFlags = addMockServerOptions(new Command())
    .parse(['--min-interval', '0', ...flags], { from: 'user' })
    .opts<MockServerFlags>();
  const server = await startMockServer(parseMockServerOptions(parsedFlags));
  return runningMock(server, server.close);
}

export function startMockProcess(...flags: string[]): Promise<MockProcess> {
  return spawnMock([], {}, flags);
}

/** One whose current folder is `folder`. */
export function startMockProcessIn(folder: string, ...flags: string[]): Promise<MockProcess> {
  return spawnMock([], {}, flags, folder);
}

/** One whose build has a text replaced while it is loaded. */
export function startAlteredMock(
  { file, from, to }: Readonly<Record<'file' | 'from' | 'to', string>>,
  ...flags: string[]
): Promise<MockProcess> {
  const hook = pathToFileURL(join(PROJECT, 'test/support/plant-in-build.mjs')).href;
  return spawnMock(
    ['--import', hook],
    { PLANTED: JSON.stringify({ file: `mock-server/${file.replace(/ts$/, 'js')}`, from, to }) },
    flags,
  );
}

async function spawnMock(
  nodeFlags: readonly string[],
  env: Readonly<Record<string, string>>,
  flags: readonly string[],
  cwd?: string,
): Promise<MockProcess> {
  const program = join(PROJECT, 'bin', 'pas-mock-server.js');
  const child = tied(
    spawn(process.execPath, [...nodeFlags, program, '--port', '0', '--json', ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env },
      cwd,
    }),
  );
  const ready = await firstLine(child);
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  };
  return { ...runningMock(JSON.parse(ready) as Addresses, stop), child };
}

type Addresses = Pick<RunningMock, 'base_url' | 'oai_base' | 'schema_base' | 'control_url'>;

function runningMock(addresses: Addresses, stop: () => Promise<void>): RunningMock {
  const { base_url, oai_base, schema_base, control_url } = addresses;
  const control = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${control_url}${path}`, { method, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
  return {
    base_url,
    oai_base,
    schema_base,
    control_url,
    control,
    faults: async (...rules) => {
      await control('PUT', '/faults', rules);
    },
    settings: (changes) => control('PUT', '/settings', changes),
    clock: (change) => control('POST', '/clock', change),
    state: async () => (await control<{ counts: MockState }>('GET', '/state')).counts,
    journal: () => control<JournalEntry[]>('GET', '/journal'),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
    });
    child.once('exit', (code) =>
      reject(new Error(`the mock server ended with ${code} before it was ready`)),
    );
  });
}
