import { describe, expect, test } from 'vitest';
import { useTestMock } from '../support/start-mock.ts';
import { ask, listAll, parseError, parseHeaders, type RawHeader } from './raw-harvest.ts';

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
});
