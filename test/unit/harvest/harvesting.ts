import type { PasError } from '../../../src/base/errors.ts';
import { type HarvestOptions, harvestList } from '../../../src/harvest/harvest-list.ts';
import { openStateInMemory, type RecordStore } from '../../../src/harvest/harvest-state.ts';
import { getShortIdentifier } from '../../../src/harvest/protocol.ts';
import type { HttpRequest } from '../../../src/service/http/exchange.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { listArguments, listXml, recordXml, scripted } from '../../support/scripted-oai.ts';
import { makeClient } from './scripted-client.ts';

/** The service's clock. */
export const NOW_MS = Date.UTC(2025, 5, 18, 8);
const HOUR_MS = 3_600_000;

export type Answers = (
  args: ReadonlyMap<string, string>,
  nth: number,
  request: HttpRequest,
) => string;

/** A harvest of what a service says; what is kept may be given from an earlier one. */
export function harvesting(
  answers: Answers,
  { state = openStateInMemory(), holdings, ...more }: Partial<HarvestOptions & RecordStore> = {},
) {
  const exchange = scripted((request) => {
    const args = new Map(
      listArguments(request).map((each) => each.split('=', 2) as [string, string]),
    );
    const text = answers(args, exchange.requests.length, request);
    return args.get('verb') === 'ListIdentifiers'
      ? text.replaceAll('ListRecords', 'ListIdentifiers')
      : text;
  });
  const keptLines: string[] = [];
  const notes: string[] = [];
  const pages: number[] = [];
  const run = () =>
    harvestList({
      client: makeClient(exchange),
      clock: { ...manualClock(), sleep: async () => {} },
      setSpec: 'heslo',
      metadataPrefix: 'oai_svc',
      granularity: 'second',
      serverNowMs: NOW_MS,
      window: { fromMs: null, untilMs: null },
      overlapMs: HOUR_MS,
      store: {
        state,
        holdings,
        write: async ({ records }) => {
          pages.push(records.length);
          keptLines.push(...records.map(({ header }) => getShortIdentifier(header.identifier)));
        },
        commit: () => [],
      },
      onNote: (text) => notes.push(text),
      ...more,
    });
  const failure = async (): Promise<readonly [string, string]> => {
    const thrown = await run().catch((each: unknown) => each as PasError);
    if (!(thrown instanceof Error)) throw new Error('it was complete');
    return [thrown.message, String(thrown.hint)];
  };
  const asked = () => exchange.requests.map((request) => listArguments(request).join(' '));
  return { state, kept: keptLines, notes, pages, run, failure, asked, requests: exchange.requests };
}

export const list = (names: readonly string[], token?: string, attributes?: string): string =>
  listXml(
    'ListRecords',
    names.map((name) => recordXml(name)),
    token,
    attributes,
  );
/** The first question of a harvest. */
export const ALL = 'verb=ListRecords metadataPrefix=oai_svc set=heslo';
