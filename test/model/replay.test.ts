import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ServiceOutbox } from '../../src/outbox/open-outbox.ts';
import { seededRandom } from '../chaos/random.ts';
import { type Prepared, prepareOutbox } from './prepared-outbox.ts';
import { replay } from './replay.ts';

const TRACES = 60;
const prepared = prepareOutbox(mkdtempSync(join(tmpdir(), 'pas-model-')));

test('the outbox itself goes random ways of the model, and every look, claim and lease is as the model says', async () => {
  const tally = { traces: 0, steps: 0, looks: 0 };
  for (let trace = 0; trace < TRACES; trace += 1) {
    const { steps, looks, differs } = await replay(prepared, seededRandom(trace));
    expect(differs, [`trace ${trace}`, ...steps].join('\n')).toBeUndefined();
    tally.traces += 1;
    tally.steps += steps.length;
    tally.looks += looks;
  }
  expect(tally.looks).toBeGreaterThan(TRACES);
});

test.each([
  ['does not count its pushes', 'attempts = attempts + 1', 'attempts = attempts'],
  ['takes a copy that was put back for what it was', `state in ('queued', 'sending', 'uncertain')`, `state in ('uncertain')`],
  ['does not look how far the index has come', `and outcome = 'accepted'`, 'and false'],
  [
    'forgets what it left behind',
    'from attempts where entry_id = ?',
    'from attempts where entry_id = ? and ended_at is not null',
  ],
])('an outbox that %s goes another way than the model', async (_what, said, wrong) => {
  const lie = ({ sql, ...outbox }: ServiceOutbox): ServiceOutbox => ({
    ...outbox,
    sql: (text) => sql(text.replace(said, wrong)),
  });
  const lying: Prepared = {
    ...prepared,
    begin: (clock) => lie(prepared.begin(clock)),
    putBack: (clock) => lie(prepared.putBack(clock)),
  };
  let differs: string | undefined;
  for (let trace = 0; trace < TRACES && differs === undefined; trace += 1)
    differs = (await replay(lying, seededRandom(trace))).differs;
  expect(differs).toBeDefined();
});
