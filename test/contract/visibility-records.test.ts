import { beforeAll, describe, expect, test } from 'vitest';
import { useTestMock } from '../support/start-mock.ts';
import {
  ask,
  fetchPages,
  listAll,
  parseError,
  parseHeaders,
  parseRecords,
  ROLES,
} from './raw-harvest.ts';

// B-SEE-3 to B-SEE-18: one test for each row and role. The table is typed again here, over
// what an archivist, who sees everything, reads in the records themselves.

type Seen = { readonly stav: number; readonly creator: string; readonly organisation: string };
type Reader = { readonly user: string; readonly organisation: string };
type Cell = (record: Seen, reader: Reader) => boolean;

const yes: Cell = () => true;
const hidden: Cell = () => false;
const inState =
  (stav: number): Cell =>
  (record) =>
    record.stav === stav;

const TABLE: Readonly<Record<string, readonly [a: Cell, b: Cell, c: Cell, d: Cell]>> = {
  projekt: [inState(6), inState(6), (record) => record.stav > 0, yes],
  archeologicky_zaznam: [inState(3), yes, yes, yes],
  let: [yes, yes, yes, yes],
  adb: [inState(3), yes, yes, yes],
  dokument: [inState(3), yes, yes, yes],
  ext_zdroj: [inState(3), yes, yes, yes],
  pian: [inState(2), yes, yes, yes],
  samostatny_nalez: [
    inState(4),
    (record, reader) => record.stav === 4 || record.creator === reader.user,
    (record, reader) => record.stav === 4 || record.organisation === reader.organisation,
    yes,
  ],
  uzivatel: [
    hidden,
    (record, reader) => record.creator === reader.user,
    (record, reader) => record.creator === reader.user,
    yes,
  ],
  heslo: [yes, yes, yes, yes],
  ruian_kraj: [yes, yes, yes, yes],
  ruian_okres: [yes, yes, yes, yes],
  ruian_katastr: [yes, yes, yes, yes],
  organizace: [yes, yes, yes, yes],
  osoba: [yes, yes, yes, yes],
};

/** An administrator reads what an archivist reads (S-ROLE-2). */
const COLUMN = { anonymous: 0, researcher: 1, archaeologist: 2, archivist: 3, admin: 3 } as const;

const mock = await useTestMock();
/** Live records of every set, as an archivist reads them. */
const records = new Map<string, Map<string, Seen>>();
const readers = new Map<string, Reader>([['anonymous', { user: '', organisation: '' }]]);

beforeAll(async () => {
  const users = await liveRecords('uzivatel');
  const organisationByName = new Map(
    [...users].map(([ident, xml]) => [ident, idIn(xml, 'organizace')]),
  );
  for (const [ident, xml] of users) {
    readers.set(textIn(xml, 'email').split('@')[0] ?? '', {
      user: ident,
      organisation: idIn(xml, 'organizace'),
    });
  }
  for (const set of Object.keys(TABLE)) {
    const seen = [...(await liveRecords(set))].map(([ident, xml]): [string, Seen] => {
      const creator =
        set === 'uzivatel' ? ident : idIn(xml.slice(xml.indexOf('<svc:historie>')), 'uzivatel');
      return [
        ident,
        {
          stav: Number(textIn(xml, 'stav(?:_pom)?')),
          creator,
          organisation: organisationByName.get(creator) ?? '',
        },
      ];
    });
    records.set(set, new Map(seen));
  }
});

async function liveRecords(set: string): Promise<Map<string, string>> {
  const pages = await fetchPages(mock, `verb=ListRecords&metadataPrefix=oai_svc&set=${set}`, {
    as: 'archivist',
  });
  return new Map(
    pages
      .flatMap((page) => [...parseRecords(page)])
      .filter(([, xml]) => xml.includes('<metadata>')),
  );
}

function textIn(xml: string, name: string): string {
  return new RegExp(`<svc:${name}[^>]*>([^<]*)<`).exec(xml)?.[1] ?? '';
}

function idIn(xml: string, name: string): string {
  return new RegExp(`<svc:${name}[^>]* id="([^"]*)"`).exec(xml)?.[1] ?? '';
}

/** Tells if the refusal replaces the whole record, in either format. */
function isRefusal(xml: string): boolean {
  return /<(svc:svc|dc:type)[^>]*>HTTP\/1\.1 403 Forbidden<\/\1>/.test(xml);
}

describe.each(ROLES)('%s', (role) => {
  test.each(Object.keys(TABLE))('%s', async (set) => {
    const cell = TABLE[set]?.[COLUMN[role]] ?? hidden;
    const all = records.get(set) ?? new Map<string, Seen>();
    const reader = readers.get(role);
    if (reader === undefined) throw new Error(`the seed has no user ${role}`);
    const expected = [...all].filter(([, record]) => cell(record, reader)).map(([ident]) => ident);
    const listed = cell === hidden ? [] : [...all.keys()];
    for (const format of ['oai_svc', 'oai_dc']) {
      const headers = await listAll(
        mock,
        `verb=ListIdentifiers&metadataPrefix=${format}&set=${set}`,
        { as: role },
      );
      expect(
        new Set(headers.filter((header) => !header.deleted).map((header) => header.ident)),
      ).toEqual(new Set(listed));
      const pages = await fetchPages(mock, `verb=ListRecords&metadataPrefix=${format}&set=${set}`, {
        as: role,
      });
      const shown = pages
        .flatMap((page) => [...parseRecords(page)])
        .filter(([, xml]) => xml.includes('<metadata>'));
      expect(new Set(shown.map(([ident]) => ident))).toEqual(new Set(listed));
      const readable = shown.filter(([, xml]) => !isRefusal(xml)).map(([ident]) => ident);
      expect(new Set(readable)).toEqual(new Set(expected));
    }
    // A rule that shows everything or nothing of this seed would prove little.
    if (cell !== yes && cell !== hidden) {
      expect(expected.length).toBeGreaterThan(0);
      expect(expected.length).toBeLessThan(all.size);
    }
    expect(all.size).toBeGreaterThan(0);
  });

  test('the list without a set is the union of all sets', async () => {
    const whole = await listAll(mock, 'verb=ListIdentifiers&metadataPrefix=oai_dc', { as: role });
    const parts = await Promise.all(
      Object.keys(TABLE).map((set) =>
        listAll(mock, `verb=ListIdentifiers&metadataPrefix=oai_dc&set=${set}`, { as: role }),
      ),
    );
    expect(new Set(whole.map((header) => header.ident))).toEqual(
      new Set(parts.flat().map((header) => header.ident)),
    );
  });
});

describe('a record that this reader may not see', () => {
  test('is returned by GetRecord with the refusal in place of its content', async () => {
    const identifier = `${mock.server.oai_base}/id/C-202400101-N00001`;
    for (const format of ['oai_svc', 'oai_dc']) {
      const { text } = await ask(
        mock,
        `verb=GetRecord&metadataPrefix=${format}&identifier=${identifier}`,
      );
      expect(parseError(text)).toBeUndefined();
      expect(parseHeaders(text)[0]?.ident).toBe('C-202400101-N00001');
      expect(text).toMatch(/>HTTP\/1\.1 403 Forbidden</);
      expect(text).not.toMatch(/ident_cely|hloubka|remízem|pazourek/);
    }
  });

  test('is complete for its finder', async () => {
    const identifier = `${mock.server.oai_base}/id/C-202400101-N00001`;
    const { text } = await ask(
      mock,
      `verb=GetRecord&metadataPrefix=oai_svc&identifier=${identifier}`,
      { as: 'researcher' },
    );
    expect(text).toContain('<svc:ident_cely>C-202400101-N00001</svc:ident_cely>');
  });
});

describe('a record that is always hidden from a role', () => {
  test('does not exist for that role', async () => {
    const identifier = `${mock.server.oai_base}/id/U-000102`;
    for (const query of ['verb=GetRecord&metadataPrefix=oai_svc', 'verb=ListMetadataFormats']) {
      expect(parseError((await ask(mock, `${query}&identifier=${identifier}`)).text)).toBe(
        'idDoesNotExist',
      );
    }
  });

  test('is refused to another account whose role may see such records', async () => {
    const identifier = `${mock.server.oai_base}/id/U-000102`;
    const query = `verb=GetRecord&metadataPrefix=oai_svc&identifier=${identifier}`;
    expect((await ask(mock, query, { as: 'archaeologist' })).text).toMatch(
      />HTTP\/1\.1 403 Forbidden</,
    );
    expect((await ask(mock, query, { as: 'researcher' })).text).toContain(
      '<svc:ident_cely>U-000102</svc:ident_cely>',
    );
  });
});

describe('an account', () => {
  test('without a role has the rights of an anonymous reader', async () => {
    const { value } = await mock.control('POST', '/records', {
      ident: 'U-000102',
      changes: { skupina: { '@lang': 'cs', '#': 'Zkušební skupina' } },
    });
    expect(value).toMatchObject({ ident: 'U-000102' });
    const query = 'verb=ListRecords&metadataPrefix=oai_dc&set=samostatny_nalez';
    const records = async (as: string) =>
      (await fetchPages(mock, query, { as })).flatMap((page) => [...parseRecords(page)]);
    expect(await records('researcher')).toEqual(await records('anonymous'));
  });

  test('on the write interface’s black list may still harvest', async () => {
    const pages = await fetchPages(mock, 'verb=ListRecords&metadataPrefix=oai_dc&set=uzivatel', {
      as: 'blocked',
    });
    const ownRecords = pages
      .flatMap((page) => [...parseRecords(page)])
      .filter(([, xml]) => !isRefusal(xml));
    expect(ownRecords.map(([ident]) => ident)).toEqual(['U-000666']);
  });
});
