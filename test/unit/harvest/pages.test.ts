import { describe, expect, test } from 'vitest';
import { InterruptedError, OaiError, UnavailableError } from '../../../src/base/errors.ts';
import { listPages, type PagesOptions } from '../../../src/harvest/client.ts';
import { getShortIdentifier, type OaiRecord } from '../../../src/harvest/protocol.ts';
import { type HttpRequest, TransportError } from '../../../src/service/http/exchange.ts';
import { manualClock, playOut } from '../../support/manual-clock.ts';
import {
  answer,
  listXml,
  oaiError,
  recordXml,
  type Script,
  scripted,
} from '../../support/scripted-oai.ts';
import { makeClient } from './scripted-client.ts';

type Walk = { readonly idents: string[]; readonly failure: unknown };

async function walk(exchange: Script, more: Partial<PagesOptions<OaiRecord>> = {}): Promise<Walk> {
  const client = makeClient(exchange);
  const clock = manualClock();
  const idents: string[] = [];
  const walking = (async () => {
    const pages = listPages({
      fetchPage: client.listRecords,
      start: { metadataPrefix: 'oai_svc' },
      clock,
      ...more,
    });
    for await (const page of pages)
      idents.push(...page.items.map(({ header }) => getShortIdentifier(header.identifier)));
  })();
  const ended = walking.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { idents, failure: await playOut(clock, ended) };
}

const page = (idents: readonly string[], token?: string): string =>
  listXml(
    'ListRecords',
    idents.map((ident) => recordXml(ident)),
    token,
  );

const parseToken = ({ url }: HttpRequest): string =>
  new URL(url).searchParams.get('resumptionToken') ?? '';

/** A service that gives each page as often as it is asked for. */
const byToken = (pages: Readonly<Record<string, string>>): Script =>
  scripted((request) => pages[parseToken(request)] ?? oaiError('badResumptionToken'));

describe('the next page', () => {
  test('is requested while the current one is used', async () => {
    const exchange = byToken({ '': page(['A'], 'T1'), T1: page(['B'], 'T2'), T2: page(['C']) });
    const pages = listPages({
      fetchPage: makeClient(exchange).listRecords,
      start: { metadataPrefix: 'oai_svc' },
      clock: manualClock(),
    });
    const asked: number[] = [];
    for await (const { items } of pages) {
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      asked.push(exchange.requests.length);
      expect(items).toHaveLength(1);
    }
    expect(asked).toEqual([2, 3, 3]);
  });

  test('does not hide that the previous one stays broken, though the service invalidates used tokens', async () => {
    const broken = listXml('ListRecords', [recordXml('B', '<x>&</x>'), recordXml('C')], 'T2');
    const used = new Set<string>();
    const pages: Readonly<Record<string, string>> = {
      '': page(['A'], 'T1'),
      T1: broken,
      T2: page(['D']),
    };
    const exchange = scripted((request) => {
      const token = parseToken(request);
      return used.size === used.add(token).size
        ? oaiError('badResumptionToken')
        : (pages[token] ?? '');
    });
    const { idents, failure } = await walk(exchange);
    expect(idents).toEqual(['A']);
    expect(failure).toMatchObject({ oaiCode: 'malformed' });
  });
});

describe('a list ends', () => {
  test.each([
    ['where there is no token', [page(['A'], 'T1'), page(['B'])], ['A', 'B']],
    ['at an empty token, as the standard has it', [page(['A'], 'T1'), page(['B'], '')], ['A', 'B']],
    [
      'at an empty page without a token, as deployed services have it',
      [page(['A'], 'T1'), page(['B'], 'T2'), page([])],
      ['A', 'B'],
    ],
    ['at once where nothing matches', [oaiError('noRecordsMatch')], []],
    [
      'not at an empty page in the middle',
      [page(['A'], 'T1'), page([], 'T2'), page(['B'])],
      ['A', 'B'],
    ],
    ['after a page of one record', [page(['A'])], ['A']],
  ])('%s', async (_, pages, expected) => {
    const exchange = scripted(...pages);
    expect(await walk(exchange)).toEqual({ idents: expected, failure: undefined });
    expect(exchange.requests).toHaveLength(pages.length);
  });
});

describe('an endless list', () => {
  test.each([
    ['the same token again', [page(['A'], 'T1'), page(['B'], 'T1')], ['A', 'B']],
    [
      'tokens in a circle',
      [page(['A'], 'T1'), page(['B'], 'T2'), page(['C'], 'T1')],
      ['A', 'B', 'C'],
    ],
    ['the token that was resumed from', [page(['A'], 'START')], ['A']],
  ])('%s is a failure', async (_, pages, expected) => {
    const { failure, idents } = await walk(scripted(...pages), {
      start: { resumptionToken: 'START' },
    });
    expect(failure).toMatchObject({
      oaiCode: 'loop',
      exitCode: 14,
      message: 'The list of the service repeats itself or does not end.',
      hint: expect.stringContaining('tell the operator of the service'),
    });
    expect(idents).toEqual(expected);
  });

  test('with a hundred empty pages in a row is accepted, with one more is a failure', async () => {
    const after = async (emptyPages: number): Promise<Walk> => {
      let askedCount = 0;
      return walk(
        scripted(() => {
          askedCount += 1;
          return askedCount > emptyPages ? page(['A']) : page([], `T${askedCount}`);
        }),
      );
    };
    expect(await after(100)).toEqual({ idents: ['A'], failure: undefined });
    expect((await after(101)).failure).toMatchObject({ oaiCode: 'loop' });
  });

  test('is not a list of more than a hundred pages, nor one with many empty pages between', async () => {
    let askedCount = 0;
    const long = scripted(() => {
      askedCount += 1;
      return page(
        askedCount % 2 === 0 ? [] : [`N${askedCount}`],
        askedCount < 250 ? `T${askedCount}` : undefined,
      );
    });
    const { idents, failure } = await walk(long);
    expect([idents.length, failure]).toEqual([125, undefined]);
    askedCount = 0;
    const full = scripted(() => {
      askedCount += 1;
      return page([`N${askedCount}`], askedCount < 120 ? `T${askedCount}` : undefined);
    });
    expect((await walk(full)).idents).toHaveLength(120);
  });
});

describe('an unreadable page', () => {
  test('is requested again, and the list continues', async () => {
    const whole = page(['B']);
    const exchange = scripted(
      page(['A'], 'T1'),
      answer(whole.slice(0, 300)),
      answer('<html>'),
      whole,
    );
    expect(await walk(exchange)).toEqual({ idents: ['A', 'B'], failure: undefined });
  });

  test('ends the list if it stays so', async () => {
    const exchange = scripted(page(['A'], 'T1'), answer('<html>'));
    const { idents, failure } = await walk(exchange);
    expect([idents, exchange.requests.length]).toEqual([['A'], 4]);
    expect(failure).toMatchObject({ oaiCode: 'malformed' });
  });

  test('does not hide the error of the service when it is requested again', async () => {
    const exchange = scripted(page(['A'], 'T1'), answer('<html>'), answer('', { status: 503 }));
    expect((await walk(exchange)).failure).toBeInstanceOf(UnavailableError);
    const forgetful = scripted(page(['A'], 'T1'), answer('<html>'), oaiError('badResumptionToken'));
    expect((await walk(forgetful)).failure).toMatchObject({ oaiCode: 'malformed' });
  });
});

test.each([
  ['an address where nothing is', answer('', { status: 404 })],
  ['an answer without end', new TransportError('too-large', true, 'too large')],
])('%s is not requested again', async (_, step) => {
  const exchange = scripted(step);
  expect((await walk(exchange)).failure).toMatchObject({ oaiCode: 'malformed' });
  expect(exchange.requests).toHaveLength(1);
});

test('a refusal that may be a temporary failure is tried once more, an expired token is not', async () => {
  const troubled = scripted(page(['A'], 'T1'), oaiError('badArgument'), page(['B']));
  expect((await walk(troubled)).idents).toEqual(['A', 'B']);
  const expired = scripted(page(['A'], 'T1'), oaiError('badResumptionToken'));
  expect((await walk(expired)).failure).toMatchObject({ oaiCode: 'badResumptionToken' });
  expect(expired.requests).toHaveLength(2);
});

test('a reader that stops early leaves nothing running and gets no later failure', async () => {
  const exchange = scripted(page(['A'], 'T1'), new Error('nobody waits for this'));
  const client = makeClient(exchange);
  const pages = listPages({
    fetchPage: client.listRecords,
    start: { metadataPrefix: 'oai_svc' },
    clock: manualClock(),
  });
  for await (const { items } of pages) {
    expect(items).toHaveLength(1);
    break;
  }
  expect(exchange.requests[1]?.signal?.aborted).toBe(true);
});

test('the signal of the caller reaches the request', async () => {
  const stop = new AbortController();
  const exchange = scripted(() => {
    stop.abort();
    throw new OaiError('malformed', 'cut off');
  });
  const { failure } = await walk(exchange, { signal: stop.signal });
  expect(failure).toBeInstanceOf(InterruptedError);
});
