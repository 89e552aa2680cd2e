import { expect, test } from 'vitest';
import type { QUIRKS } from '../../mock-server/rules/quirks.ts';
import { useTestMock } from '../support/start-mock.ts';
import {
  ask,
  basic,
  fetchPages,
  listAll,
  parseError,
  parseHeaders,
  parseRecords,
  parseToken,
} from './raw-harvest.ts';

// With --deployed: one test for each quirk of the list, and the facts' own account of a harvest
// (section 9).

const mock = await useTestMock({ deployed: true });

const LIST = 'verb=ListRecords&metadataPrefix=oai_dc';
const askDeployed = async (
  query: string,
  options: Parameters<typeof ask>[2] = {},
): Promise<string> => (await ask(mock, query, options)).text;
const getCode = async (
  query: string,
  options: Parameters<typeof ask>[2] = {},
): Promise<string | undefined> => parseError(await askDeployed(query, options));

const QUIRK_TESTS: Readonly<
  Record<Extract<keyof typeof QUIRKS, `oai-${string}`>, () => Promise<void>>
> = {
  'oai-request-unescaped': async () => {
    expect(await askDeployed(`${LIST}&from=2020-01-01&set=projekt`)).toContain('set="projekt"');
    expect(await askDeployed('verb=ListSets&x=%26%3C')).toContain('x="&<"');
  },
  'oai-error-request-bare': async () => {
    const text = await askDeployed('verb=ListRecords&metadataPrefix=marc21');
    expect(text).toContain(`<request>${mock.server.oai_base}/2.2/oai</request>`);
    expect(text).toContain('<error code="cannotDisseminateFormat"></error>');
    expect(await askDeployed('verb=ListRecords')).toContain(
      '<error code="badArgument">Invalid arguments</error>',
    );
  },
  'oai-unknown-verb-request': async () => {
    expect(await askDeployed('verb=ListAll')).toContain(
      `<request>${mock.server.oai_base}</request>`,
    );
    expect(await askDeployed('')).toContain(`<request>${mock.server.oai_base}/2.2/oai</request>`);
  },
  'oai-announcer-masked': async () => {
    const get = (ident: string): string =>
      `verb=GetRecord&metadataPrefix=oai_svc&identifier=${mock.server.oai_base}/id/${ident}`;
    expect(await askDeployed(get('C-202000033'))).toContain(
      '<svc:oznamovatel>HTTP/1.1 403 Forbidden</svc:oznamovatel>',
    );
    expect(await askDeployed(get('U-000102'))).toMatch(
      /<header><identifier>[^<]*U-000102<.*>HTTP\/1\.1 403 Forbidden</s,
    );
  },
  'oai-arguments-unchecked': async () => {
    for (const verb of ['Identify', 'ListSets', 'ListMetadataFormats']) {
      expect(await getCode(`verb=${verb}&x=1`)).toBeUndefined();
    }
    expect(await getCode(`${LIST}&x=1`)).toBe('badArgument');
  },
  'oai-sets-everywhere': async () => {
    const text = await askDeployed('verb=ListSets&resumptionToken=x', { version: '2.0' });
    expect(text.match(/<setSpec>/g)).toHaveLength(68);
    expect(await getCode(`${LIST}&set=heslo:obdobi`, { version: '2.0' })).toBeUndefined();
  },
  'oai-invalid-set': async () => {
    expect(await askDeployed(`${LIST}&set=coins`)).toContain(
      '<error code="badArgument">Invalid set</error>',
    );
  },
  'oai-window-order': async () => {
    expect(await getCode(`${LIST}&from=2024-05-02&until=2024-05-01`)).toBe('noRecordsMatch');
  },
  'oai-milliseconds': async () => {
    const find = async (window: string): Promise<string[]> =>
      parseHeaders(await askDeployed(`${LIST}&set=samostatny_nalez${window}`)).map(
        (header) => header.datestamp,
      );
    expect(await find('&from=2024-05-06T11:31:07.750Z&until=2024-05-06T11:31:07.750Z')).toEqual([
      '2024-05-06T11:31:07.750Z',
    ]);
    expect(await find('&from=2024-05-06T11:31:07Z&until=2024-05-06T11:31:07Z')).toEqual([]);
    expect(await find('&from=2025-01-31&until=2025-01-31')).toEqual(['2025-01-31T23:59:59Z']);
    expect(await askDeployed('verb=Identify')).toMatch(/<earliestDatestamp>[^<]*\.\d{3}Z</);
  },
  'oai-headers-wrapped': async () => {
    const text = await askDeployed(
      'verb=ListIdentifiers&metadataPrefix=oai_dc&set=heslo:pristupnost',
    );
    expect(text.match(/<record><header>/g)).toHaveLength(4);
  },
  'oai-hidden-listed': async () => {
    const anonymous = await askDeployed('verb=ListRecords&metadataPrefix=oai_svc&set=uzivatel');
    expect(parseHeaders(anonymous)).toHaveLength(9);
    for (const record of parseRecords(anonymous).values()) {
      expect(record).toMatch(/<svc:svc [^>]*>HTTP\/1\.1 403 Forbidden<\/svc:svc>/);
    }
  },
  'oai-find-visibility': async () => {
    const shown = async (ident: string, as: string): Promise<boolean> => {
      const identifier = `${mock.server.oai_base}/id/${ident}`;
      const text = await askDeployed(
        `verb=GetRecord&metadataPrefix=oai_svc&identifier=${identifier}`,
        { as },
      );
      return text.includes(`<svc:ident_cely>${ident}<`);
    };
    // Own, in state 1; own, since submitted; of a project of the own organisation; received by it;
    // neither.
    expect(await shown('C-202400101-N00001', 'researcher')).toBe(true);
    expect(await shown('C-202400101-N00003', 'researcher')).toBe(false);
    expect(await shown('C-202400101-N00003', 'archaeologist')).toBe(true);
    expect(await shown('M-202300316-N00002', 'outsider')).toBe(true);
    expect(await shown('M-202300316-N00002', 'archaeologist')).toBe(false);
    expect(await shown('C-202400101-N00006', 'anonymous')).toBe(true);
  },
  'oai-offsets': async () => {
    const first = await askDeployed('verb=ListIdentifiers&metadataPrefix=oai_dc&set=ruian_katastr');
    const oldest = parseHeaders(
      (await fetchPages(mock, 'verb=ListIdentifiers&metadataPrefix=oai_dc&set=ruian_katastr'))[3] ??
        '',
    ).at(-1);
    await mock.control('POST', `/records/${oldest?.ident}/delete`, {});
    const token = parseToken(first)?.text ?? '';
    const second = await askDeployed(`verb=ListIdentifiers&resumptionToken=${token}`);
    // The record that moved to the front pushed the last one of the first page into the second.
    expect(parseHeaders(second)[0]?.ident).toBe(parseHeaders(first).at(-1)?.ident);
  },
  'oai-last-token': async () => {
    const pages = await fetchPages(mock, `${LIST}&set=ruian_katastr`);
    expect(pages.map((page) => parseHeaders(page).length)).toEqual([100, 100, 100, 25, 0]);
    expect(pages.map((page) => parseToken(page)?.cursor)).toEqual([0, 100, 200, 300, undefined]);
    expect(pages.at(-1)).toMatch(/<ListRecords>\s*<\/ListRecords>/);
    expect(await fetchPages(mock, `${LIST}&set=ruian_okres`)).toHaveLength(1);
  },
  'oai-token-loose': async () => {
    const token =
      parseToken(await askDeployed('verb=ListIdentifiers&metadataPrefix=oai_svc&set=heslo'))
        ?.text ?? '';
    expect(token).toMatch(/^[0-9A-F]{32}$/);
    const text = await askDeployed(`verb=ListRecords&resumptionToken=${token}`, { version: '2.0' });
    expect(parseRecords(text).size).toBe(100);
    expect(text).toContain('/schema/svc/2.0/');
    await mock.clock({ advance_ms: 3_600_001 });
    expect(await getCode(`verb=ListRecords&resumptionToken=${token}`)).toBe('badResumptionToken');
  },
  'oai-deleted-without-set': async () => {
    const deleted = (await listAll(mock, 'verb=ListIdentifiers&metadataPrefix=oai_dc')).filter(
      (header) => header.deleted,
    );
    expect(new Set(deleted.map((header) => header.sets.length))).toEqual(new Set([0, 1]));
  },
  'oai-nested-dc': async () => {
    const text = await askDeployed(`${LIST}&set=samostatny_nalez`);
    expect(text).toMatch(/<oai_dc:dc [^>]*><oai_dc:dc [^>]*>/);
    expect(text).toContain('Evideční číslo: KH 13/2024');
    expect(text).toMatch(/<oai_dc:dc [^>]*>HTTP\/1\.1 403 Forbidden<\/oai_dc:dc>/);
    const projects = await askDeployed(`${LIST}&set=projekt`);
    expect(projects).toContain(`<dc:coverage>${mock.server.oai_base}/id/</dc:coverage>`);
  },
  'oai-identifier-cut': async () => {
    const sameLength = `${'x'.repeat(`${mock.server.oai_base}/id/`.length)}HES-000253`;
    expect(
      parseHeaders(
        await askDeployed(`verb=GetRecord&metadataPrefix=oai_dc&identifier=${sameLength}`),
      )[0]?.ident,
    ).toBe('HES-000253');
    expect(await getCode('verb=GetRecord&metadataPrefix=oai_dc&identifier=HES-000253')).toBe(
      'idDoesNotExist',
    );
  },
  'oai-unlisted-version': async () => {
    expect(await askDeployed('verb=Identify', { version: 'v2.1' })).toContain('<Identify>');
    expect((await ask(mock, 'verb=Identify', { version: '3.7' })).status).toBe(500);
    expect(await getCode(LIST, { version: '3.7' })).toBe('badArgument');
    expect(
      parseHeaders(
        await askDeployed('verb=ListIdentifiers&metadataPrefix=oai_dc', { version: '3.7' }),
      ),
    ).toHaveLength(100);
  },
  'oai-post-redirect': async () => {
    const { status, headers } = await ask(mock, 'verb=Identify', { version: '', method: 'POST' });
    expect([status, headers.get('location')]).toEqual([302, `${mock.server.oai_base}/2.2/oai`]);
  },
  'oai-basic-only': async () => {
    const users = 'verb=ListRecords&metadataPrefix=oai_svc&set=uzivatel';
    const ignored = await askDeployed(users, {
      headers: { authorization: 'Bearer 0123456789012345678901234567890123456789' },
    });
    expect(ignored).not.toContain('<svc:uzivatel>');
    const wrong = await ask(mock, users, {
      headers: { authorization: basic('archivist', 'wrong') },
    });
    expect([wrong.status, wrong.text, wrong.headers.get('www-authenticate')]).toEqual([
      401,
      'Invalid credentials',
      null,
    ]);
    expect(await getCode(users, { headers: { authorization: 'Basic %%%' } })).toBe('badVerb');
    const noColon = `Basic ${Buffer.from('archivist').toString('base64')}`;
    expect((await ask(mock, users, { headers: { authorization: noColon } })).status).toBe(500);
  },
  'oai-session-cookie': async () => {
    const users = 'verb=ListRecords&metadataPrefix=oai_svc&set=uzivatel';
    const { headers } = await ask(mock, users, { as: 'archivist' });
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
    expect(await askDeployed(users, { headers: { cookie } })).toContain('<svc:uzivatel>');
    await mock.clock({ advance_ms: 6 * 3_600_000 });
    expect(await askDeployed(users, { headers: { cookie } })).not.toContain('<svc:uzivatel>');
  },
};

test.each(Object.entries(QUIRK_TESTS))('%s', async (_quirk, run) => {
  await run();
});

test('a harvest of all records ends, and has every record once', async () => {
  const all = await listAll(mock, 'verb=ListIdentifiers&metadataPrefix=oai_svc');
  expect(new Set(all.map((header) => header.ident)).size).toBe(all.length);
  expect(all.length).toBe(
    parseToken(await askDeployed('verb=ListIdentifiers&metadataPrefix=oai_svc'))?.size,
  );
});
