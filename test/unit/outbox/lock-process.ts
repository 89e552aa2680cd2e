import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PROJECT } from '../../support/run-pas.ts';
import { tied } from '../../support/tied.ts';

type Order =
  | {
      readonly order: 'acquire';
      readonly folder: string;
      readonly scope: string;
      readonly outboxFolder: string;
      readonly keep?: boolean;
    }
  | { readonly order: 'file'; readonly path: string }
  | { readonly order: 'reliable'; readonly folder: string }
  | { readonly order: 'release' | 'collect' };

export type Refusal = {
  readonly error: string;
  readonly hint?: string;
  readonly exitCode?: number;
};
export type Answer = string | boolean | number | Refusal;

export type LockProcess = {
  /** The number by which this process knows it, whatever number it has for itself. */
  readonly pid: number;
  say(order: Order): Promise<Answer>;
  /** Ends it as `kill -9` does. */
  kill(): Promise<void>;
};

type Start = {
  /** A program that starts it, with its arguments, such as `unshare`. */
  readonly within?: readonly string[];
  readonly nodeFlags?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Number of the account that it becomes. */
  readonly user?: number;
};

/** Starts a process of the build that takes locks when it is told to. */
export async function startLockProcess({
  within = [],
  nodeFlags = [],
  env = {},
  user,
}: Start = {}): Promise<LockProcess> {
  const [program = '', ...args] = [
    ...within,
    process.execPath,
    ...nodeFlags,
    join(PROJECT, 'test/unit/outbox/lock-process.mjs'),
  ];
  const child = tied(
    spawn(program, args, {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: {
        ...process.env,
        ...env,
        LOCK_PROCESS_USER: user?.toString(),
      },
    }),
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<Answer> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the process that takes locks has ended');
    return JSON.parse(value) as Answer;
  };
  const pid = Number(await answer());
  return {
    pid,
    say(order) {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      return answer();
    },
    async kill() {
      const closed = once(child, 'close');
      process.kill(pid, 'SIGKILL');
      await closed;
    },
  };
}

/** A second counter of processes: the first one that it starts has the number 1. */
export const NAME_SPACE = ['unshare', '--pid', '--fork'] as const;
export const canMakeNameSpaces =
  spawnSync('unshare', ['--pid', '--fork', 'true'], { stdio: 'ignore' }).status === 0;
