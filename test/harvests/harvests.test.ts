import { expect, test } from 'vitest';
import { playScenario, type Tally } from './scenario.ts';

const SCENARIOS = Number(process.env['HARVESTS_SCENARIOS'] ?? 8);
const SEED = Number(process.env['HARVESTS_SEED'] ?? 1);
const FROM = Number(process.env['HARVESTS_FROM'] ?? 0);

test(`${SCENARIOS} scenarios of temporarily wrong lists, failed requests and killed runs end with the correct list`, async () => {
  const tally: Tally = { scenarios: 0, runs: 0, believed: 0, unconfirmed: 0, failed: 0, killed: 0 };
  const broken: string[] = [];
  for (let nth = FROM; nth < FROM + SCENARIOS; nth += 1) {
    await playScenario(SEED * 1_000_003 + nth, tally).catch((thrown: unknown) => {
      broken.push(
        `--seed ${SEED} --from ${nth} --scenarios 1: ${thrown instanceof Error ? thrown.message : 'no error'}`,
      );
    });
  }
  console.log(`harvests: ${JSON.stringify(tally)}`);
  expect(broken).toEqual([]);
});
