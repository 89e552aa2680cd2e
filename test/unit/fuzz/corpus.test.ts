import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { TARGETS } from './readers.ts';

/** The inputs that are kept of a reader: one a line, in base64, the shortest first. */
function readCorpus(name: string): Buffer[] {
  return readFileSync(new URL(`corpus/${name}.txt`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Buffer.from(line, 'base64'));
}

describe('inputs that reach each block of a reader', () => {
  test.each(TARGETS)(
    '$name: is read, or refused as it should be',
    async ({ name, seeds, read }) => {
      const inputs = [...seeds.map((seed) => Buffer.from(seed)), ...readCorpus(name)];
      expect(inputs.length).toBeGreaterThan(seeds.length);
      for (const input of inputs) await read(Buffer.from(input));
    },
  );
});
