import { expect } from 'vitest';
import type { Run } from './run-pas.ts';

/** A run of `pas` ends with this code, and its messages have this text or match this pattern. */
export async function expectEnded(
  running: Promise<Run> | Run,
  code: number,
  said: string | RegExp = '',
): Promise<void> {
  const run = await running;
  expect([run.code, run.stderr]).toEqual([
    code,
    typeof said === 'string' ? expect.stringContaining(said) : expect.stringMatching(said),
  ]);
}
