import { spawn, spawnSync } from 'node:child_process';
import { once as nextEvent } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { runMain } from '../../mock-server/main.ts';
import { PROJECT } from '../support/run-pas.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { tied } from '../support/tied.ts';

const COMMAND = join(PROJECT, 'bin', 'pas-mock-server.js');
const folder = tempFolder();

type Started = {
  readonly line: string;
  readonly child: ReturnType<typeof spawn>;
  end(signal: 'SIGTERM' | 'SIGINT'): Promise<number | null>;
};

type Variables = Readonly<Record<string, string>>;

const start = (...flags: string[]): Promise<Started> => startWith({}, ...flags);

async function startWith(variables: Variables, ...flags: string[]): Promise<Started> {
  const env = { ...process.env, ...variables };
  const child = tied(
    spawn(process.execPath, [COMMAND, ...flags], { stdio: ['ignore', 'pipe', 'inherit'], env }),
  );
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.includes('\n')) break;
  }
  const end = async (signal: 'SIGTERM' | 'SIGINT') => {
    const exit = nextEvent(child, 'exit');
    child.kill(signal);
    const [code] = (await exit) as [number | null];
    return code;
  };
  return { line: output.trim(), child, end };
}

type Failure = { readonly code: number | null; readonly text: string };

const failure = (...flags: string[]): Promise<Failure> => failureWith({}, ...flags);

/** Refusal of the program to start, in this process. */
async function failureWith(variables: Variables, ...flags: string[]): Promise<Failure> {
  let text = '';
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const write = vi.spyOn(process.stderr, 'write').mockImplementation((piece) => {
    text += String(piece);
    return true;
  });
  const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
    process.exitCode = code ?? 0;
    throw new Error('ended');
  });
  // It would end this process with a signal.
  const once = vi.spyOn(process, 'once').mockReturnValue(process);
  try {
    await runMain([process.execPath, COMMAND, ...flags]).catch(() => undefined);
    return { code: Number(process.exitCode), text };
  } finally {
    process.exitCode = undefined;
    for (const spy of [write, exit, once]) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}

describe('pas-mock-server', () => {
  test('prints one line of JSON when it accepts connections, on a free port', async () => {
    const server = await start('--json');
    const ready = JSON.parse(server.line) as Record<string, string | number>;
    expect(Object.keys(ready)).toEqual([
      'base_url',
      'oai_base',
      'schema_base',
      'control_url',
      'port',
      'pid',
    ]);
    expect(ready['pid']).toBe(server.child.pid);
    expect((await fetch(`${ready['control_url']}/health`)).status).toBe(200);
    expect(await server.end('SIGTERM')).toBe(0);
  });

  test('prints the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
      version: string;
    };
    const { status, stdout } = spawnSync(process.execPath, [COMMAND, '--version'], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, `${version}\n`]);
  });

  test.skipIf(process.platform !== 'linux')(
    'ends with 5 and a reason if the disk has no space for the line',
    () => {
      const full = openSync('/dev/full', 'w');
      const { status, stderr } = spawnSync(process.execPath, [COMMAND], {
        stdio: ['ignore', full, 'pipe'],
        encoding: 'utf8',
      });
      closeSync(full);
      expect([status, stderr]).toEqual([
        5,
        expect.stringMatching(/^pas-mock-server: stdout cannot be written: .*\n$/),
      ]);
    },
  );

  test('prints a plain line without --json', async () => {
    const server = await start();
    expect(server.line).toMatch(/ready at http:\/\/127\.0\.0\.1:\d+ /);
    expect(await server.end('SIGINT')).toBe(0);
  });

  test.skipIf(process.platform === 'win32')(
    'ends with 0 at a signal that follows its line at once, also as a command of pas',
    async () => {
      for (const flags of [[COMMAND], [join(PROJECT, 'bin', 'pas.js'), 'mock-server']]) {
        const env = { ...process.env, PAS_HOME: join(folder, 'home') };
        const child = tied(
          spawn(process.execPath, [...flags, '--json'], {
            stdio: ['ignore', 'pipe', 'inherit'],
            env,
          }),
        );
        child.stdout.once('data', () => child.kill('SIGTERM'));
        expect([flags, ...(await nextEvent(child, 'exit'))]).toEqual([flags, 0, null]);
      }
    },
  );

  test('SIGTERM ends it, even with a request that would hang for ever', async () => {
    const faults = join(folder, 'hang.json');
    writeFileSync(faults, JSON.stringify([{ endpoint: 'token', fault: 'hang-before-save' }]));
    const server = await start('--json', '--faults', faults);
    const { base_url } = JSON.parse(server.line) as { base_url: string };
    const hanging = fetch(`${base_url}/api/token-auth/`, {
      method: 'POST',
      body: new URLSearchParams({ username: 'archivist', password: 'archivist' }),
    }).catch((error: unknown) => error);
    await fetch(`${base_url}/__mock__/health`);
    expect(await server.end('SIGTERM')).toBe(0);
    expect(await hanging).toBeInstanceOf(Error);
  });

  test('flags reach the server', async () => {
    const server = await start(
      '--json',
      '--latency',
      '7',
      '--min-interval',
      '50',
      '--page-size',
      '33',
      '--seed',
      'empty',
      '--schema-versions',
      '2.1,2.2',
    );
    const { control_url } = JSON.parse(server.line) as { control_url: string };
    const settings = await (await fetch(`${control_url}/settings`)).json();
    expect(settings).toMatchObject({
      latency_ms: 7,
      min_request_intervals: { user_ms: 50, ip_ms: 50 },
      page_size: 33,
      allowed_schema_versions: ['2.1', '2.2'],
    });
    const state = (await (await fetch(`${control_url}/state`)).json()) as {
      counts: { finds: number };
    };
    expect(state.counts.finds).toBe(0);
    await server.end('SIGTERM');
  });

  test.each([
    [['--port', 'x'], /whole number/],
    [['--prefix', 'a b'], /letters, digits and hyphens/],
    [['--prot'], /unknown option/],
    [['--schema-versions', 'abc'], /must be a version/],
    [['--control-token', 'words '], /ends with a blank/],
    [['--cors', 'localhost'], /origins/],
    [['--tls-cert', 'cert.pem'], /given together/],
    [['--tls-cert', '/no/cert.pem', '--tls-key', '/no/key.pem'], /no\/cert\.pem cannot be read/],
    [
      ['--tls-cert', join(PROJECT, 'LICENSE'), '--tls-key', join(PROJECT, 'LICENSE')],
      /LICENSE cannot be used/,
    ],
    [['--seed', '/no/such/folder'], /no\/such\/folder/],
    [
      ['--faults', '/no/such/file.json'],
      /^pas-mock-server: there is no fault file \/no\/such\/file\.json$/m,
    ],
    [['--faults', join(PROJECT, 'LICENSE')], /is not JSON/],
    [['--faults', '/'], /cannot be read/],
    [['--data', '-'], /needs a name/],
    [['--data', '/'], /data file/],
  ])('%j is refused with the reason', async (flags, reason) => {
    const { code, text } = await failure(...flags);
    expect(code).toBe(2);
    expect(text).toMatch(reason);
    expect(text).not.toMatch(/\n\s+at /);
  });

  test('names file, place and reason of an invalid rule in a fault file with a byte order mark', async () => {
    const faults = join(folder, 'bad.json');
    writeFileSync(faults, `\uFEFF${JSON.stringify([{ endpoint: 'import', fault: 'lock' }])}`);
    const { text } = await failure('--faults', faults);
    expect(text).toMatch(/bad\.json has a rule.*\[0\].*lock/);
  });

  test('refuses a port in use, with the reason', async () => {
    const server = await start('--json');
    const { base_url } = JSON.parse(server.line) as { base_url: string };
    const { code, text } = await failure('--port', new URL(base_url).port);
    expect([code, text]).toEqual([
      2,
      expect.stringMatching(/EADDRINUSE.*--port 0 takes a free one/),
    ]);
    await server.end('SIGTERM');
  });

  test('takes a missing flag from its environment variable', async () => {
    const variables = {
      PAS_MOCK_MIN_INTERVAL: '7',
      PAS_MOCK_TRAINING: 'yes',
      PAS_MOCK_DEPLOYED: '0',
      PAS_MOCK_PREFIX: 'abc',
      PAS_MOCK_PAGE_SIZE: '',
      PAS_MOCK_SEED: 'empty',
      PAS_MOCK_PUBLIC_URL: 'https://mock.example.org/finds/',
      PAS_MOCK_JSON: '1',
    };
    const server = await startWith(variables, '--prefix', 'xyz');
    const ready = JSON.parse(server.line) as Record<string, string>;
    expect(ready['schema_base']).toBe('https://mock.example.org/finds/schema/xyz');
    const fetchControl = async (path: string) =>
      (await fetch(`http://127.0.0.1:${ready['port']}/__mock__${path}`)).json();
    expect(await fetchControl('/settings')).toMatchObject({
      page_size: 100,
      min_request_intervals: { user_ms: 7 },
    });
    expect(await fetchControl('/state')).toMatchObject({
      training: true,
      deployed: false,
      counts: { finds: 0 },
    });
    await server.end('SIGTERM');
  });

  test.each([
    ['PAS_MOCK_PORT', 'x', /PAS_MOCK_PORT is 'x'\. It must be a whole number/],
    ['PAS_MOCK_TRAINING', 'perhaps', /PAS_MOCK_TRAINING is 'perhaps'\. It must be 1 or 0/],
  ])('%s=%s is refused with the reason', async (name, value, reason) => {
    const { code, text } = await failureWith({ [name]: value });
    expect([code, text]).toEqual([2, expect.stringMatching(reason)]);
  });

  test.skipIf(process.platform === 'win32')(
    'the Python of the README ends the server that it started',
    async () => {
      const readme = readFileSync(join(PROJECT, 'mock-server', 'README.md'), 'utf8');
      const script = /```python\n(import json[\s\S]*?)```/.exec(readme)?.[1] ?? '';
      // As npx does: the server is a child of what was called.
      const npx = `shift\n"${process.execPath}" "${COMMAND}" "$@" &\necho $! > "${join(folder, 'pid')}"\nwait $!\n`;
      writeFileSync(join(folder, 'npx'), `#!/bin/sh\n${npx}`, { mode: 0o755 });
      const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
      const ran = spawnSync('python3', ['-c', `${script}\nprint(len(token))`], {
        encoding: 'utf8',
        env,
        timeout: 30_000,
      });
      expect([ran.status, ran.stdout.trim(), ran.stderr]).toEqual([0, '40', '']);
      const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
      expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    },
  );

  test('--help shows the flags and an example', () => {
    const help = spawnSync(process.execPath, [COMMAND, '--help'], { encoding: 'utf8' });
    expect(help.status).toBe(0);
    for (const shown of ['--tls-cert', 'PAS_MOCK_MIN_INTERVAL', 'Examples:'])
      expect(help.stdout).toContain(shown);
  });
});
