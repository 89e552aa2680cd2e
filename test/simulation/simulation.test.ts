import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStage, play } from './play.ts';
import { shrink } from './shrink.ts';
import { tellStory } from './story.ts';

const SEEDS = Number(process.env['SIMULATION_SEEDS'] ?? 200);
const FROM = Number(process.env['SIMULATION_FROM'] ?? 1);
/** Only stories that are told on purpose about one of these; a story keeps its number. */
const THEMES = process.env['SIMULATION_THEMES']?.split(', ');
const PLAYED_TWICE = 20;
/** A disk of memory flushes at once. */
const DISK = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

test(`${SEEDS} stories from seed ${FROM} lose nothing, send nothing twice, and break no limit`, async () => {
  const folder = mkdtempSync(join(DISK, 'pas-simulation-'));
  const tally = { stories: 0, sent: 0, left: 0, steps: 0 };
  const begun = performance.now();
  try {
    const stage = await openStage(folder);
    for (let seed = FROM; tally.stories < SEEDS; seed += 1) {
      const story = tellStory(seed);
      if (THEMES?.includes(story.theme ?? '') === false) continue;
      const { violations, left, sent, trace } = await play(stage, story);
      // One seed is one story, to the last tenth of a millisecond.
      if (seed % PLAYED_TWICE === 0) expect((await play(stage, story)).trace).toEqual(trace);
      if (violations.length > 0) {
        const least = await shrink(story, async (smaller) => (await play(stage, smaller)).violations.length > 0);
        const again = await play(stage, least);
        process.stdout.write(`found: ${JSON.stringify({ seed, steps: least.steps.length, violation: again.violations[0] })}\n`);
        const steps = least.steps.map((step) => JSON.stringify(step)).join('\n');
        throw new Error(`seed ${seed}: ${again.violations.join('; ')}\n${steps}\n\n${again.trace.join('\n')}`);
      }
      tally.stories += 1;
      tally.sent += sent;
      tally.left += left;
      tally.steps += story.steps.length;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const perSecond = (tally.stories * 1000) / (performance.now() - begun);
  process.stdout.write(`simulation: ${JSON.stringify({ ...tally, a_second: Number(perSecond.toFixed(1)) })}\n`);
  expect(tally.stories).toBe(SEEDS);
});
