import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asMonotonicMs, asWallMs, type Clock } from '../../src/base/clock.ts';
import { listTermsOfSet } from '../../src/finds/vocabulary/terms.ts';
import { openVocabulary } from '../../src/finds/vocabulary/vocabulary-store.ts';
import { type OaiClient, openOaiClient } from '../../src/harvest/client.ts';
import { harvestRecords } from '../../src/harvest/harvest-records.ts';
import { harvestVocabulary } from '../../src/harvest/harvest-vocabulary.ts';
import { openHarvestStore, storeOrCompareSubject } from '../../src/harvest/harvested-records.ts';
import { openFileOutput, type RecordOutput } from '../../src/harvest/outputs.ts';
import type { Exchange } from '../../src/service/http/exchange.ts';
import { type JsonLine, unseal } from '../support/record-harvest.ts';
import { OAI_BASE } from '../support/scripted-oai.ts';
import { SET } from './service.ts';

type Shown = ReadonlyMap<string, string>;

const VERSION = '2.2';
/** Longer than any delay of an index. */
const INDEX_ALLOWANCE_MS = 10 * 60_000;

export type Run = {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly full: boolean;
  readonly rights: string;
  readonly acceptLosses: boolean;
};

type Ran = {
  /** All was read, not only what changed. */
  readonly isFull: boolean;
  /** The list is accepted: the command ends with 0. */
  readonly isBelieved: boolean;
};

/**
 * One of the two commands, with what it keeps between its runs: the one place where scenarios meet
 * the program.
 */
export type HarvestClient = {
  /** @throws what the command would say */
  run(run: Run): Promise<Ran>;
  /** Remains of a kill in the middle of a write. */
  breakOff(): void;
  holds(): Shown;
  close(): void;
};

function makeClient(exchange: Exchange): OaiClient {
  return openOaiClient({
    oaiBase: OAI_BASE,
    version: VERSION,
    exchange,
    credentials: { kind: 'none' },
  });
}

/** `pas harvest SET --out FILE` */
export function recordsClient(): HarvestClient {
  const folder = mkdtempSync(join(tmpdir(), 'pas-scenario-'));
  const path = join(folder, 'out.jsonl');
  return {
    run: async ({ exchange, clock, full, rights, acceptLosses }) => {
      const store = openHarvestStore(`${path}.harvest`);
      let output: RecordOutput | undefined;
      const subject = {
        oaiBase: OAI_BASE,
        version: VERSION,
        sets: SET,
        format: 'oai_svc',
        fromBound: '',
        untilBound: '',
        account: '',
        form: 'jsonl',
      } as const;
      try {
        store.change(() => storeOrCompareSubject(store, subject, path));
        const { pass, sets } = await harvestRecords({
          client: makeClient(exchange),
          clock,
          openOutput: async (opening) => {
            output = await openFileOutput(path, store, subject, opening);
            return { store, output };
          },
          sets: [SET],
          metadataPrefix: 'oai_svc',
          skipBroken: false,
          full,
          rights,
          acceptLosses,
          indexAllowanceMs: INDEX_ALLOWANCE_MS,
        });
        return {
          isFull: pass === 'full',
          isBelieved: sets.every(({ unconfirmed }) => unconfirmed === undefined),
        };
      } finally {
        await output?.close();
        store.close();
      }
    },
    breakOff: () => {
      if (!existsSync(path)) return;
      appendFileSync(path, '{"identifier":"half a pa');
      unseal(`${path}.harvest`);
    },
    holds: () => {
      const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
      const last = new Map(
        lines.map((line) => JSON.parse(line) as JsonLine).map((line) => [line.identifier, line]),
      );
      return new Map(
        [...last.values()]
          .filter(({ deleted, ...line }) => deleted !== true && !('vanished' in line))
          .map(({ identifier, metadata }) => [
            identifier.slice(`${OAI_BASE}/id/`.length),
            (metadata as Record<string, Record<string, string>>)[SET]?.['vypis_cely'] ?? '',
          ]),
      );
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}

/** `pas harvest-vocab SET` */
export function vocabularyClient(): HarvestClient {
  const folder = mkdtempSync(join(tmpdir(), 'pas-scenario-'));
  const path = join(folder, 'vocabulary.sqlite');
  let now = Date.now;
  const clock: Clock = {
    now: () => asWallMs(now()),
    monotonicMs: () => asMonotonicMs(now()),
    sleep: async () => {},
    hold: () => {},
  };
  return {
    run: async (run) => {
      now = run.clock.now;
      const store = openVocabulary(path, run.clock);
      try {
        const [harvested] = await harvestVocabulary({
          client: makeClient(run.exchange),
          vocabulary: store.openSource(OAI_BASE),
          clock: run.clock,
          sets: [SET],
          metadataPrefix: 'oai_svc',
          full: run.full,
          acceptLosses: run.acceptLosses,
          skipBroken: false,
          subject: `${VERSION} `,
          indexAllowanceMs: INDEX_ALLOWANCE_MS,
        });
        return {
          isFull: harvested?.pass === 'full',
          isBelieved: harvested?.unconfirmed === undefined,
        };
      } finally {
        store.close();
      }
    },
    breakOff: () => {},
    holds: () => {
      const store = openVocabulary(path, clock);
      try {
        return new Map(
          listTermsOfSet(store.openSource(OAI_BASE), SET).map(({ ident, label }) => [ident, label]),
        );
      } finally {
        store.close();
      }
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
