import { describe, expect, test } from 'vitest';
import { findLines, makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, importXml } from '../support/contract-requests.ts';
import { expectDetail, expectEntries, expectInvalid, useMock } from './contract-import.ts';

const { mock, send } = useMock();

describe('Import: fields (A-FIELD-5, A-FIELD-7, A-FIELD-18, A-FIELD-21, A-POINT-4, A-POINT-6)', () => {
  /** Line 2 is the root, line 3 the find, line 4 its first child. */
  const findLine = 3;

  test.each([
    ['no comma', 'Novák Jan'],
    ['an empty surname', ', Jan'],
    ['an empty given name', 'Novák,  '],
  ])('a new finder with %s answers 422 at its line', async (_, text) => {
    const nalezce = `<svc:nalezce id=":tba">${text}</svc:nalezce>`;
    const [entry] = expectInvalid(
      await send(smallestFind({ projekt: `<svc:projekt id="C-202400101"/>\n${nalezce}` })),
    );
    expect(entry?.line).toBe(findLine + 3);
    expect(entry?.message).toMatch(/^nalezce: /);
  });

  test('an empty project identifier answers 422 at the find', async () => {
    const [entry] = expectInvalid(await send(smallestFind({ projekt: '<svc:projekt id=""/>' })));
    expect(entry).toMatchObject({ line: findLine, column: null });
  });

  test('an identifier other than :tba answers 422, an empty one passes', async () => {
    const [entry] = expectInvalid(
      await send(
        smallestFind({ ident_cely: '<svc:ident_cely>C-202400101-N00077</svc:ident_cely>' }),
      ),
    );
    expect(entry?.line).toBe(findLine + 1);
    expect((await send(smallestFind({ ident_cely: '<svc:ident_cely/>' }))).status).toBe(201);
  });

  test.each(['0', '4', '99', '-1'])('state %s answers 422', async (stav) => {
    const [entry] = expectInvalid(
      await send(smallestFind({ stav: `<svc:stav>${stav}</svc:stav>` })),
    );
    expect(entry?.message).toMatch(/^stav: /);
  });

  test.each(['5513', '', 'EPSG:4326'])('coordinate system "%s" answers 422', async (system) => {
    const [entry] = expectInvalid(
      await send(smallestFind({ geom_system: `<svc:geom_system>${system}</svc:geom_system>` })),
    );
    expect(entry?.message).toMatch(/^geom_system: /);
  });

  test.each([
    'POINT 15.17 49.84',
    'POINT (15.17)',
    'POINT (15.17, 49.84)',
    'POINT EMPTY',
    'SRID=4326;POINT (15.17 49.84)',
    'LINESTRING (15.17 49.84, 15.18 49.84)',
    'POINT (.5 49.84)',
    'POINT (15. 49.84)',
    'POINT (15.17\t49.84)',
    'POINT (15.17 49.84) x',
    'POINT M (15.17 49.84 1)',
    'POINT Z (15.17 49.84 300)',
    'POINT (15.17 49.84 300)',
  ])('geometry "%s" answers 422', async (wkt) => {
    const [entry] = expectInvalid(
      await send(findLines(2, { geom_wkt: `<svc:geom_wkt EPSG="4326">${wkt}</svc:geom_wkt>` })),
    );
    expect(entry?.message).toMatch(/^geom_wkt: /);
    expect(entry?.line).toBeGreaterThan(findLine);
  });

  test('a selected geometry that is blank answers 422 in state 1 too; one that is left out does not', async () => {
    const geometry = (wkt: string) =>
      smallestFind({ geom_wkt: `<svc:geom_wkt EPSG="4326">${wkt}</svc:geom_wkt>` });
    for (const blank of ['', ' \n '])
      expect(expectInvalid(await send(geometry(blank)))[0]?.message).toMatch(/^geom_wkt: /);
    expect((await send(smallestFind())).status).toBe(201);
    const other = '<svc:geom_sjtsk_wkt EPSG="5514"> </svc:geom_sjtsk_wkt>';
    expect((await send(smallestFind({ geom_sjtsk_wkt: other }))).status).toBe(201);
  });

  test.each([
    ['4326', 'geom_wkt', 'POINT (0 0)'],
    ['4326', 'geom_wkt', 'POINT (49.84 15.17)'],
    ['5514', 'geom_sjtsk_wkt', 'POINT (693174.81 1077354.27)'],
    ['5514', 'geom_sjtsk_wkt', 'POINT (15.17 49.84)'],
  ])('in %s, %s %s is outside the convertible range and answers 422', async (system, name, wkt) => {
    const changes = {
      geom_system: `<svc:geom_system>${system}</svc:geom_system>`,
      geom_wkt: undefined,
      [name]: `<svc:${name} EPSG="${system}">${wkt}</svc:${name}>`,
    };
    expectInvalid(await send(findLines(2, changes)));
  });
});

describe('Import: project and role (A-PROJECT-1 to A-PROJECT-7)', () => {
  const inProject = (ident: string) =>
    smallestFind({ projekt: `<svc:projekt id="${ident}">x</svc:projekt>` });

  test('an unknown project answers 404', async () => {
    expectDetail(await send(inProject('C-209999999')), 404);
  });

  test.each([
    ['a rescue project', 'C-202300715'],
    ['another organisation', 'M-202300316'],
    ['a closed project', 'C-202200058'],
    ['a project that has not started', 'C-202400303'],
  ])('%s answers 403', async (_, project) => {
    expectDetail(await send(inProject(project)), 403);
  });

  test('a Researcher without active cooperation answers 403', async () => {
    await mock().control('POST', '/records', {
      ident: 'U-000102',
      changes: { spoluprace_nadrizeni: null },
    });
    const researcher = await fetchToken(mock(), 'researcher');
    expectDetail(
      await importXml(mock(), makeDocument(mock(), smallestFind()), { token: researcher }),
      403,
    );
  });

  test.each([2, 3] as const)('a Researcher who asks for state %s answers 403', async (stav) => {
    const researcher = await fetchToken(mock(), 'researcher');
    expectDetail(
      await importXml(mock(), makeDocument(mock(), findLines(stav)), { token: researcher }),
      403,
    );
    expect(
      (await importXml(mock(), makeDocument(mock(), findLines(1)), { token: researcher })).status,
    ).toBe(201);
  });

  test('an Archivist may import into a survey of any organisation and state', async () => {
    const archivist = await fetchToken(mock(), 'archivist');
    for (const project of ['M-202300316', 'C-202200058', 'C-202400303']) {
      const answer = await importXml(mock(), makeDocument(mock(), inProject(project)), {
        token: archivist,
      });
      expect(answer.status, answer.text).toBe(201);
    }
  });
});

describe('Import: references and values (A-IMPORT-5, A-IMPORT-19, A-FIELD-2, A-FIELD-22, A-VALUE-3, A-VALUE-6)', () => {
  test('an unknown finder answers 404 with a missing record', async () => {
    const answer = await send(
      findLines(2, { nalezce: '<svc:nalezce id="OS-999999">x</svc:nalezce>' }),
    );
    expectEntries(answer, 'validation_errors', 404, 1);
  });

  test.each([
    ['okolnosti', 'HES-999999'],
    ['okolnosti', 'HES-000253'],
    ['obdobi', 'HES-000691'],
    ['druh_nalezu', 'HES-000253'],
    ['specifikace', 'HES-000253'],
    ['obdobi', 'https://example.org/id/HES-000253'],
  ])('%s filled by %s answers 422', async (name, id) => {
    const [entry] = expectInvalid(
      await send(
        findLines(2, { [name]: `<svc:${name} id="${id}" xml:lang="cs">paleolit</svc:${name}>` }),
      ),
    );
    expect(entry?.message).toMatch(new RegExp(`^${name}: `));
  });

  test('all wrong references are reported together', async () => {
    const entries = expectInvalid(
      await send(
        findLines(2, {
          obdobi: '<svc:obdobi id="HES-1" xml:lang="cs"/>',
          druh_nalezu: '<svc:druh_nalezu id="HES-2" xml:lang="cs"/>',
          hloubka: '<svc:hloubka>-4</svc:hloubka>',
        }),
      ),
    );
    expect(entries.map((entry) => entry.message.split(':')[0])).toEqual([
      'obdobi',
      'druh_nalezu',
      'hloubka',
    ]);
  });

  test('an unknown receiving organisation answers 422', async () => {
    expectInvalid(
      await send(
        findLines(3, {
          predano_organizace: '<svc:predano_organizace id="ORG-999999" xml:lang="cs"/>',
        }),
      ),
    );
  });

  test.each(['', 'HES-000253', 'HES-999999'])('accessibility "%s" answers 422', async (id) => {
    expectInvalid(
      await send(smallestFind({ pristupnost: `<svc:pristupnost id="${id}" xml:lang="cs"/>` })),
    );
  });

  test.each([
    ['a negative depth', { hloubka: '<svc:hloubka>-1</svc:hloubka>' }],
    ['a depth above 2147483647', { hloubka: '<svc:hloubka>2147483648</svc:hloubka>' }],
    [
      'a date with a time zone',
      { datum_nalezu: '<svc:datum_nalezu>2024-05-06Z</svc:datum_nalezu>' },
    ],
    [
      'a date with an offset',
      { datum_nalezu: '<svc:datum_nalezu>2024-05-06+02:00</svc:datum_nalezu>' },
    ],
  ])('%s answers 422', async (_, changes) => {
    expectInvalid(await send(findLines(2, changes)));
  });
});
