import { describe, expect, test } from 'vitest';
import { findLines, smallestFind } from '../support/contract-find.ts';
import { expectDetail, expectInvalid, useMock } from './contract-import.ts';

const { mock, send, finds } = useMock();

describe('Import: what the states require (A-POINT-1, A-POINT-10, A-POINT-11, A-STATE-10 to A-STATE-12)', () => {
  test.each([2, 3] as const)('state %s without a geometry answers 422', async (stav) => {
    expectInvalid(await send(findLines(stav, { geom_wkt: undefined })));
  });

  test('a geometry in the other element only counts as missing', async () => {
    expectInvalid(
      await send(findLines(2, { geom_system: '<svc:geom_system>5514</svc:geom_system>' })),
    );
  });

  test('state 3 without number and organisation answers 422 with one entry that names both', async () => {
    const entries = expectInvalid(
      await send(findLines(3, { evidencni_cislo: undefined, predano_organizace: undefined })),
    );
    expect(entries).toHaveLength(1);
    expect(entries[0]?.message).toMatch(/evidencni_cislo.*predano_organizace/);
  });

  test.each([
    ['false', '<svc:predano>false</svc:predano>'],
    ['0', '<svc:predano>0</svc:predano>'],
    ['absent', undefined],
  ])('state 3 with predano %s answers 422', async (_, predano) => {
    const [entry] = expectInvalid(await send(findLines(3, { predano })));
    expect(entry?.message).toMatch(/^predano: /);
  });

  test.each([1, 2, 3] as const)(
    'in state %s a point in no cadastral area answers 422',
    async (stav) => {
      expectInvalid(
        await send(
          findLines(stav, {
            geom_wkt: '<svc:geom_wkt EPSG="4326">POINT (6.5 41.5)</svc:geom_wkt>',
          }),
        ),
      );
    },
  );

  test.each([
    'obdobi',
    'datum_nalezu',
    'lokalizace',
    'okolnosti',
    'specifikace',
    'druh_nalezu',
    'nalezce',
    'hloubka',
  ])('state 2 without %s answers 422', async (name) => {
    const entries = expectInvalid(await send(findLines(2, { [name]: undefined })));
    expect(entries).toHaveLength(1);
    expect(entries[0]?.message).toContain(name);
  });

  test('all reasons are in one entry, joined by semicolons in the order of the list', async () => {
    const entries = expectInvalid(
      await send(findLines(2, { hloubka: undefined, obdobi: undefined, nalezce: undefined })),
    );
    expect(entries).toHaveLength(1);
    expect(entries[0]?.message.split('; ')).toHaveLength(3);
    expect(entries[0]?.message).toMatch(/obdobi.*nalezce.*hloubka/);
  });

  test('a blank element counts as absent', async () => {
    expectInvalid(await send(findLines(2, { lokalizace: '<svc:lokalizace>  </svc:lokalizace>' })));
  });
});

describe('Import: saving (A-ASSIGN-3, A-ASSIGN-4, A-IMPORT-16, A-IMPORT-18, A-IMPORT-20)', () => {
  test('if two imports get the same number, the loser answers 422 and stores nothing', async () => {
    await mock().control('PUT', '/faults', [
      { endpoint: 'import', fault: 'slow', ms: 1000, at: 'save' },
    ]);
    const answers = await Promise.all([send(smallestFind()), send(smallestFind())]);
    const [won, lost] = answers.sort((a, b) => a.status - b.status);
    expect(won?.status).toBe(201);
    if (lost !== undefined) expectDetail(lost, 422);
    expect(await finds()).toBe(22);
  });

  test('if two imports create the same person, the loser answers 422', async () => {
    await mock().control('PUT', '/faults', [
      { endpoint: 'import', fault: 'slow', ms: 1000, at: 'save' },
    ]);
    const nalezce = '<svc:nalezce id=":tba">Souběžná, Anna</svc:nalezce>';
    const other = '<svc:projekt id="M-202400202">x</svc:projekt>';
    const answers = await Promise.all([
      send(findLines(1, { nalezce })),
      send(findLines(1, { nalezce, projekt: other })),
    ]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 422]);
  });

  test('without a fault, simultaneous imports get different numbers', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(smallestFind())));
    expect(new Set(answers.map((answer) => answer.headers.get('x-record-id'))).size).toBe(12);
    expect(answers.every((answer) => answer.status === 201)).toBe(true);
  });

  test('a failure before saving answers 500 and stores nothing', async () => {
    await mock().control('PUT', '/faults', [
      { endpoint: 'import', fault: '500-before-save', when: { nth: 1 } },
    ]);
    expectDetail(await send(smallestFind()), 500);
    expect(await finds()).toBe(21);
  });

  test('a failure after saving answers 500, and the record exists', async () => {
    await mock().control('PUT', '/faults', [
      { endpoint: 'import', fault: '500-after-save', when: { nth: 1 } },
    ]);
    expectDetail(await send(smallestFind()), 500);
    expect(await finds()).toBe(22);
  });

  test('a project that has find number 99999 answers 500', async () => {
    expectDetail(
      await send(smallestFind({ projekt: '<svc:projekt id="M-202400999">x</svc:projekt>' })),
      500,
    );
  });

  test.each([1, 2, 3] as const)(
    'a complete find in state %s answers 201 with its XML',
    async (stav) => {
      const answer = await send(findLines(stav));
      expect(answer.status, answer.text).toBe(201);
      expect(answer.headers.get('content-type')).toBe('application/xml');
      const ident = answer.headers.get('x-record-id');
      expect(ident).toBe('C-202400101-N00009');
      expect(answer.headers.get('location')).toBe(`${mock().server.oai_base}/id/${ident}`);
      expect(answer.text).toContain(`<svc:ident_cely>${ident}</svc:ident_cely>`);
      expect(await finds()).toBe(22);
    },
  );
});
