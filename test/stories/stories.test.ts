import { expect, test } from 'vitest';
import { openConnections } from '../../src/http/send.ts';
import { startMock } from '../support/start-mock.ts';
import { Broken, castOf, emptyTally, playStory } from './story.ts';

const STORIES = Number(process.env['STORIES_STORIES'] ?? 100);
const SEED = Number(process.env['STORIES_SEED'] ?? 1);
const FROM = Number(process.env['STORIES_FROM'] ?? 0);

test(`${STORIES} stories of lists that change, services that fail and runs that are killed end with the same list on both sides`, async () => {
  const tally = emptyTally();
  const broken: string[] = [];
  await using strict = await startMock();
  await using deployed = await startMock({ deployed: true });
  const connections = openConnections({ maxConnections: 2 });
  for (let number = FROM; number < FROM + STORIES; number += 1) {
    const { deployed: isDeployed, version, command, list } = castOf(number);
    try {
      await playStory(isDeployed ? deployed : strict, connections.send, number, SEED * 100_003 + number, tally);
    } catch (thrown) {
      if (!(thrown instanceof Broken)) throw new Error(`story ${number} cannot be played`, { cause: thrown });
      const cause = thrown.cause instanceof Error ? ` (${thrown.cause.message})` : '';
      broken.push(`${number} (${isDeployed ? 'deployed' : 'strict'} ${version}, ${command} ${list}): ${thrown.message}${cause}`);
    }
  }
  await connections.close();
  for (const line of broken) process.stdout.write(`story ${line}\n`);
  process.stdout.write(`stories: ${JSON.stringify({ ...tally, broken: broken.length })}\n`);
  expect(broken, `play one again with: npm run stories -- --stories 1 --seed ${SEED} --from N`).toEqual([]);
});
