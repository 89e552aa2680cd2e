import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asMonotonicMs, asWallMs, type Clock } from '../../src/base/clock.ts';
import { openVocabulary } from '../../src/finds/vocabulary/term-lookup.ts';
import type { Exchange } from '../../src/service/http/exchange.ts';
import { OAI_BASE } from '../support/scripted-oai.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { labels } from '../unit/harvest/harvest-output.ts';
import { harvestPlace } from '../unit/harvest/record-harvest.ts';
import { harvest, stored } from '../unit/harvest/vocabulary-harvest.ts';

/** Longer than any delay of an index. */
const INDEX_ALLOWANCE_MS = 10 * 60_000;

export type Run = {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly full: boolean;
};

/**
 * One of the two commands, with what it keeps between its runs: the one place where scenarios meet
 * the program.
 */
export type HarvestClient = {
  /**
   * @returns whether the list is accepted: the command ends with 0
   * @throws what the command would say
   */
  run(run: Run): Promise<boolean>;
  /** Remains of a kill in the middle of a write. */
  breakOff(): void;
  holds(): ReadonlyMap<string, string>;
  close(): void;
};

const OPTIONS = { acceptLosses: false, indexAllowanceMs: INDEX_ALLOWANCE_MS };

/** `pas harvest SET --out FILE` */
export function recordsClient(): HarvestClient {
  const place = harvestPlace();
  return {
    run: async ({ exchange, ...run }) => {
      const { sets } = await place.run(exchange, { ...OPTIONS, ...run });
      return sets.every(({ unconfirmed }) => unconfirmed === undefined);
    },
    breakOff: place.breakOff,
    holds: () => labels(place),
    close: () => rmSync(dirname(place.path), { recursive: true }),
  };
}

/** `pas harvest-vocab SET` */
export function vocabularyClient(): HarvestClient {
  const folder = tempFolder();
  let now = Date.now;
  const clock: Clock = {
    now: () => asWallMs(now()),
    monotonicMs: () => asMonotonicMs(now()),
    sleep: async () => {},
    hold: () => {},
  };
  const open = () => openVocabulary(join(folder, 'vocabulary.sqlite'), clock);
  return {
    run: async (run) => {
      now = run.clock.now;
      const store = open();
      try {
        const [harvested] = await harvest(run, store.openSource(OAI_BASE), { ...OPTIONS, ...run });
        return harvested?.unconfirmed === undefined;
      } finally {
        store.close();
      }
    },
    breakOff: () => {},
    holds: () => {
      const store = open();
      try {
        return stored(store.openSource(OAI_BASE));
      } finally {
        store.close();
      }
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
