import { expect, test } from 'vitest';
import { playStory, type Tally } from './story.ts';

const STORIES = Number(process.env['HARVESTS_STORIES'] ?? 40);
const SEED = Number(process.env['HARVESTS_SEED'] ?? 1);
const FROM = Number(process.env['HARVESTS_FROM'] ?? 0);

test(`${STORIES} harvests of lists that are empty, short or in disorder for a while end with the list as it is`, async () => {
  const tally: Tally = { stories: 0, runs: 0, believed: 0, doubted: 0, failed: 0 };
  const broken: string[] = [];
  for (let nth = FROM; nth < FROM + STORIES; nth += 1) {
    await playStory(SEED * 1_000_003 + nth, tally).catch((thrown: unknown) => {
      broken.push(`--seed ${SEED} --from ${nth} --stories 1: ${thrown instanceof Error ? thrown.message : 'no error'}`);
    });
  }
  console.log(`harvests: ${JSON.stringify(tally)}`);
  expect(broken).toEqual([]);
});
