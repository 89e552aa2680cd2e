import { expect, test } from 'vitest';
import { readCorpus, writeCorpus } from './corpus.ts';
import { fuzz } from './engine.ts';
import { PLANTED } from './planted-reader.ts';
import { TARGETS } from './targets.ts';

const { FUZZ_TARGET, FUZZ_SECONDS = '2', FUZZ_SEED = '1', FUZZ_KEEP } = process.env;
const targets = TARGETS.filter(
  ({ name }) => FUZZ_TARGET === undefined || FUZZ_TARGET.split(',').includes(name),
);

test.each(targets)(
  '$name: any bytes are read or refused, quickly and with little memory',
  async (target) => {
    const milliseconds = Number(FUZZ_SECONDS) * 1000;
    const { kept, ...told } = await fuzz(target, {
      seed: Number(FUZZ_SEED),
      milliseconds,
      corpus: readCorpus(target.name),
    });
    if (FUZZ_KEEP === 'yes') writeCorpus(target.name, kept);
    const keptBytes = kept.reduce((sum, { length }) => sum + length, 0);
    process.stdout.write(
      `fuzz: ${JSON.stringify({ target: target.name, ...told, kept: kept.length, keptBytes })}\n`,
    );
    expect(told.blocks).toBeGreaterThan(0);
  },
);

test.runIf(FUZZ_TARGET === undefined).each(Object.entries(PLANTED))(
  'a planted fault is found: %s',
  async (name, read) => {
    const target = { name: `planted ${name}`, seeds: ['abc'], maxBytes: 64, read };
    await expect(fuzz(target, { seed: 1, milliseconds: 60_000, corpus: [] })).rejects.toThrow(
      /planted|took|MB/,
    );
  },
);
