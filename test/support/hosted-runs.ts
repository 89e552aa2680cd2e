import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { chooseLanguage } from '../../src/base/message.ts';
import type { Run } from './run-pas.ts';

const HOST = join(import.meta.dirname, 'pas-host.mjs');
/**
 * Read by Node, by the choice of the language or by the program's first file while a process starts,
 * so that a run needs a process of its own. The other variables are read by each run.
 */
const READ_AT_START = /^(?:NODE_|LC_|LANG$|TZ$|DEBUG$)/;
/**
 * Read once for all runs of a host: each machine and each wrong clock that Node is told of has a
 * host of its own.
 */
const READ_BY_THE_HOST = 'NODE_OPTIONS';
const MAX_HOSTS = 6;

/** `run`: the one that it is busy with. */
type Host = { readonly child: ChildProcess; run?: Promise<unknown> };
const hosts = new Map<string, Promise<Host>>();

/**
 * Runs `pas` in a process that it shares with other runs: starting Node and loading modules is most
 * of what a run costs. Undefined where the run has an environment that only a new process reads, or
 * where another runs there: runs at the same time are of several processes.
 */
export async function hosted(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<Run | undefined> {
  if (args.length === 0 || env['PAS_LANG'] === '') return undefined;
  if (Object.keys(env).some((name) => name !== READ_BY_THE_HOST && READ_AT_START.test(name)))
    return undefined;
  const language = chooseLanguage(args, env);
  const host = await makeHost(`${language} ${env[READ_BY_THE_HOST] ?? ''}`, {
    ...env,
    PAS_LANG: language,
  });
  if (host.run !== undefined || !host.child.connected) return undefined;
  const run = runIn(host, { args, env, cwd });
  host.run = run.catch(() => {});
  return run.finally(() => {
    host.run = undefined;
  });
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
      ready({ child });
    });
    const onExit = (code: number | null): void =>
      fail(new Error(`the host of runs ended with ${code} before it was ready`));
    child.once('exit', onExit);
  });
  hosts.set(kind, starting);
  return starting;
}

async function endOldest(): Promise<void> {
  const [oldest] = hosts;
  if (oldest === undefined) return;
  hosts.delete(oldest[0]);
  const host = await oldest[1];
  while (host.run !== undefined) await host.run;
  if (host.child.connected) host.child.disconnect();
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
