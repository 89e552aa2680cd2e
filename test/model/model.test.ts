import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seededRandom } from '../support/random.ts';
import { trace } from './trace.ts';

const TRACES = 10;
const folder = mkdtempSync(join(tmpdir(), 'pas-model-'));

test('any changes to an outbox, its copies and its journal converge to one history when they are merged', () => {
  for (let seed = 0; seed < TRACES; seed += 1) {
    const { steps, differs } = trace(folder, seededRandom(seed));
    expect(differs, [`trace ${seed}`, ...steps].join('\n')).toBeUndefined();
  }
});
