import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Home, PROJECT, type Run, settledAfter, signedIn } from '../support/run-pas.ts';
import { goOn, SCENARIOS, type Scenario } from './scenarios.ts';
import { isOfShares } from './shares.ts';
import { openStage, type Stage } from './stage.ts';
import {
  type Call,
  canHave,
  canWatchCalls,
  FAULTS,
  type Fault,
  pasWatched,
} from './watched-disk.ts';

const IN_EACH_WAY = process.env['DISK_FAULTS'] !== 'one';
const COMMANDS =
  process.env['DISK_COMMANDS']?.split(',') ?? SCENARIOS.map(({ command }) => command);

const DOCUMENTED = [
  ...readFileSync(join(PROJECT, 'docs', 'running.md'), 'utf8').matchAll(/^\| (\d+) \|/gm),
].map(([, code]) => Number(code));
/** None of these is what a disk does. */
const NOT_A_DISKS = [1, 4, 11, 13, 14, 15, 130];

/** Continuous integration must have a compiler. */
test
  .skipIf(!canWatchCalls && process.env['CI'] === undefined)
  .each(SCENARIOS.filter(({ command }) => COMMANDS.includes(command)))(
  'whichever file operation of pas $command fails, nothing is lost and nothing is sent twice',
  async (scenario) => {
    const stage = await openStage();
    const home = await signedIn(stage, settledAfter(0, 0));
    await scenario.prepare(home, stage);
    stage.mark();
    stage.rewind();
    const { calls, code, stderr } = await pasWatched(home.copy(), scenario.args);
    expect([code, stderr.includes('bug in pas')], stderr).toEqual([0, false]);
    const cases = listCases(calls).filter((_, index) => isOfShares(index));
    const problems: string[] = [];
    const startedMs = performance.now();
    for (const fault of cases) problems.push(...(await play(scenario, home, stage, fault)));
    await stage.close();
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    const tally = {
      [scenario.command]: {
        calls: calls.length,
        runs: cases.length,
        problems: problems.length,
        seconds,
      },
    };
    process.stdout.write(`disk: ${JSON.stringify(tally)}\n`);
    expect(problems).toEqual([]);
  },
);

/** Each call in each way, or in one of them, another for the next call. */
function listCases(calls: readonly Call[]): (readonly [number, Fault])[] {
  return calls.flatMap((call) => {
    const faults = FAULTS.filter((fault) => canHave(call, fault));
    const chosen = IN_EACH_WAY
      ? faults
      : faults.filter((_, index) => index === call.number % faults.length);
    return chosen.map((fault) => [call.number, fault] as const);
  });
}

/** @returns what is wrong, in words */
async function play(
  scenario: Scenario,
  prepared: Home,
  stage: Stage,
  fault: readonly [number, Fault],
): Promise<string[]> {
  stage.rewind();
  const home = prepared.copy();
  const run = await pasWatched(home, scenario.args, { fault });
  if (run.struck === undefined) return [];
  const looked = (await scenario.look?.(home, run.code === 0)) ?? [];
  const problems = [...unclear(run), ...looked, ...(await goOn(scenario, home, stage))];
  const { number, name, path } = run.struck;
  const where = `${scenario.command}: ${fault[1]} at call ${number}, ${name} of ${path.slice(home.folder.length + 1)}`;
  return problems.map(
    (problem) =>
      `${where}: ${problem} (it ended with ${run.code ?? run.signal}: ${run.stderr.trim()})`,
  );
}

function unclear({ code, signal, stderr }: Run): string[] {
  if (signal === 'SIGKILL') return [];
  const errorLines = stderr.split('\n').filter((line) => line.startsWith('pas: '));
  return [
    code !== null && DOCUMENTED.includes(code) && !NOT_A_DISKS.includes(code)
      ? ''
      : `the code ${code ?? signal} with other values`,
    /\n\s+at |bug in pas/.test(stderr) ? 'a stack in place of a message' : '',
    errorLines.length <= 1 && (errorLines.length === 1 || [0, 3, 5, 6].includes(code ?? 1))
      ? ''
      : `${errorLines.length} messages`,
  ].filter((problem) => problem !== '');
}
