import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../../src/base/errors.ts';
import { makeDeadlineSignal } from '../../../src/cli/context/context.ts';
import { openOaiClient } from '../../../src/harvest/client.ts';
import { type Exchange, TransportError } from '../../../src/service/http/exchange.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  answer,
  listXml,
  OAI_BASE,
  oaiError,
  oaiXml,
  recordXml,
} from '../../support/scripted-oai.ts';
import { harvestPlace, SET } from './record-harvest.ts';

/** A service that answers what is asked beside its list, and `list` for that. */
const service =
  (list: (token: string | null) => string): Exchange =>
  async ({ url }) => {
    const query = new URL(url).searchParams;
    if (query.get('verb') === 'Identify') return answer(oaiXml('<Identify/>'));
    if (query.get('verb') === 'ListSets')
      return answer(oaiXml(`<ListSets><set><setSpec>${SET}</setSpec></set></ListSets>`));
    return answer(list(query.get('resumptionToken')));
  };

const makeClient = (exchange: Exchange) =>
  openOaiClient({ oaiBase: OAI_BASE, exchange, credentials: { kind: 'none' } });
const RECORDS = { metadataPrefix: 'oai_svc' };

describe('a service that violates the protocol', () => {
  test('by an empty answer to its own token has not shown the whole list', async () => {
    const exchange = service((token) =>
      token === null ? listXml('ListRecords', [recordXml('A')], 'T') : oaiError('noRecordsMatch'),
    );
    await expect(harvestPlace().run(exchange)).rejects.toMatchObject({ oaiCode: 'incomplete' });
  });
});

describe('the deadline of a harvest', () => {
  test('ends it, with everything read stored', async () => {
    const clock = manualClock();
    const signal = makeDeadlineSignal(
      { clock, onClose: () => {} },
      new AbortController().signal,
      '30m',
    );
    const silent: Exchange = (request) =>
      new Promise((_, fail) => {
        request.signal?.addEventListener('abort', () =>
          fail(new TransportError('aborted', true, 'stopped')),
        );
      });
    const listing = makeClient(silent).listRecords(RECORDS, signal);
    const failure = listing.catch((thrown: unknown) => thrown);
    await clock.advance(29 * 60_000);
    expect(signal.aborted).toBe(false);
    await clock.advance(60_000);
    expect(await failure).toBeInstanceOf(UnavailableError);
    expect(String(await failure)).toContain('The deadline of 30m (--deadline) has passed.');
  });

  test.each(['soon', '0m', '2 h', '5d'])('is not "%s"', (deadline) => {
    const stop = new AbortController().signal;
    expect(() =>
      makeDeadlineSignal({ clock: manualClock(), onClose: () => {} }, stop, deadline),
    ).toThrow(`"${deadline}" is not a duration.`);
  });
});

test.each([
  ['no', 1],
  ['transient', 1],
  ['persistent', 0],
])('a service whose deletedRecord is %s causes %i hint to use --full', async (keptText, hints) => {
  const notes: string[] = [];
  const singlePage = service(() => listXml('ListRecords', [recordXml('A')]));
  const exchange: Exchange = async (request) =>
    request.url.includes('verb=Identify')
      ? answer(oaiXml(`<Identify><deletedRecord>${keptText}</deletedRecord></Identify>`))
      : singlePage(request);
  await harvestPlace().run(exchange, { notes });
  expect(notes.filter((note) => note.includes('--full'))).toHaveLength(hints);
});
