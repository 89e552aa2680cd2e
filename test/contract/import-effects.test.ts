import { describe, expect, test } from 'vitest';
import { findLines, smallestFind } from '../support/contract-find.ts';
import { elementText, fetchToken, type RawAnswer } from '../support/contract-requests.ts';
import { useMock } from './contract-import.ts';

const { mock, record, send } = await useMock();

const persons = async () =>
  ((await mock.control('GET', '/state')).value as { counts: { persons: number } }).counts.persons;
const finder = (text: string) => `<svc:nalezce id=":tba">${text}</svc:nalezce>`;
const getFinder = (answer: RawAnswer) =>
  /<svc:nalezce id="(OS-\d{6})">([^<]*)</.exec(answer.text)?.slice(1);

describe('A finder :tba (A-FIELD-16, A-FINDER-1 to A-FINDER-5)', () => {
  test('an unknown person is created together with the find', async () => {
    const before = await persons();
    const [ident, text] =
      getFinder(await send(findLines(2, { nalezce: finder('Hrdličková, Marie  Anna') }))) ?? [];
    expect(text).toBe('Hrdličková, Marie Anna');
    expect(await persons()).toBe(before + 1);
    expect((await record(ident ?? '')).body).toEqual({
      ident_cely: ident,
      jmeno: 'Marie Anna',
      prijmeni: 'Hrdličková',
      vypis: 'Hrdličková, M. A.',
      vypis_cely: 'Hrdličková, Marie Anna',
    });
  });

  test('hyphenated given names keep their hyphen in the initials', async () => {
    const [ident] =
      getFinder(await send(findLines(2, { nalezce: finder('Petit, Jean-Pierre') }))) ?? [];
    expect((await record(ident ?? '')).body).toMatchObject({ vypis: 'Petit, J.-P.' });
  });

  test('matching is exact and case-sensitive', async () => {
    const first = getFinder(await send(findLines(2, { nalezce: finder('Hrdličková, Marie') })));
    const second = getFinder(await send(findLines(2, { nalezce: finder('hrdličková, Marie') })));
    expect(second?.[0]).not.toBe(first?.[0]);
  });

  test('the text is split at the first comma', async () => {
    const [, text] =
      getFinder(await send(findLines(2, { nalezce: finder('Novák, Jan, ml.') }))) ?? [];
    expect(text).toBe('Novák, Jan, ml.');
  });

  test('a refused find creates no person', async () => {
    const before = await persons();
    await send(findLines(2, { nalezce: finder('Hrdličková, Marie'), hloubka: undefined }));
    expect(await persons()).toBe(before);
  });

  test('a name of more than 100 characters cannot be stored', async () => {
    expect((await send(findLines(2, { nalezce: finder(`${'N'.repeat(101)}, Jan`) }))).status).toBe(
      500,
    );
    expect((await send(findLines(2, { nalezce: finder(`${'N'.repeat(100)}, Jan`) }))).status).toBe(
      201,
    );
  });

  test('with a known identifier the text is ignored', async () => {
    expect(
      getFinder(
        await send(findLines(2, { nalezce: '<svc:nalezce id="OS-001507">Nobody</svc:nalezce>' })),
      )?.[1],
    ).not.toBe('Nobody');
  });
});

describe('History of an imported find (A-HISTORY-1, A-HISTORY-2)', () => {
  test('is of the importing user, each entry with a time and a note', async () => {
    const { text } = await send(findLines(3));
    const entries = [...text.matchAll(/<svc:historie>([\s\S]*?)<\/svc:historie>/g)].map(
      (match) => match[1] ?? '',
    );
    expect(entries.map((entry) => elementText(entry, 'typ_zmeny'))).toEqual([
      'SN01',
      'SN12',
      'SN23',
    ]);
    for (const entry of entries) {
      expect(elementText(entry, 'id')).toMatch(/^hist-\d+$/);
      expect(elementText(entry, 'datum_zmeny')).toMatch(
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d$/,
      );
      expect(entry).toContain('<svc:uzivatel id="U-000408">');
      expect(elementText(entry, 'poznamka')?.length).toBeGreaterThan(10);
    }
  });
});

describe('The project record (A-HISTORY-4, S-ACCESS-3)', () => {
  test('an import moves its datestamp and adds the find to its list', async () => {
    await mock.clock({ advance_ms: 60_000 });
    const before = await record('C-202400101');
    const ident = (await send(smallestFind())).headers.get('x-record-id');
    const after = await record('C-202400101');
    expect(Date.parse(after.datestamp)).toBeGreaterThan(Date.parse(before.datestamp));
    expect(after.body['samostatny_nalez']).toContainEqual({ '@id': ident, '#': ident });
  });

  test('its helper accessibility is the most open one of its finds', async () => {
    const open = smallestFind({
      pristupnost: '<svc:pristupnost id="HES-000865" xml:lang="cs">anonym</svc:pristupnost>',
    });
    await send(open);
    expect((await record('C-202400101')).body['pristupnost_pom']).toMatchObject({
      '@id': 'HES-000865',
    });
  });
});

describe('Identifiers (A-ASSIGN-2, A-ASSIGN-3)', () => {
  test('the number after the highest is assigned; a deleted highest number is reassigned, a gap is not filled', async () => {
    const first = (await send(smallestFind())).headers.get('x-record-id');
    const second = (await send(smallestFind())).headers.get('x-record-id');
    await mock.control('POST', `/records/${second}/delete`);
    expect((await send(smallestFind())).headers.get('x-record-id')).toBe(second);
    await mock.control('POST', `/records/${first}/delete`);
    expect((await send(smallestFind())).headers.get('x-record-id')).toBe('C-202400101-N00011');
  });

  test('a reassigned number belongs to the account that imported it last', async () => {
    const ident = (await send(smallestFind())).headers.get('x-record-id');
    await mock.control('POST', `/records/${ident}/delete`);
    await send(smallestFind(), { token: await fetchToken(mock, 'researcher') });
    expect(await record(ident ?? '')).toMatchObject({
      creator: 'U-000102',
      organisation: 'ORG-000001',
    });
  });
});
