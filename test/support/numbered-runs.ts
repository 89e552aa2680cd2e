import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from './run-pas.ts';

/** Exit of `pas` run by a shell script that wrote `1.out`, `1.err` and `1.code`, then `2.out` … */
export function numberedRuns(folder: string): (number: number) => Run {
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  return (number) => ({
    code: Number(read(`${number}.code`)),
    signal: null,
    stdout: read(`${number}.out`),
    stderr: read(`${number}.err`),
  });
}
