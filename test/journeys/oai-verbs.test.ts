import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, parseToken } from '../contract/raw-harvest.ts';
import { expectEnded, type Home, signedIn } from '../support/run-pas.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';

let mock: TestMock;
let home: Home;

beforeAll(async () => {
  mock = await startMock();
  home = await signedIn(mock.server);
});
afterAll(() => mock.close());

const base = (): string => mock.server.oai_base;
const oai = (...args: string[]) => home.pas('oai', ...args);

/** The answer without what differs from one moment to the next. */
const timeless = (text: string): string =>
  text
    .replace(/<responseDate>[^<]*/, '')
    .replace(/<resumptionToken[^>]*>[^<]*/, '<resumptionToken>');

describe('each verb prints the answer as received', () => {
  test.each([
    [['identify'], 'verb=Identify'],
    [['formats'], 'verb=ListMetadataFormats'],
    [['sets'], 'verb=ListSets'],
    [['identifiers', '--set', 'pian'], 'verb=ListIdentifiers&metadataPrefix=oai_svc&set=pian'],
    [
      [
        'records',
        '--set',
        'heslo:obdobi',
        '--metadata-prefix',
        'oai_dc',
        '--from',
        '2020-01-01',
        '--until',
        '2030-01-01',
      ],
      'verb=ListRecords&metadataPrefix=oai_dc&set=heslo%3Aobdobi&from=2020-01-01&until=2030-01-01',
    ],
  ])('pas oai %j --xml', async (args, query) => {
    const run = await oai(...args, '--xml');
    expect(run.code, run.stderr).toBe(0);
    expect(timeless(run.stdout)).toBe(
      timeless((await ask(mock, query, { as: 'archaeologist' })).text),
    );
  });

  test('pas oai get, by the bare identifier as a person writes it as well as by the full one', async () => {
    const query = `verb=GetRecord&identifier=${encodeURIComponent(`${base()}/id/HES-000253`)}&metadataPrefix=oai_svc`;
    const { text } = await ask(mock, query, { as: 'archaeologist' });
    for (const identifier of ['HES-000253', ' hes\u2011000253', `${base()}/id/HES-000253`]) {
      expect(timeless((await oai('get', '--identifier', identifier, '--xml')).stdout)).toBe(
        timeless(text),
      );
    }
  });
});

describe('each verb prints its answer as JSON', () => {
  test('identify', async () => {
    expect(await home.json('oai', 'identify')).toMatchObject({
      base_url: `${base()}/2.2/oai`,
      protocol_version: '2.0',
      deleted_record: 'persistent',
      granularity: 'YYYY-MM-DDThh:mm:ssZ',
    });
  });

  test('formats, also of one record', async () => {
    const formats = [
      { prefix: 'oai_dc' },
      { prefix: 'oai_svc', namespace: `${mock.server.schema_base}/2.2/` },
    ];
    expect(await home.json('oai', 'formats')).toMatchObject({ formats });
    expect(await home.json('oai', 'formats', '--identifier', 'HES-000253')).toMatchObject({
      formats,
    });
  });

  test('sets with their names and descriptions', async () => {
    const { sets } = await home.json<{
      sets: { set: string; name: string; descriptions: unknown[] }[];
    }>('oai', 'sets');
    expect(sets.find(({ set }) => set === 'heslo:obdobi')).toMatchObject({
      name: expect.stringContaining('Period'),
      descriptions: [{ dc: { description: expect.anything() } }],
    });
  });

  test('identifiers and records, page by page with the token', async () => {
    type Page = {
      resumption_token: string | null;
      complete_list_size: number | null;
      headers: { identifier: string }[];
    };
    const metIdentifiers = new Set<string>();
    let page = await home.json<Page>(
      'oai',
      'identifiers',
      '--set',
      'heslo',
      '--metadata-prefix',
      'oai_dc',
    );
    const size = page.complete_list_size;
    for (;;) {
      for (const { identifier } of page.headers) metIdentifiers.add(identifier);
      if (page.resumption_token === null) break;
      page = await home.json<Page>(
        'oai',
        'identifiers',
        '--resumption-token',
        page.resumption_token,
      );
    }
    expect(metIdentifiers.size).toBe(size);
    const { text } = await ask(mock, 'verb=ListIdentifiers&metadataPrefix=oai_dc&set=heslo');
    expect(parseToken(text)?.size).toBe(size);
  });

  test('one record, with what may repeat as lists', async () => {
    expect(await home.json('oai', 'get', '--identifier', 'HES-000253')).toMatchObject({
      identifier: `${base()}/id/HES-000253`,
      sets: ['heslo:obdobi'],
      metadata: { heslo: { ident_cely: 'HES-000253', nazev_heslare: { '#text': 'obdobi' } } },
    });
  });
});

describe('each verb prints its answer for people', () => {
  test.each([
    [['identify'], /repository_name: Mock finds archive/],
    [['formats'], /formats:\n +prefix: oai_dc\n/],
    [['sets'], /set: heslo:obdobi\n +name: .*Period/],
    [['identifiers', '--set', 'pian'], /headers:\n +identifier: .*\/id\/.-/],
    [['records', '--set', 'let'], /\n +let:\n/],
    [['get', '--identifier', 'HES-000253'], /heslo: .*\(cs\)/],
  ])('pas oai %j', async (args, words) => {
    const run = await oai(...args);
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout).toMatch(words);
  });

  test('which says how to continue, and marks what this account may not see', async () => {
    const anonymous = home.with({ PAS_HOME: `${home.folder}/anonymous` });
    await anonymous.init(mock.server, '--name', 'a');
    const run = await anonymous.pas('oai', 'get', '--identifier', 'M-202400202-N00003');
    expect(run.stdout).toMatch(/chranene_udaje: \(not shown to this account\)/);
    expect(run.stdout).not.toMatch(/\b403\b/);
    const page = await anonymous.pas('oai', 'identifiers', '--set', 'heslo');
    expect(page.stderr).toMatch(/100 of \d+\. Next page: pas oai identifiers --resumption-token/);
  });
});

describe('an invalid request is refused', () => {
  test.each([
    [2, /no argument|token alone/, ['records', '--resumption-token', 'T', '--set', 'pian']],
    [2, /not a date/, ['identifiers', '--from', 'yesterday']],
    [2, /later than/, ['records', '--from', '2025-02-01', '--until', '2025-01-01']],
    [2, /argument identifier of GetRecord is missing[\s\S]*--identifier/, ['get']],
    [2, /takes no argument set; it takes: identifier\./, ['formats', '--set', 'pian']],
    [2, /takes no argument from; it takes: nothing\./, ['identify', '--from', '2025-01-01']],
    [2, /Choose from identify, formats, sets/, ['identfy']],
    [2, /empty/, ['get', '--identifier', ' ']],
    [2, /cannot be used with/, ['sets', '--xml', '--json']],
    [14, /idDoesNotExist/, ['get', '--identifier', 'HES-999999']],
    [14, /cannotDisseminateFormat/, ['records', '--metadata-prefix', 'marc21']],
    [14, /badResumptionToken[\s\S]*without it\./, ['records', '--resumption-token', 'nonsense']],
    [14, /badResumptionToken|token/, ['sets', '--resumption-token', 'nonsense']],
  ])('with %i: %s', (code, words, args) => expectEnded(oai(...args), code, words));
});
