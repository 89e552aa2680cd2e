import { describe, expect, test } from 'vitest';
import {
  ask,
  listAll,
  parseError,
  parseHeaders,
  parseRecords,
  type RawHeader,
} from '../support/raw-harvest.ts';
import { useTestMock } from '../support/start-mock.ts';

// `from` and `until` (B-DATE-1), deleted records (B-DATE-3), and what moves a datestamp (B-DATE-2).

const mock = await useTestMock();

const ALL = 'verb=ListIdentifiers&metadataPrefix=oai_dc';
const asArchivist = { as: 'archivist' } as const;

async function within(window: string): Promise<RawHeader[]> {
  const { text } = await ask(mock, ALL + window, asArchivist);
  return parseError(text) === 'noRecordsMatch' ? [] : listAll(mock, ALL + window, asArchivist);
}

describe('from and until', () => {
  const windows: ReadonlyArray<readonly [string, (datestamp: string) => boolean]> = [
    ['&from=2024-09-01', (datestamp) => datestamp >= '2024-09-01'],
    ['&until=2024-08-31', (datestamp) => datestamp < '2024-09-01'],
    [
      '&from=2024-08-01&until=2024-08-31',
      (datestamp) => datestamp >= '2024-08-01' && datestamp < '2024-09-01',
    ],
    ['&from=2024-08-17&until=2024-08-17', (datestamp) => datestamp.startsWith('2024-08-17')],
    ['&from=2024-05-06T11:31:07Z', (datestamp) => datestamp >= '2024-05-06T11:31:07Z'],
    ['&from=2024-05-06T11:31:08Z', (datestamp) => datestamp >= '2024-05-06T11:31:08Z'],
    ['&until=2024-05-06T11:31:07Z', (datestamp) => datestamp <= '2024-05-06T11:31:07Z'],
    ['&until=2024-05-06T11:31:06Z', (datestamp) => datestamp <= '2024-05-06T11:31:06Z'],
    [
      '&from=2024-05-06T11:31:07Z&until=2024-05-06T11:31:07Z',
      (datestamp) => datestamp === '2024-05-06T11:31:07Z',
    ],
  ];

  test.each(windows)(
    '%s lists exactly the matching records, with both bounds inclusive',
    async (window, isWithin) => {
      const all = await listAll(mock, ALL, asArchivist);
      const expected = all.filter((header) => isWithin(header.datestamp));
      expect(expected.length).toBeGreaterThan(0);
      expect(await within(window)).toEqual(expected);
    },
  );

  test('days without a change match nothing', async () => {
    expect(await within('&from=2023-02-01&until=2023-02-02')).toEqual([]);
  });

  test('two adjacent windows share no record and lose none', async () => {
    const all = await listAll(mock, ALL, asArchivist);
    const parts = [...(await within('&from=2024-11-01')), ...(await within('&until=2024-10-31'))];
    expect(parts).toEqual(all);
  });
});

describe('every change moves the datestamp', () => {
  test('a changed record comes first, with the time of its change', async () => {
    await mock.clock({ set: '2027-01-02T03:04:05.678Z', frozen: true });
    await mock.control('POST', '/records', { ident: 'HES-000253', changes: { razeni: '77' } });
    const { text } = await ask(
      mock,
      'verb=ListRecords&metadataPrefix=oai_svc&set=heslo:obdobi&from=2027-01-02',
    );
    expect(parseHeaders(text).map(({ ident, datestamp }) => [ident, datestamp])).toEqual([
      ['HES-000253', '2027-01-02T03:04:05Z'],
    ]);
    expect(parseRecords(text).get('HES-000253')).toContain('<svc:razeni>77</svc:razeni>');
  });

  test('responseDate follows the mock’s clock', async () => {
    await mock.clock({ set: '2030-06-07T08:09:10.500Z', frozen: true });
    expect((await ask(mock, 'verb=Identify')).text).toContain(
      '<responseDate>2030-06-07T08:09:10Z</responseDate>',
    );
  });
});

describe('a deleted record', () => {
  test('stays listed with the time of its deletion and without metadata, in both formats and every version', async () => {
    await mock.clock({ set: '2027-05-05T05:05:05Z', frozen: true });
    await mock.control('POST', '/records/OS-001533/delete', {});
    for (const version of ['2.0', '2.1', '2.2']) {
      for (const format of ['oai_dc', 'oai_svc']) {
        const { text } = await ask(
          mock,
          `verb=ListRecords&metadataPrefix=${format}&set=osoba&from=2027-05-05`,
          { version },
        );
        expect(parseHeaders(text)).toHaveLength(1);
        expect(parseHeaders(text)[0]).toMatchObject({
          ident: 'OS-001533',
          deleted: true,
          sets: ['osoba'],
        });
        expect(parseHeaders(text)[0]?.datestamp).toBe('2027-05-05T05:05:05Z');
        expect(text).not.toContain('<metadata>');
      }
    }
  });

  test('of the seed is listed for every account', async () => {
    const idents = async (as: string): Promise<string[]> =>
      (await listAll(mock, `${ALL}&set=samostatny_nalez`, { as }))
        .filter((header) => header.deleted)
        .map((header) => header.ident);
    for (const as of ['archivist', 'researcher', 'anonymous']) {
      expect(await idents(as)).toEqual(['M-202300316-N00005', 'C-202400101-N00009']);
    }
  });
});

describe('a new record, if the harvest index lags behind (index_delay_ms)', () => {
  const mine = `${ALL}&set=osoba&from=2027-05-05`;
  const listKnown = async (): Promise<Array<string | undefined>> => {
    const identifier = `${mock.server.oai_base}/id/OS-990001`;
    const one = parseError(
      (await ask(mock, `verb=GetRecord&metadataPrefix=oai_dc&identifier=${identifier}`)).text,
    );
    return [parseError((await ask(mock, mine)).text), one];
  };

  test('appears late, with the time of its change', async () => {
    await mock.clock({ set: '2027-05-05T05:05:05Z', frozen: true });
    await mock.settings({ index_delay_ms: 60_000 });
    const body = {
      ident_cely: 'OS-990001',
      jmeno: 'Eva',
      prijmeni: 'Nová',
      vypis: 'Nová, E.',
      vypis_cely: 'Nová, Eva',
    };
    expect((await mock.control('POST', '/records', { entity: 'osoba', body })).status).toBe(200);
    expect(await listKnown()).toEqual(['noRecordsMatch', 'idDoesNotExist']);
    await mock.clock({ advance_ms: 59_999 });
    expect(await listKnown()).toEqual(['noRecordsMatch', 'idDoesNotExist']);
    await mock.clock({ advance_ms: 1 });
    expect(await listKnown()).toEqual([undefined, undefined]);
    expect(parseHeaders((await ask(mock, mine)).text)).toMatchObject([
      { ident: 'OS-990001', datestamp: '2027-05-05T05:05:05Z' },
    ]);
  });
});
