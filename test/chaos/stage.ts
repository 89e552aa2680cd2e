import type { MockProcess } from '../support/mock-process.ts';
import { type Home, jsonLines, type Run } from '../support/run-pas.ts';

export type Stage = {
  readonly home: Home;
  service(): MockProcess;
  /** Another service, to which nothing of all this may go. */
  readonly other: MockProcess;
  /** Kills the server with SIGKILL and starts it again on the same data and port. */
  restartService(): Promise<void>;
};

/** What the profile says: short, so that many rounds fit into an hour. */
export const PROFILE_FLAGS = [
  '--min-interval-ms',
  '8',
  '--settle-ms',
  '800',
  '--index-allowance-ms',
  '500',
  '--answer-timeout-ms',
  '600',
] as const;

/** No command of a round has more to do than this. */
const LONGEST_RUN_MS = 60_000;

/** Runs `pas` to its end, which must be one of these. */
export async function runs(home: Home, args: readonly string[], codes: readonly number[]): Promise<Run> {
  let clock: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, fail) => {
    clock = setTimeout(() => fail(new Error(`pas ${args.join(' ')} does not end`)), LONGEST_RUN_MS);
  });
  const run = await Promise.race([home.pas(...args), tooLong]);
  clearTimeout(clock);
  must(run, codes);
  return run;
}

export function must(run: Run, codes: readonly number[]): void {
  if (run.code !== null && codes.includes(run.code)) return;
  const lines = jsonLines(run.stdout)
    .slice(-3)
    .map((line) => JSON.stringify(line));
  throw new Error(`pas ended with ${run.code ?? run.signal}\n${lines.join('\n')}\n${run.stderr}`);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Whoever looks at the server to decide or to judge sees all that it has. */
export async function untilListed({ service }: Stage): Promise<void> {
  const { index_delay_ms: delays } = await service().control<{ index_delay_ms: number | number[] }>('GET', '/settings');
  const delayMs = Math.max(...[delays].flat());
  if (delayMs === 0) return;
  await service().control('PUT', '/settings', { index_delay_ms: 0 });
  await pause(delayMs + 200);
}
