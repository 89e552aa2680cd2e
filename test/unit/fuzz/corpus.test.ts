import { describe, expect, test } from 'vitest';
import { readCorpus } from '../../fuzz/corpus.ts';
import { TARGETS } from '../../fuzz/targets.ts';

describe('fuzzer inputs that reach each block of a reader', () => {
  test.each(TARGETS)(
    '$name: is read, or refused as it should be',
    async ({ name, seeds, read }) => {
      const inputs = [...seeds.map((seed) => Buffer.from(seed)), ...readCorpus(name)];
      expect(inputs.length).toBeGreaterThan(seeds.length);
      for (const input of inputs) await read(Buffer.from(input));
    },
  );
});
