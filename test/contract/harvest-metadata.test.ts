import { describe, expect, test } from 'vitest';
import { useTestMock } from '../support/start-mock.ts';
import { ask } from './raw-harvest.ts';

// Content of `metadata`: the native format in each version (S-DIFF-1 to S-DIFF-4), and Dublin Core
// (B-DC-1, B-DC-2).

const mock = await useTestMock();

async function metadata(ident: string, format: string, version = '2.2'): Promise<string> {
  const identifier = `${mock.server.oai_base}/id/${ident}`;
  const query = `verb=GetRecord&metadataPrefix=${format}&identifier=${identifier}`;
  const { text } = await ask(mock, query, { version, as: 'archivist' });
  return /<metadata>(.*)<\/metadata>/s.exec(text)?.[1] ?? '';
}

/** Elements that a version added, each with a record that has it. */
const ADDED: ReadonlyArray<readonly [element: string, ident: string, since: '2.1' | '2.2']> = [
  ['svc:igsn', 'C-202400101-N00005', '2.1'],
  ['svc:igsn', 'C-N0000451', '2.1'],
  ['svc:geom_system', 'C-202100007', '2.1'],
  ['svc:geom_sjtsk_wkt', 'C-202100007', '2.1'],
  ['svc:geom_sjtsk_gml', 'C-202100007', '2.1'],
  ['svc:doi', 'C-TX-202100311', '2.1'],
  ['svc:geom_system', 'C-TX-202100311', '2.1'],
  ['svc:geom_sjtsk_wkt', 'C-TX-202100311', '2.1'],
  ['svc:doi', 'BIB-0000101', '2.1'],
  ['svc:orcid', 'U-000408', '2.1'],
  ['svc:orcid', 'OS-000866', '2.1'],
  ['svc:ror', 'ORG-000091', '2.1'],
  ['svc:scheme_uri', 'HES-000253', '2.1'],
  ['svc:email', 'ruian-116', '2.2'],
];
/**
 * Elements that no version took away: geometry and coordinate system of finds and spatial units.
 */
const KEPT: ReadonlyArray<readonly [element: string, ident: string]> = [
  ['svc:geom_system', 'C-202400101-N00005'],
  ['svc:geom_sjtsk_wkt', 'C-202400101-N00005'],
  ['svc:geom_sjtsk_wkt', 'P-1343-100033'],
  ['svc:uri', 'HES-000253'],
];

describe('the native format', () => {
  test.each(ADDED)('%s of %s is there since %s', async (element, ident, since) => {
    for (const version of ['2.0', '2.1', '2.2']) {
      const text = await metadata(ident, 'oai_svc', version);
      expect(text).toContain('<svc:');
      expect([version, text.includes(`<${element}>`) || text.includes(`<${element} `)]).toEqual([
        version,
        version >= since,
      ]);
    }
  });

  test.each(KEPT)('%s of %s is there in every version', async (element, ident) => {
    for (const version of ['2.0', '2.1', '2.2']) {
      expect(await metadata(ident, 'oai_svc', version)).toMatch(new RegExp(`<${element}[ >]`));
    }
  });

  test('has the namespace and the schema location of the endpoint', async () => {
    for (const version of ['2.0', '2.1', '2.2']) {
      const namespace = `${mock.server.schema_base}/${version}/`;
      const text = await metadata('OS-001507', 'oai_svc', version);
      expect(text).toContain(`xmlns:svc="${namespace}"`);
      expect(text).toContain(`xsi:schemaLocation="${namespace} ${namespace}svc.xsd"`);
    }
  });

  test('names the running server in the addresses of photographs', async () => {
    const text = await metadata('C-202400101-N00005', 'oai_svc');
    const url = /<svc:url>([^<]+)</.exec(text)?.[1] ?? '';
    expect(url.startsWith(`${mock.server.oai_base}/id/C-202400101-N00005/file/`)).toBe(true);
    const photograph = await fetch(url);
    expect([photograph.status, photograph.headers.get('content-type')]).toEqual([200, 'image/png']);
  });

  test('escapes what XML would misread, and replaces what XML cannot hold', async () => {
    const poznamka = 'a & b <c> "d" \'e\' ]]> \u0007 \r ž';
    const { status } = await mock.control('POST', '/records', {
      ident: 'C-202400101-N00005',
      changes: { poznamka },
    });
    expect(status).toBe(200);
    const expected = 'a &amp; b &lt;c&gt; "d" \'e\' ]]&gt; \uFFFD &#13; ž';
    expect(await metadata('C-202400101-N00005', 'oai_svc')).toContain(
      `<svc:poznamka>${expected}</svc:poznamka>`,
    );
    expect(await metadata('C-202400101-N00005', 'oai_dc')).toContain(
      `Poznámka: ${expected}</dc:description>`,
    );
  });
});

describe('Dublin Core', () => {
  const at = (ident: string): string => `${mock.server.oai_base}/id/${ident}`;
  const elements = async (ident: string): Promise<string[]> =>
    [
      ...(await metadata(ident, 'oai_dc')).matchAll(/<dc:(\w+)(?: xml:lang="(\w+)")?>([^<]*)</g),
    ].map(
      ([, name, language, text]) =>
        `${name}${language === undefined ? '' : `@${language}`} ${text}`,
    );

  test('of a find', async () => {
    const titles = await elements('C-202400101-N00005');
    const photograph = titles.find((element) => element.includes('/file/')) ?? '';
    expect(photograph).toMatch(/^relation http.*\/id\/C-202400101-N00005\/file\/[0-9a-f-]{36}$/);
    expect(titles.filter((element) => element !== photograph).sort()).toEqual(
      [
        'title@cs Archiv - samostatný nález C-202400101-N00005',
        'identifier C-202400101-N00005',
        'identifier doi:10.demo/C-202400101-N00005',
        'subject@cs samostatný nález',
        'description@cs Stav: 4',
        'description@cs Evidenční číslo: KH 13/2024',
        'description@cs Poznámka: denár',
        `type ${at('HES-000865')}`,
        `coverage ${at('ruian-3205')}`,
        `coverage ${at('ruian-672424')}`,
        'coverage u bývalého mlýna',
        'coverage 15.16988,49.84211',
        'coverage -693152.86,-1077119.89',
        'coverage 2024-04-01',
        `subject ${at('HES-000561')}`,
        `subject ${at('HES-000287')}`,
        `subject ${at('HES-000679')}`,
        `subject ${at('HES-000965')}`,
        `creator ${at('OS-001508')}`,
        `contributor ${at('ORG-000023')}`,
        'format application/xml',
        'rights https://creativecommons.org/licenses/by-nc/4.0/',
        'publisher@cs Archeologický informační systém (mock)',
        `source ${at('C-202400101-N00005')}`,
        `relation ${at('C-202400101')}`,
      ].sort(),
    );
  });

  test('of a vocabulary entry', async () => {
    expect(await elements('HES-000253')).toEqual(
      expect.arrayContaining([
        'title@cs Archiv - heslo HES-000253',
        'title@cs paleolit',
        'title@en Palaeolithic',
        'subject@cs heslo',
        'subject@cs obdobi',
        'relation https://concordance.example/palaeolithic',
        `relation ${at('HES-000240')}`,
      ]),
    );
    expect(await elements('HES-000867')).toEqual(
      expect.arrayContaining([
        'title@cs C',
        'description@cs Přístupné archeologům oprávněných organizací',
        'description@en Open to archaeologists of licensed organisations',
      ]),
    );
  });

  test('drops what a record does not have', async () => {
    const titles = await elements('C-202400101-N00008');
    expect(titles.every((element) => !/ $|undefined|\/id\/$/.test(element))).toBe(true);
    expect(titles.some((element) => element.startsWith('creator'))).toBe(false);
  });
});
