import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { useTestMock } from '../support/start-mock.ts';
import { ask, listAll, parseError } from './raw-harvest.ts';

// B-VERB-1 to B-VERB-8: one block for each verb.

const mock = await useTestMock();

describe('Identify', () => {
  test('answers to another name of the same host with that name', async () => {
    const { port } = new URL(mock.server.oai_base);
    const response = await fetch(`http://localhost:${port}/2.1/oai?verb=Identify`).catch(
      () => undefined,
    );
    if (response === undefined)
      throw new Error('localhost does not resolve to the address of the mock');
    expect(await response.text()).toContain(`<baseURL>http://localhost:${port}/2.1/oai</baseURL>`);
  });
});

type ContractSet = { setSpec: string; cs: string; en: string; versions: string[] };
const CONTRACT_SETS = JSON.parse(
  readFileSync(new URL('../../schemas/contract/set-specs.json', import.meta.url), 'utf8'),
) as ContractSet[];

describe('ListSets', () => {
  test('is paged if the page size is small', async () => {
    await mock.reset({ page_size: 25 });
    const pages: string[] = [];
    let query = 'verb=ListSets';
    for (let token: string | undefined = ''; token !== undefined; ) {
      const { text } = await ask(mock, query);
      pages.push(...[...text.matchAll(/<setSpec>([^<]*)</g)].map((match) => match[1] ?? ''));
      token = /<resumptionToken[^>]*>([^<]+)<\/resumptionToken>/.exec(text)?.[1];
      query = `verb=ListSets&resumptionToken=${encodeURIComponent(token ?? '')}`;
    }
    await mock.reset();
    expect(pages).toEqual(CONTRACT_SETS.map((set) => set.setSpec));
  });
});

describe('ListRecords and ListIdentifiers', () => {
  test('a set includes its subsets', async () => {
    const setsIn = async (set: string): Promise<Set<string>> =>
      new Set(
        (
          await listAll(mock, `verb=ListIdentifiers&metadataPrefix=oai_dc&set=${set}`, {
            as: 'archivist',
          })
        ).flatMap((header) => [...header.sets]),
      );
    expect(await setsIn('archeologicky_zaznam')).toEqual(
      new Set(['archeologicky_zaznam:akce', 'archeologicky_zaznam:lokalita']),
    );
    expect(await setsIn('archeologicky_zaznam:akce')).toEqual(
      new Set(['archeologicky_zaznam:akce']),
    );
    expect(await setsIn('dokument')).toEqual(new Set(['dokument', 'dokument:3d']));
    expect((await setsIn('heslo')).size).toBe(50);
  });

  test('each header in version 2.0 names a set that version 2.0 has', async () => {
    const listed = new Set(
      CONTRACT_SETS.filter((set) => set.versions.includes('2.0')).map((set) => set.setSpec),
    );
    const all = await listAll(mock, 'verb=ListIdentifiers&metadataPrefix=oai_dc', {
      as: 'archivist',
      version: '2.0',
    });
    expect(all.length).toBeGreaterThan(900);
    for (const { sets } of all) for (const set of sets) expect(listed).toContain(set);
  });

  test('a set that version 2.0 lacks has no records there', async () => {
    const { text } = await ask(mock, 'verb=ListRecords&metadataPrefix=oai_dc&set=heslo:obdobi', {
      version: '2.0',
    });
    expect(parseError(text)).toBe('noRecordsMatch');
  });

  test('lists run from the newest record to the oldest', async () => {
    const all = await listAll(mock, 'verb=ListIdentifiers&metadataPrefix=oai_dc', {
      as: 'archivist',
    });
    const datestamps = all.map((header) => header.datestamp);
    expect(datestamps).toEqual([...datestamps].sort().reverse());
  });
});
