import { describe, expect, test } from 'vitest';
import { useTestMock } from '../support/start-mock.ts';
import { ask, fetchPages, parseRecords } from './raw-harvest.ts';

// B-MASK-1 to B-MASK-7, and B-SEE-4 on projekt/oznamovatel.

const FORBIDDEN = 'HTTP/1.1 403 Forbidden';
const ACCESSIBILITIES = [
  ['A', 'HES-000865'],
  ['B', 'HES-000866'],
  ['C', 'HES-000867'],
  ['D', 'HES-000868'],
] as const;
const ROLES = [
  ['A', 'anonymous'],
  ['B', 'researcher'],
  ['C', 'archaeologist'],
  ['D', 'archivist'],
  ['D', 'admin'],
] as const;

/**
 * A record that everybody may see, its governing element, and where its protected elements stand.
 */
const ROWS: ReadonlyArray<readonly [ident: string, governing: string, protectedElements: number]> =
  [
    ['C-202100007', 'pristupnost_pom', 1],
    ['C-202000033A', 'pristupnost', 2],
    ['C-N0000451', 'pristupnost', 2],
    ['ADB-KOLI01-000007', 'pristupnost_pom', 1],
    ['P-1334-100021', 'pristupnost_pom', 1],
    ['C-202100007-N00001', 'pristupnost', 1],
  ];

const mock = await useTestMock();

async function metadata(ident: string, as: string, format = 'oai_svc'): Promise<string> {
  const identifier = `${mock.server.oai_base}/id/${ident}`;
  return (
    await ask(mock, `verb=GetRecord&metadataPrefix=${format}&identifier=${identifier}`, { as })
  ).text;
}

async function govern(ident: string, governing: string, accessibility: string): Promise<void> {
  const changes = { [governing]: { '@lang': 'cs', '@id': accessibility, '#': 'x' } };
  const { status, value } = await mock.control('POST', '/records', { ident, changes });
  expect([status, value]).toEqual([200, expect.objectContaining({ ident })]);
}

describe.each(ROWS)('%s, governed by %s', (ident, governing, count) => {
  describe.each(ACCESSIBILITIES)('marked %s', (letter, accessibility) => {
    test.each(ROLES)('for role %s (%s)', async (role, as) => {
      await govern(ident, governing, accessibility);
      const text = await metadata(ident, as);
      const parts = [...text.matchAll(/<svc:chranene_udaje>(.*?)<\/svc:chranene_udaje>/gs)].map(
        (match) => match[1] ?? '',
      );
      expect(parts).toHaveLength(count);
      for (const part of parts) {
        if (letter <= role) expect(part).toMatch(/<svc:\w+/);
        else expect(part).toBe(FORBIDDEN);
      }
      expect(text).toContain(`<svc:ident_cely>${ident}</svc:ident_cely>`);
    });
  });
});

describe('masking', () => {
  test('leaves no trace of the protected part in Dublin Core either', async () => {
    await govern('C-202100007-N00001', 'pristupnost', 'HES-000868');
    const masked = await metadata('C-202100007-N00001', 'anonymous', 'oai_dc');
    expect(masked).not.toMatch(/štěrková lavice|15\.1078|49\.7441|ruian-600915/);
    expect(await metadata('C-202100007-N00001', 'archivist', 'oai_dc')).toMatch(
      /štěrková lavice.*15\.1078,49\.7441/s,
    );
  });

  test('makes no exception for the owner: a researcher does not see the protected part of an own find marked C', async () => {
    expect(await metadata('C-202400101-N00001', 'researcher')).toContain(
      `<svc:chranene_udaje>${FORBIDDEN}</svc:chranene_udaje>`,
    );
  });

  test('keeps history and photographs', async () => {
    const text = await metadata('C-202400101-N00006', 'anonymous');
    expect(text).toContain(`<svc:chranene_udaje>${FORBIDDEN}</svc:chranene_udaje>`);
    expect(text).toMatch(/<svc:historie>.*<svc:soubor>/s);
  });

  test('leaves an empty protected part empty, also in a site', async () => {
    const { value } = await mock.control('GET', '/records/C-N0000451');
    const { body } = value as { body: { lokalita: object } };
    const lokalita = { ...body.lokalita, chranene_udaje: {} };
    const pristupnost = { '@lang': 'cs', '@id': 'HES-000868', '#': 'archivář' };
    for (const [ident, more] of [
      ['C-202400101-N00008', {}],
      ['C-N0000451', { lokalita }],
    ] as const) {
      const changes = { pristupnost, ...more };
      expect((await mock.control('POST', '/records', { ident, changes })).status).toBe(200);
      expect(await metadata(ident, 'researcher')).toContain('<svc:chranene_udaje/>');
    }
  });

  test('follows the abbreviation of the entry, not its identifier', async () => {
    const changes = { zkratka: { '@lang': 'cs', '#': 'A' } };
    expect((await mock.control('POST', '/records', { ident: 'HES-000868', changes })).status).toBe(
      200,
    );
    await govern('P-1334-100021', 'pristupnost_pom', 'HES-000868');
    expect(await metadata('P-1334-100021', 'anonymous')).toContain('<svc:zm10>');
  });
});

describe('projekt/oznamovatel', () => {
  const announced = async (as: string): Promise<Map<string, boolean>> => {
    const pages = await fetchPages(mock, 'verb=ListRecords&metadataPrefix=oai_svc&set=projekt', {
      as,
    });
    const shownByRole = new Map<string, boolean>();
    for (const [ident, xml] of pages.flatMap((page) => [...parseRecords(page)])) {
      const content = /<svc:oznamovatel>(.*?)<\/svc:oznamovatel>/s.exec(xml)?.[1];
      if (content !== undefined) shownByRole.set(ident, content !== FORBIDDEN);
    }
    return shownByRole;
  };

  test('is left out for anonymous readers and researchers', async () => {
    for (const as of ['anonymous', 'researcher']) {
      expect([...(await announced(as))]).toEqual([]);
      const text = await metadata('C-202000033', as);
      expect(text).toContain('<svc:ident_cely>C-202000033</svc:ident_cely>');
      expect(text).not.toContain('oznamovatel');
    }
  });

  test('is shown to archaeologists in state 1, and for their own organisation’s records', async () => {
    expect(Object.fromEntries(await announced('archaeologist'))).toEqual({
      // State 1, another organisation.
      'C-202400411': true,
      // State 3, created by a colleague.
      'C-202300715': true,
      // State 6, another organisation.
      'C-202000033': false,
    });
    expect(Object.fromEntries(await announced('outsider'))).toEqual({
      'C-202400411': true,
      'C-202300715': false,
      'C-202000033': true,
    });
  });

  test('is always shown to archivists', async () => {
    const shown = await announced('archivist');
    expect(shown.size).toBe(4);
    expect([...shown.values()].every(Boolean)).toBe(true);
  });
});
