import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seededRandom } from '../chaos/random.ts';
import { makeTemplate } from './real-outbox.ts';
import { replay } from './replay.ts';

const TRACES = Number(process.env['MODEL_TRACES'] ?? 60);
const FROM = Number(process.env['MODEL_FROM'] ?? 0);

test('the outbox itself goes random ways of the model, and every look, claim and lease is as the model says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pas-model-'));
  const template = makeTemplate(folder);
  const tally = { traces: 0, steps: 0, looks: 0 };
  for (let trace = FROM; trace < FROM + TRACES; trace += 1) {
    const { steps, looks, differs } = await replay(template, folder, seededRandom(trace));
    expect(differs, [`trace ${trace}`, ...steps].join('\n')).toBeUndefined();
    tally.traces += 1;
    tally.steps += steps.length;
    tally.looks += looks;
  }
  process.stdout.write(`model: ${JSON.stringify(tally)}\n`);
  expect(tally.looks).toBeGreaterThan(TRACES);
});
