import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openOaiClient } from '../../src/harvest/client.ts';
import {
  harvestRecords,
  openSetState,
  type RecordHarvest,
} from '../../src/harvest/harvest-records.ts';
import type { HarvestState } from '../../src/harvest/harvest-state.ts';
import {
  deleteClosedBytes,
  openHarvestStore,
  type RecordHarvestSubject,
  storeOrCompareSubject,
} from '../../src/harvest/harvested-records.ts';
import {
  type OpenedOutput,
  type OutputOpenOptions,
  openFileOutput,
  type RecordOutput,
} from '../../src/harvest/outputs.ts';
import type { HarvestRequest } from '../../src/harvest/service-lists.ts';
import type { Exchange } from '../../src/service/http/exchange.ts';
import { manualClock } from './manual-clock.ts';
import { OAI_BASE } from './scripted-oai.ts';
import { tempFolder } from './temp-outbox.ts';

export const SET = 'heslo:predmet_druh';

export type RunOptions = {
  readonly form?: RecordHarvestSubject['form'];
  readonly from?: string;
  readonly until?: string;
  readonly skipBroken?: boolean;
  readonly full?: boolean;
  /** Default: a list of a test is so short that each loss is a large part of it. */
  readonly acceptLosses?: boolean;
  readonly verify?: boolean;
  readonly sets?: readonly string[];
  /** Takes what a person is told. */
  readonly notes?: string[];
  /** Leaves half a page behind the end, as a process that was killed may. */
  readonly killed?: boolean;
  readonly startProgress?: HarvestRequest['startProgress'];
  /** Stands before the output. */
  readonly wrap?: (output: RecordOutput) => RecordOutput;
};

/** An output in a folder of its own, harvested into again and again. */
export type HarvestPlace = {
  readonly folder: string;
  readonly path: string;
  run(exchange: Exchange, options?: RunOptions): Promise<RecordHarvest>;
  /** Remembered state that `look` reads. */
  state<T>(look: (state: HarvestState) => T): T;
  /** Every line of JSON so far. */
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
    folder,
    path,
    run: (exchange, options = {}) => runOnce(path, exchange, options),
    state: (look) => {
      const store = openHarvestStore(`${path}.harvest`);
      try {
        return look(openSetState(store, SET, () => 0));
      } finally {
        store.close();
      }
    },
    lines: () =>
      (existsSync(path) ? readFileSync(path, 'utf8') : '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as JsonLine),
  };
}

/** Leaves the notes as a process does that was killed while it wrote. */
export function unseal(storePath: string): void {
  const store = openHarvestStore(storePath);
  deleteClosedBytes(store);
  store.close();
}

async function runOnce(
  path: string,
  exchange: Exchange,
  options: RunOptions,
): Promise<RecordHarvest> {
  const { form = 'jsonl', from, until, killed = false } = options;
  const clock = manualClock();
  let opened: OpenedOutput | undefined;
  const running = harvestRecords({
    client: openOaiClient({
      oaiBase: OAI_BASE,
      version: '2.2',
      exchange,
      credentials: { kind: 'none' },
    }),
    clock,
    openOutput: async (opening) => {
      opened = await open(path, form, options, opening);
      return { ...opened, output: options.wrap?.(opened.output) ?? opened.output };
    },
    sets: options.sets ?? [SET],
    metadataPrefix: 'oai_svc',
    from,
    until,
    startProgress: options.startProgress,
    skipBroken: options.skipBroken === true,
    full: options.full === true,
    acceptLosses: options.acceptLosses ?? true,
    verify: options.verify === true,
    indexAllowanceMs: 0,
    onNote: (text) => options.notes?.push(text),
  });
  let over = false;
  const settled = running.finally(() => {
    over = true;
  });
  settled.catch(() => {});
  while (!over) await clock.advance(10_000);
  await opened?.output.close();
  opened?.store.close();
  if (killed && existsSync(path)) {
    appendFileSync(path, '{"identifier":"half a pa');
    unseal(`${path}.harvest`);
  }
  return settled;
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
  store.change(() => storeOrCompareSubject(store, subject, path));
  try {
    return { store, output: await openFileOutput(path, store, subject, opening) };
  } catch (thrown) {
    store.close();
    throw thrown;
  }
}
