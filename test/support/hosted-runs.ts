import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Run } from './run-pas.ts';

const HOST = join(import.meta.dirname, 'pas-host.mjs');
/**
 * Values read while modules load need a process of their own; this one is read again by each run.
 */
const READ_BY_EACH_RUN = new Set([
  'PATH',
  'HOME',
  'XDG_STATE_HOME',
  'PAS_HOME',
  'PAS_LANG',
  'PAS_KEYRING',
  'PAS_PROFILE',
  'PAS_USERNAME',
  'PAS_PASSWORD',
  'PAS_TOKEN',
  'PAS_PACING_PASSWORD',
  'EDITOR',
  'VISUAL',
]);
/**
 * Read once for all runs of a host: each machine and each wrong clock that Node is told of has a
 * host of its own.
 */
const READ_BY_THE_HOST = 'NODE_OPTIONS';
const MAX_HOSTS = 6;

type Host = { readonly child: ChildProcess; isBusy: boolean };
const hosts = new Map<string, Promise<Host>>();

/**
 * Runs `pas` in a process that it shares with other runs: starting Node and loading modules is most
 * of what a run costs. Undefined where the run needs a process of its own: it has an environment
 * that only a new process reads, or the shared process is busy.
 */
export async function hosted(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<Run | undefined> {
  if (args.some((arg) => arg.startsWith('--lang')) || args.length === 0 || env['PAS_LANG'] === '')
    return undefined;
  if (Object.keys(env).some((name) => name !== READ_BY_THE_HOST && !READ_BY_EACH_RUN.has(name)))
    return undefined;
  const host = await makeHost(`${env['PAS_LANG'] ?? 'en'} ${env[READ_BY_THE_HOST] ?? ''}`, env);
  if (host.isBusy) return undefined;
  host.isBusy = true;
  try {
    return await runIn(host, { args, env, cwd });
  } finally {
    host.isBusy = false;
  }
}

async function makeHost(kind: string, env: NodeJS.ProcessEnv): Promise<Host> {
  const running = hosts.get(kind);
  if (running !== undefined) return running;
  if (hosts.size >= MAX_HOSTS) await endOldest();
  const child = fork(HOST, [], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const starting = new Promise<Host>((ready, fail) => {
    child.once('message', () => {
      child.off('exit', onExit);
      // The host ends with this worker.
      child.unref();
      child.channel?.unref();
      ready({ child, isBusy: false });
    });
    const onExit = (code: number | null): void =>
      fail(new Error(`the host of runs ended with ${code} before it was ready`));
    child.once('exit', onExit);
  });
  hosts.set(kind, starting);
  return starting;
}

async function endOldest(): Promise<void> {
  for (const [kind, starting] of hosts) {
    const { child, isBusy } = await starting;
    if (isBusy) continue;
    hosts.delete(kind);
    if (child.connected) child.disconnect();
    return;
  }
}

function runIn(
  { child }: Host,
  work: { args: readonly string[]; env: NodeJS.ProcessEnv; cwd: string },
): Promise<Run> {
  child.channel?.ref();
  return new Promise<Run>((ended, fail) => {
    const onExit = (code: number | null): void =>
      fail(new Error(`the host of runs ended with ${code} in ${work.args.join(' ')}`));
    child.once('exit', onExit);
    child.once('message', (run) => {
      child.off('exit', onExit);
      child.channel?.unref();
      ended({ signal: null, ...(run as Omit<Run, 'signal'>) });
    });
    child.send(work);
  });
}
