import { describe, expect, test } from 'vitest';
import { findLines, makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, importXml } from '../support/contract-requests.ts';
import { expectDetail, expectEntries, expectInvalid, useMock } from './contract-import.ts';

const { mock, send } = await useMock();

describe('Import: fields (A-FIELD-5, A-FIELD-7, A-FIELD-18, A-FIELD-21, A-POINT-4, A-POINT-6)', () => {
  /** Line 2 is the root, line 3 the find, line 4 its first child. */
  const findLine = 3;

  test('a new finder with an empty surname answers 422 at its line', async () => {
    const nalezce = '<svc:nalezce id=":tba">, Jan</svc:nalezce>';
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

  test.each([
    ['stav', '0'],
    ['geom_system', '5513'],
    ['geom_wkt', 'POINT EMPTY', ' EPSG="4326"'],
    ['obdobi', 'x', ' id="HES-000691" xml:lang="cs"'],
    ['predano', 'false'],
  ])('an entry about %s names it first', async (name, text, attributes = '') => {
    const [entry] = expectInvalid(
      await send(findLines(3, { [name]: `<svc:${name}${attributes}>${text}</svc:${name}>` })),
    );
    expect(entry?.message).toMatch(new RegExp(`^${name}: `));
  });
});

describe('Import: project and role (A-PROJECT-1 to A-PROJECT-7)', () => {
  const inProject = (ident: string) =>
    smallestFind({ projekt: `<svc:projekt id="${ident}">x</svc:projekt>` });

  test('a Researcher without active cooperation answers 403', async () => {
    await mock.control('POST', '/records', {
      ident: 'U-000102',
      changes: { spoluprace_nadrizeni: null },
    });
    const researcher = await fetchToken(mock, 'researcher');
    expectDetail(
      await importXml(mock, makeDocument(mock, smallestFind()), { token: researcher }),
      403,
    );
  });

  test('an Archivist may import into a survey of any organisation and state', async () => {
    const archivist = await fetchToken(mock, 'archivist');
    for (const project of ['M-202300316', 'C-202200058', 'C-202400303']) {
      const answer = await importXml(mock, makeDocument(mock, inProject(project)), {
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
});
