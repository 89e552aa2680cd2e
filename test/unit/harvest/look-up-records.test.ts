import { describe, expect, test } from 'vitest';
import { fetchFindRecord, harvestFinds } from '../../../src/harvest/pull-finds.ts';
import type { Exchange } from '../../../src/service/http/exchange.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { answer, OAI_BASE, oaiError, oaiXml } from '../../support/scripted-oai.ts';
import { makeClient } from './scripted-client.ts';

const FROM = Date.UTC(2025, 5, 1, 12);

type Kept = { stav: number | 'refused' | 'deleted'; at: string };

/** A list of finds in memory, in pages of two. `before` may change it between requests. */
function service(
  records: Map<string, Kept>,
  before: (request: number, query: URLSearchParams) => string | undefined = () => undefined,
) {
  const askedIdents: string[] = [];
  const exchange: Exchange = async (request) => {
    const query = new URL(request.url).searchParams;
    askedIdents.push(
      [
        query.get('verb'),
        query.get('from') ?? query.get('resumptionToken') ?? query.get('identifier'),
      ].join(' '),
    );
    return answer(before(askedIdents.length, query) ?? reply(query));
  };
  const reply = (query: URLSearchParams): string => {
    if (query.get('verb') === 'Identify')
      return oaiXml('<Identify><granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>');
    if (query.get('verb') === 'GetRecord') {
      const ident = query.get('identifier')?.split('/').at(-1) ?? '';
      const keptRecord = records.get(ident);
      return keptRecord === undefined
        ? oaiError('idDoesNotExist')
        : oaiXml(`<GetRecord>${recordXml(ident, keptRecord)}</GetRecord>`);
    }
    const all = [...records].sort(([, a], [, b]) => (a.at < b.at ? 1 : -1));
    if (all.length === 0) return oaiError('noRecordsMatch');
    const offset = Number(query.get('resumptionToken') ?? '0');
    const page = all.slice(offset, offset + 2).map(([ident, kept]) => recordXml(ident, kept));
    const next = offset + 2 < all.length ? String(offset + 2) : '';
    const token =
      all.length > 2
        ? `<resumptionToken completeListSize="${all.length}" cursor="${offset}">${next}</resumptionToken>`
        : '';
    const verb = query.get('verb');
    return oaiXml(`<${verb}>${page.join('')}${token}</${verb}>`);
  };
  const client = makeClient(exchange);
  return {
    asked: askedIdents,
    options: { client, format: 'oai_svc', clock: manualClock(), indexAllowanceMs: 0 },
  };
}

function recordXml(ident: string, { stav, at }: Kept): string {
  const header = `<header${stav === 'deleted' ? ' status="deleted"' : ''}><identifier>${OAI_BASE}/id/${ident}</identifier><datestamp>${at}</datestamp></header>`;
  const inner =
    stav === 'refused'
      ? 'HTTP/1.1 403 Forbidden'
      : `<samostatny_nalez><ident_cely>${ident}</ident_cely><stav>${stav}</stav></samostatny_nalez>`;
  return `<record>${header}${stav === 'deleted' ? '' : `<metadata><svc xmlns="urn:svc/2.2/">${inner}</svc></metadata>`}</record>`;
}

const day = (date: number): string => `2025-06-${String(date).padStart(2, '0')}T06:00:00Z`;
const several = (count: number): Map<string, Kept> =>
  new Map(
    Array.from({ length: count }, (_, index) => [
      `N-${index + 1}`,
      { stav: 1, at: day(index + 1) },
    ]),
  );

describe('the finds of a list', () => {
  test('are classified: shown, withheld, deleted', async () => {
    const records = several(2);
    records.set('W', { stav: 'refused', at: day(3) }).set('D', { stav: 'deleted', at: day(4) });
    const { options, asked } = service(records);
    const { lookups, beganMs } = await harvestFinds(options, FROM);
    expect([...lookups].map(([ident, { kind }]) => [ident, kind])).toEqual([
      ['D', 'deleted'],
      ['W', 'withheld'],
      ['N-2', 'shown'],
      ['N-1', 'shown'],
    ]);
    expect(beganMs).toBe(Date.UTC(2025, 5, 18, 8));
    expect(asked.slice(0, 3)).toEqual([
      'Identify ',
      'ListRecords 2025-06-01T12:00:00Z',
      'ListRecords 2',
    ]);
    // Changes during the reading of the list are requested at the end.
    expect(asked[3]).toBe('ListRecords 2025-06-18T07:50:00Z');
  });

  test('are not lost if one changes during the scan, and the last version counts', async () => {
    const records = several(6);
    const { options } = service(records, (request) => {
      // After the first page, the oldest record moves to the front, where this walk has passed
      // already.
      if (request === 3) records.set('N-1', { stav: 2, at: day(28) });
      return undefined;
    });
    const { lookups } = await harvestFinds(options, FROM);
    expect([...lookups.keys()].sort()).toEqual([...records.keys()]);
    expect(lookups.get('N-1')).toMatchObject({ kind: 'shown', record: { stav: 2 } });
  });
});

test.each([
  ['without content', /<metadata>.*?<\/metadata>/],
  ['that is no find', /<samostatny_nalez>.*?<\/samostatny_nalez>/],
])(
  'a listed record %s may be any find, so the list proves the absence of none',
  async (_, gone) => {
    const { options } = service(several(2), (_request, query) =>
      query.get('verb') === 'ListRecords'
        ? oaiXml(
            `<ListRecords>${recordXml('odd', { stav: 1, at: day(1) }).replace(gone, '')}</ListRecords>`,
          )
        : undefined,
    );
    await expect(harvestFinds(options, FROM)).rejects.toThrow(
      `Harvesting lists ${OAI_BASE}/id/odd without content that pas can read`,
    );
  },
);

test('a listed record that is no find is not forgotten where the list has it a second time', async () => {
  const odd = recordXml('odd', { stav: 1, at: day(1) }).replaceAll('samostatny_nalez', 'projekt');
  const { options } = service(several(1), (_request, query) => {
    if (query.get('verb') !== 'ListRecords') return undefined;
    const size = 'completeListSize="2"';
    const page = query.has('resumptionToken')
      ? `${recordXml('N-1', { stav: 1, at: day(1) })}<resumptionToken ${size}/>`
      : `${odd}<resumptionToken ${size}>T2</resumptionToken>`;
    return oaiXml(`<ListRecords>${page}</ListRecords>`);
  });
  await expect(harvestFinds(options, FROM)).rejects.toThrow(
    `Harvesting lists ${OAI_BASE}/id/odd without content that pas can read`,
  );
});

test('a single record that is not a find is unreadable', async () => {
  const { options } = service(several(1), () =>
    oaiXml(
      `<GetRecord>${recordXml('odd', { stav: 1, at: day(1) }).replaceAll('samostatny_nalez', 'projekt')}</GetRecord>`,
    ),
  );
  expect(await fetchFindRecord(options, 'odd')).toEqual({ kind: 'unreadable' });
});
