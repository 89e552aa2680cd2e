import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../src/base/clock.ts';
import {
  type HarvestRequest,
  harvestRecords,
  type RecordHarvest,
} from '../../../src/harvest/harvest-records.ts';
import {
  getCommittedPart,
  openHarvestStore,
  type RecordHarvestSubject,
  storeCommittedPart,
  storeOrAssertSubject,
} from '../../../src/harvest/harvest-store.ts';
import {
  type OpenedOutput,
  type OutputOpenOptions,
  openFileOutput,
  type RecordOutput,
} from '../../../src/harvest/outputs.ts';
import type { Exchange } from '../../../src/service/http/exchange.ts';
import { manualClock, playOut } from '../../support/manual-clock.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { SET } from './fake-repository.ts';
import { makeClient } from './scripted-client.ts';

export type RunOptions = {
  readonly form?: RecordHarvestSubject['form'];
  readonly from?: string;
  readonly until?: string;
  readonly full?: boolean;
  /** Default: a list of a test is so short that each loss is a large part of it. */
  readonly acceptLosses?: boolean;
  readonly verify?: boolean;
  readonly sets?: readonly string[];
  /** Takes what a person is told. */
  readonly notes?: string[];
  readonly rights?: string;
  readonly indexAllowanceMs?: number;
  /** Default: one that is moved until the harvest is over. */
  readonly clock?: Clock;
  readonly startProgress?: HarvestRequest['startProgress'];
  /** Stands before the output. */
  readonly wrap?: (output: RecordOutput) => RecordOutput;
};

/** An output in a folder of its own, harvested into again and again. */
export type HarvestPlace = {
  readonly path: string;
  run(exchange: Exchange, options?: RunOptions): Promise<RecordHarvest>;
  /** Leaves half a page behind the end, as a process may that is killed while it writes. */
  breakOff(): void;
  /** Every whole line of JSON so far. */
  lines(): JsonLine[];
};

export type JsonLine = {
  readonly identifier: string;
  readonly datestamp: string;
  readonly deleted?: true;
  readonly masked?: true;
  readonly metadata?: unknown;
};

export function harvestPlace(name = 'out.jsonl'): HarvestPlace {
  const folder = join(tempFolder(), 'out');
  mkdirSync(folder);
  const path = join(folder, name);
  return {
    path,
    run: (exchange, options = {}) => runOnce(path, exchange, options),
    breakOff: () => {
      if (!existsSync(path)) return;
      appendFileSync(path, '{"identifier":"half a pa');
      const store = openHarvestStore(`${path}.harvest`);
      store.change(() =>
        storeCommittedPart(store, { ...getCommittedPart(store), closedBytes: null }),
      );
      store.close();
    },
    lines: () =>
      (existsSync(path) ? readFileSync(path, 'utf8') : '')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as JsonLine),
  };
}

async function runOnce(
  path: string,
  exchange: Exchange,
  options: RunOptions,
): Promise<RecordHarvest> {
  const { form = 'jsonl', from, until } = options;
  const clock = manualClock();
  let opened: OpenedOutput | undefined;
  const running = harvestRecords({
    client: makeClient(exchange),
    clock: options.clock ?? clock,
    openOutput: async (opening) => {
      opened = await open(path, form, options, opening);
      return { ...opened, output: options.wrap?.(opened.output) ?? opened.output };
    },
    sets: options.sets ?? [SET],
    metadataPrefix: 'oai_svc',
    from,
    until,
    startProgress: options.startProgress,
    full: options.full === true,
    acceptLosses: options.acceptLosses ?? true,
    verify: options.verify === true,
    rights: options.rights,
    indexAllowanceMs: options.indexAllowanceMs ?? 0,
    onNote: (text) => options.notes?.push(text),
  });
  try {
    return await playOut(clock, running);
  } finally {
    await opened?.output.close();
    opened?.store.close();
  }
}

async function open(
  path: string,
  form: RecordHarvestSubject['form'],
  options: RunOptions,
  opening: OutputOpenOptions,
): Promise<OpenedOutput> {
  const store = openHarvestStore(`${path}.harvest`);
  const { from = '', until = '', sets = [SET] } = options;
  const subject = {
    oaiBase: OAI_BASE,
    version: '2.2',
    sets: sets.join(' '),
    format: 'oai_svc',
    fromBound: from,
    untilBound: until,
    account: '',
    form,
  };
  store.change(() => storeOrAssertSubject(store, subject, path));
  try {
    return { store, output: await openFileOutput(path, store, subject, opening) };
  } catch (thrown) {
    store.close();
    throw thrown;
  }
}
