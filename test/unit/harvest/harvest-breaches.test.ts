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
import { tempSource } from '../../support/temp-vocabulary.ts';
import { serviceOfList } from './fake-repository.ts';
import { labels } from './harvest-output.ts';
import { harvestPlace } from './record-harvest.ts';
import { aRepository, ident } from './term-repository.ts';
import { harvest, stored } from './vocabulary-harvest.ts';

const makeClient = (exchange: Exchange) =>
  openOaiClient({ oaiBase: OAI_BASE, exchange, credentials: { kind: 'none' } });
const RECORDS = { metadataPrefix: 'oai_svc' };

describe('a service that violates the protocol', () => {
  test('by an empty answer to its own token has not shown the whole list', async () => {
    const exchange = serviceOfList((query) =>
      !query.has('resumptionToken')
        ? listXml('ListRecords', [recordXml('A')], 'T')
        : oaiError('noRecordsMatch'),
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
  const singlePage = serviceOfList(() => listXml('ListRecords', [recordXml('A')]));
  const exchange: Exchange = async (request) =>
    request.url.includes('verb=Identify')
      ? answer(oaiXml(`<Identify><deletedRecord>${keptText}</deletedRecord></Identify>`))
      : singlePage(request);
  await harvestPlace().run(exchange, { notes });
  expect(notes.filter((note) => note.includes('--full'))).toHaveLength(hints);
});

const HOUR_MS = 3_600_000;

describe('a service’s clock that is ahead', () => {
  test('in one answer only hides no later change', async () => {
    using vocabulary = tempSource();
    const place = harvestPlace();
    const repository = aRepository(5);
    repository.beforeAnswer = ({ url }) => {
      repository.aheadMs =
        url.includes('ListRecords') && !url.includes('resumptionToken') ? 5 * HOUR_MS : 0;
    };
    await place.run(repository.exchange);
    await harvest(repository, vocabulary);
    repository.beforeAnswer = () => {};
    repository.aheadMs = 0;
    repository.nowMs += HOUR_MS;
    repository.put(ident(2), 'změněno');
    repository.nowMs += 6 * HOUR_MS;
    await place.run(repository.exchange);
    await harvest(repository, vocabulary);
    expect(labels(place)).toEqual(repository.alive());
    expect(stored(vocabulary)).toEqual(repository.alive());
  });
});

test('vocabularies harvested by another account are read again', async () => {
  using vocabulary = tempSource();
  const repository = aRepository(5);
  const kinds = [];
  for (const account of ['', 'archaeologist', 'archaeologist', '']) {
    const [result] = await harvest(repository, vocabulary, { account });
    kinds.push(result?.pass);
  }
  expect(kinds).toEqual(['full', 'full', 'changes', 'full']);
});
