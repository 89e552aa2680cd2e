import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { freePort } from '../support/free-port.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { tied } from '../support/tied.ts';

/**
 * Tells if there is a redis-server; tests that need one are skipped without it, and .ci/run
 * installs it.
 */
export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;

/** A Redis of its own that keeps nothing on disk. */
export type RedisProcess = AsyncDisposable & {
  readonly port: number;
  readonly url: string;
  /** Sends one command as redis-cli does, and returns what it printed. */
  command(...words: string[]): string;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** On the same port, empty. */
  restart(...flags: string[]): Promise<void>;
  pause(): void;
  resume(): void;
};

export async function startRedis(...flags: string[]): Promise<RedisProcess> {
  const port = await freePort();
  let child = await launch(port, flags);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}/0`,
    command: (...words) =>
      spawnSync('redis-cli', ['-p', String(port), ...words], { encoding: 'utf8' }).stdout.trim(),
    kill,
    restart: async (...other) => {
      await kill();
      child = await launch(port, other);
    },
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    [Symbol.asyncDispose]: kill,
  };
}

async function launch(port: number, flags: readonly string[]): Promise<ChildProcess> {
  const child = tied(
    spawn(
      'redis-server',
      [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--save',
        '',
        '--appendonly',
        'no',
        '--dir',
        tempFolder(),
        ...flags,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    ),
  );
  await new Promise<void>((resolve, reject) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (text.includes('Ready to accept connections')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}:\n${text}`)));
  });
  return child;
}
