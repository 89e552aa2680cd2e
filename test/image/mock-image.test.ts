import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';

/** Image that `.ci/image` built. */
const ARCHIVE = process.env['PAS_MOCK_ARCHIVE'] ?? '';
const IMAGE = process.env['PAS_MOCK_IMAGE'] ?? '';
const CONFIG = process.env['PAS_MOCK_CONFIG'] ?? '';
const TOKEN = 'a-token-of-the-test';

const podman = (...args: readonly string[]): string =>
  execFileSync('podman', args, { encoding: 'utf8' }).trim();

test('the image is small, and its metadata state its user, port and health check', () => {
  expect(statSync(ARCHIVE).size).toBeLessThan(80e6);
  const { config } = JSON.parse(readFileSync(CONFIG, 'utf8')) as {
    config: Record<string, unknown>;
  };
  expect(config).toMatchObject({
    User: '65532:65532',
    ExposedPorts: { '8080/tcp': {} },
    StopSignal: 'SIGTERM',
  });
});

describe('a container of the image', () => {
  let id = '';
  let url = '';
  afterAll(() => podman('rm', '-f', '-t', '0', id));

  test('is ready within seconds, without root rights and with /tmp alone writable', async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const began = performance.now();
    const rights = ['--read-only', '--cap-drop', 'all', '--security-opt', 'no-new-privileges'];
    id = podman(
      'run',
      '-d',
      ...rights,
      '-p',
      `127.0.0.1:${port}:8080`,
      '-e',
      `PAS_MOCK_CONTROL_TOKEN=${TOKEN}`,
      IMAGE,
      '--min-interval',
      '0',
    );
    await eventually(() =>
      fetch(`${url}/__mock__/health`).then(
        ({ status }) => status,
        () => 0,
      ),
    ).toBe(200);
    console.log(`ready ${(performance.now() - began).toFixed(0)} ms after it was started`);
  });

  test('answers other machines, and its control interface requires the token', async () => {
    const fetchState = (headers: Record<string, string>) =>
      fetch(`${url}/__mock__/state`, { headers });
    expect((await fetchState({})).status).toBe(401);
    const state = await fetchState({ authorization: `Bearer ${TOKEN}` });
    expect(await state.json()).toMatchObject({ addresses: { schema_base: `${url}/schema/svc` } });
    const token = await fetch(`${url}/api/token-auth/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'archaeologist', password: 'archaeologist' }),
    });
    expect(token.status).toBe(200);
  });

  test('runs as an arbitrary user, without a shell, and its health check passes', () => {
    expect(
      podman('top', id, 'huser', 'pid')
        .split('\n')
        .slice(1)
        .map((line) => line.split(/\s+/)),
    ).toEqual([['65532', '1']]);
    expect(() => podman('exec', id, '/bin/sh', '-c', 'true')).toThrow();
    const { config } = JSON.parse(readFileSync(CONFIG, 'utf8')) as {
      config: { Entrypoint: string[] };
    };
    expect(config.Entrypoint.slice(2)).toEqual(['--host', '0.0.0.0', '--port', '8080']);
    podman('exec', id, ...healthCheck());
  });

  test('its health check fails if no server answers', () => {
    const name = 'pas-mock-check';
    const [program = '', ...rest] = healthCheck();
    expect(() =>
      podman('run', '--rm', '--name', name, '--entrypoint', program, IMAGE, ...rest),
    ).toThrow();
  });

  test('ends within a second of SIGTERM', async () => {
    const pid = Number(podman('inspect', '--format', '{{.State.Pid}}', id));
    const began = performance.now();
    process.kill(pid, 'SIGTERM');
    await eventually(() => existsSync(`/proc/${pid}`)).toBe(false);
    const endedMs = performance.now() - began;
    console.log(`ended ${endedMs.toFixed(0)} ms after SIGTERM`);
    expect(endedMs).toBeLessThan(1000);
    expect(podman('wait', id)).toBe('0');
  });
});

/**
 * As it stands in the archive's own configuration: skopeo leaves it out, for it is Docker's and not
 * OCI's.
 */
function healthCheck(): string[] {
  const fromArchive = (path: string): string =>
    execFileSync('tar', ['-xOf', ARCHIVE, path], { encoding: 'utf8' });
  const [{ Config }] = JSON.parse(fromArchive('manifest.json')) as [{ Config: string }];
  const { config } = JSON.parse(fromArchive(Config)) as {
    config: { Healthcheck: { Test: [string, ...string[]] } };
  };
  const [kind, ...command] = config.Healthcheck.Test;
  expect(kind).toBe('CMD');
  return command;
}
