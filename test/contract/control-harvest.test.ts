import { beforeEach, describe, expect, test } from 'vitest';
import { useTestMock } from '../support/start-mock.ts';
import { ask, fetchPages, listAll, parseError, parseHeaders, parseRecords } from './raw-harvest.ts';

// Histories and clocks that the control interface can set: a service should not have them, and
// sometimes has.

const NOW = '2027-05-05T05:05:05.000Z';
const OLD = '2019-03-04T05:06:07.000Z';

describe.each([
  ['by default', false],
  ['as deployed', true],
] as const)('%s', async (_mode, deployed) => {
  const mock = await useTestMock({ deployed });
  beforeEach(() => mock.clock({ set: NOW, frozen: true }));

  const list = (query = '', as = 'anonymous') =>
    listAll(mock, `verb=ListIdentifiers&metadataPrefix=oai_dc&set=osoba${query}`, { as });
  const person = (ident: string, name: string) => ({
    entity: 'osoba',
    body: {
      ident_cely: ident,
      jmeno: 'Eva',
      prijmeni: name,
      vypis: `${name}, E.`,
      vypis_cely: `${name}, Eva`,
    },
  });
  const getHeader = async (ident: string) =>
    (await list()).find((header) => header.ident === ident);
  const shown = (ident: string, as = 'anonymous') =>
    ask(
      mock,
      `verb=GetRecord&metadataPrefix=oai_svc&identifier=${mock.server.oai_base}/id/${ident}`,
      { as },
    );
  const getReason = (value: unknown) => (value as { error: string }).error;

  describe('a datestamp set by hand', () => {
    test('is used when a record is made, replaced or changed, however old it is', async () => {
      await mock.control('POST', '/records', { ...person('OS-990001', 'Nová'), datestamp: OLD });
      expect((await getHeader('OS-990001'))?.datestamp).toBe('2019-03-04T05:06:07Z');
      const change = {
        ident: 'OS-001533',
        changes: { rok_narozeni: '1950' },
        datestamp: Date.parse(OLD) + 1000,
      };
      expect((await mock.control('POST', '/records', change)).value).toMatchObject({
        datestamp: '2019-03-04T05:06:08.000Z',
      });
      expect((await list()).at(-2)).toMatchObject({
        ident: 'OS-001533',
        datestamp: '2019-03-04T05:06:08Z',
      });
      expect((await shown('OS-001533')).text).toContain(
        '<svc:rok_narozeni>1950</svc:rok_narozeni>',
      );
    });

    test('is used when a record is deleted', async () => {
      await mock.control('POST', '/records/OS-001533/delete', { datestamp: OLD });
      expect(await getHeader('OS-001533')).toMatchObject({
        deleted: true,
        datestamp: '2019-03-04T05:06:07Z',
      });
    });

    test('that is not a time is refused, and nothing changes', async () => {
      const before = await list();
      for (const datestamp of ['yesterday', '-000001-01-01T00:00:00Z', 1e16, null, {}]) {
        expect(
          (await mock.control('POST', '/records', { ...person('OS-990001', 'Nová'), datestamp }))
            .status,
        ).toBe(400);
        expect(
          (await mock.control('POST', '/records/OS-001533/delete', { datestamp })).status,
        ).toBe(400);
      }
      expect(await list()).toEqual(before);
    });
  });

  test('a record that is purged leaves no trace', async () => {
    const before = await list();
    expect(
      (await mock.control('POST', '/records/OS-001533/delete', { permanent: true })).status,
    ).toBe(200);
    expect(await list()).toEqual(before.filter((header) => header.ident !== 'OS-001533'));
    expect(parseError((await shown('OS-001533')).text)).toBe('idDoesNotExist');
    expect((await mock.control('GET', '/records/OS-001533')).status).toBe(404);
    const again = await mock.control('POST', '/records/OS-001533/delete', { permanent: true });
    expect([again.status, getReason(again.value)]).toEqual([
      404,
      expect.stringContaining('OS-001533'),
    ]);
    const both = { permanent: true, datestamp: OLD };
    expect((await mock.control('POST', '/records/OS-001507/delete', both)).status).toBe(400);
  });

  test('purging a record that was deleted before leaves no trace either, and its project no longer lists the find', async () => {
    await mock.control('POST', '/records/C-202400101-N00009/delete', { permanent: true });
    await mock.control('POST', '/records/C-202400101-N00001/delete', { permanent: true });
    const finds = await listAll(
      mock,
      'verb=ListIdentifiers&metadataPrefix=oai_dc&set=samostatny_nalez',
      { as: 'archivist' },
    );
    expect(finds.map((header) => header.ident)).not.toEqual(
      expect.arrayContaining(['C-202400101-N00009']),
    );
    expect((await shown('C-202400101', 'archivist')).text).not.toContain('C-202400101-N00001');
  });

  test('a restored record is unchanged, with the time of its return or an old datestamp', async () => {
    const before = (await shown('OS-001533')).text;
    await mock.control('POST', '/records/OS-001533/delete');
    expect(
      (await mock.control('POST', '/records/OS-001533/restore', { datestamp: OLD })).status,
    ).toBe(200);
    expect(await getHeader('OS-001533')).toMatchObject({
      deleted: false,
      datestamp: '2019-03-04T05:06:07Z',
    });
    const content = (text: string) => /<svc:osoba>.*<\/svc:osoba>/s.exec(text)?.[0];
    expect(content((await shown('OS-001533')).text)).toBe(content(before));
    expect((await mock.control('POST', '/records/OS-001533/restore')).status).toBe(404);
    await mock.control('POST', '/records/OS-001533/delete');
    await mock.clock({ advance_ms: 60_000 });
    await mock.control('POST', '/records/OS-001533/restore');
    expect((await getHeader('OS-001533'))?.datestamp).toBe('2027-05-05T05:06:05Z');
  });

  test('responseDate is offset by the configured amounts in turn; datestamps and tokens are not', async () => {
    await mock.settings({
      response_date_shifts_ms: [3_600_000, 0, -86_400_000],
      page_size: 2,
    });
    const dates: Array<string | undefined> = [];
    for (let requestCount = 0; requestCount < 4; requestCount += 1) {
      dates.push(/<responseDate>([^<]*)</.exec((await ask(mock, 'verb=Identify')).text)?.[1]);
    }
    expect(dates).toEqual([
      '2027-05-05T06:05:05Z',
      '2027-05-05T05:05:05Z',
      '2027-05-04T05:05:05Z',
      '2027-05-05T06:05:05Z',
    ]);
    await mock.control('POST', '/records', {
      ident: 'OS-001533',
      changes: { rok_narozeni: '1950' },
    });
    const { text } = await ask(mock, 'verb=ListIdentifiers&metadataPrefix=oai_dc&set=osoba');
    expect(parseHeaders(text)[0]?.datestamp).toBe('2027-05-05T05:05:05Z');
    expect(text).toContain('expirationDate="2027-05-05T06:05:05Z"');
    expect((await mock.control('PUT', '/settings', { response_date_shifts_ms: 5 })).status).toBe(
      400,
    );
  });

  describe('an index that is late', () => {
    beforeEach(() => mock.control('PUT', '/settings', { index_delay_ms: 60_000 }));
    const later = (ms: number) => mock.control('POST', '/clock', { advance_ms: ms });

    test('shows the old record at first, then the change with the time of its writing', async () => {
      const before = { list: await list(), record: (await shown('OS-001533')).text };
      await mock.control('POST', '/records', {
        ident: 'OS-001533',
        changes: { rok_narozeni: '1950' },
      });
      expect(await list()).toEqual(before.list);
      await later(59_999);
      expect(parseRecords((await shown('OS-001533')).text)).toEqual(parseRecords(before.record));
      await later(1);
      expect((await list())[0]).toMatchObject({
        ident: 'OS-001533',
        datestamp: '2027-05-05T05:05:05Z',
      });
      expect((await shown('OS-001533')).text).toContain('<svc:rok_narozeni>1950<');
    });

    test('still lists what was deleted, and does not yet list what was restored', async () => {
      const before = await list();
      await mock.control('POST', '/records/OS-001533/delete');
      await mock.control('POST', '/records/OS-001507/delete', { permanent: true });
      expect(await list()).toEqual(before);
      await later(30_000);
      await mock.control('POST', '/records/OS-001533/restore');
      await later(30_000);
      const between = await list();
      expect(between.find((header) => header.ident === 'OS-001533')).toMatchObject({
        deleted: true,
      });
      expect(between.some((header) => header.ident === 'OS-001507')).toBe(false);
      await later(30_000);
      expect((await getHeader('OS-001533'))?.deleted).toBe(false);
    });

    test('states the size of what it lists on every page', async () => {
      await mock.settings({ page_size: 3 });
      const before = await list();
      for (const ident of ['OS-001533', 'OS-001507'])
        await mock.control('POST', `/records/${ident}/delete`, { permanent: true });
      await mock.control('POST', '/records', person('OS-990001', 'Nová'));
      expect(await list()).toEqual(before);
      const pages = await fetchPages(mock, 'verb=ListRecords&metadataPrefix=oai_svc&set=osoba');
      expect(pages.flatMap((page) => parseHeaders(page))).toEqual(before);
      expect(pages[0]).toContain(`completeListSize="${before.length}"`);
    });
  });

  test('an index that is out of order shows the later of two writes first', async () => {
    await mock.settings({ index_delay_ms: [60_000, 0] });
    await mock.control('POST', '/records', person('OS-990001', 'Nová'));
    await mock.clock({ advance_ms: 10_000 });
    await mock.control('POST', '/records', person('OS-990002', 'Nová'));
    expect((await list('&from=2027-05-05')).map((header) => header.ident)).toEqual(['OS-990002']);
    await mock.clock({ advance_ms: 50_000 });
    expect((await list('&from=2027-05-05')).map((header) => header.ident)).toEqual([
      'OS-990002',
      'OS-990001',
    ]);
    for (const delays of [[-1], ['1'], 'late']) {
      expect((await mock.control('PUT', '/settings', { index_delay_ms: delays })).status).toBe(400);
    }
  });

  test('the newest indexed write counts, even if an older one is still pending', async () => {
    await mock.settings({ index_delay_ms: [60_000, 0] });
    const name = (prijmeni: string) =>
      mock.control('POST', '/records', { ident: 'OS-001533', changes: { prijmeni } });
    await name('Stará');
    await name('Nová');
    expect((await shown('OS-001533')).text).toContain('<svc:prijmeni>Nová<');
    await mock.clock({ advance_ms: 120_000 });
    expect((await shown('OS-001533')).text).toContain('<svc:prijmeni>Nová<');
  });

  describe('rights of an account', () => {
    const isRefused = async (as: string) =>
      (await shown('M-202400202-N00001', as)).text.includes('HTTP/1.1 403');

    test('change while the account is signed in', async () => {
      expect(await isRefused('outsider')).toBe(true);
      const raised = await mock.control('PUT', '/accounts/outsider', { role: 'archivist' });
      expect(raised.value).toMatchObject({ username: 'outsider', role: 'archivist', active: true });
      expect(await isRefused('outsider')).toBe(false);
      await mock.control('PUT', '/accounts/outsider', { role: null });
      expect(await isRefused('outsider')).toBe(true);
    });

    test('come from the organisation, and end with the account', async () => {
      const { organisation } = (await mock.control('PUT', '/accounts/archaeologist', {})).value as {
        organisation: string;
      };
      expect(
        (await mock.control('PUT', '/accounts/outsider', { organisation })).value,
      ).toMatchObject({ organisation });
      await mock.control('PUT', '/accounts/outsider', { active: false });
      expect((await ask(mock, 'verb=Identify', { as: 'outsider' })).status).toBe(401);
      await mock.reset();
      expect((await ask(mock, 'verb=Identify', { as: 'outsider' })).status).toBe(200);
    });

    test('that do not exist are refused', async () => {
      expect((await mock.control('PUT', '/accounts/nobody', { role: 'archivist' })).status).toBe(
        404,
      );
      expect((await mock.control('PUT', '/accounts/outsider', { role: 'king' })).status).toBe(400);
      expect(
        (await mock.control('PUT', '/accounts/outsider', { organisation: 'ORG-999999' })).status,
      ).toBe(404);
    });
  });
});
