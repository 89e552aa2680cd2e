import { describe, expect, test } from 'vitest';
import { findLines, smallestFind } from '../support/contract-find.ts';
import { expectDetail, expectInvalid, useMock } from './contract-import.ts';

const { mock, send, finds } = await useMock();

describe('Import: what the states require (A-POINT-1, A-POINT-10, A-POINT-11, A-STATE-10 to A-STATE-12)', () => {
  test('state 3 without number and organisation answers 422 with one entry that names both', async () => {
    const entries = expectInvalid(
      await send(findLines(3, { evidencni_cislo: undefined, predano_organizace: undefined })),
    );
    expect(entries).toHaveLength(1);
    expect(entries[0]?.message).toMatch(/evidencni_cislo.*predano_organizace/);
  });

  test('all reasons are in one entry, joined by semicolons in the order of the list', async () => {
    const needed = [
      'obdobi',
      'datum_nalezu',
      'lokalizace',
      'okolnosti',
      'specifikace',
      'druh_nalezu',
      'nalezce',
      'hloubka',
    ];
    const lines = findLines(2, Object.fromEntries(needed.map((name) => [name, undefined])));
    const entries = expectInvalid(await send(lines));
    expect(entries).toHaveLength(1);
    const reasons = entries[0]?.message.split('; ') ?? [];
    expect(reasons).toHaveLength(needed.length);
    needed.forEach((name, at) => {
      expect(reasons[at]).toContain(name);
    });
  });
});

describe('Import: saving (A-ASSIGN-3, A-ASSIGN-4, A-IMPORT-16, A-IMPORT-18, A-IMPORT-20)', () => {
  test('if two imports get the same number, the loser answers 422 and stores nothing', async () => {
    await mock.faults({ endpoint: 'import', fault: 'slow', ms: 1000, at: 'save' });
    const answers = await Promise.all([send(smallestFind()), send(smallestFind())]);
    const [won, lost] = answers.sort((a, b) => a.status - b.status);
    expect(won?.status).toBe(201);
    if (lost !== undefined) expectDetail(lost, 422);
    expect(await finds()).toBe(22);
  });

  test('if two imports create the same person, the loser answers 422', async () => {
    await mock.faults({ endpoint: 'import', fault: 'slow', ms: 1000, at: 'save' });
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

  test('a project that has find number 99999 answers 500', async () => {
    expectDetail(
      await send(smallestFind({ projekt: '<svc:projekt id="M-202400999">x</svc:projekt>' })),
      500,
    );
  });
});
