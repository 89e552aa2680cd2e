import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SLOW_RUNS } from '../support/property-runs.ts';
import { startMock, useTestMock } from '../support/start-mock.ts';
import { ask, fetchPages, listAll, parseHeaders, parseToken } from './raw-harvest.ts';

// B-TOKEN-1 to B-TOKEN-5, and OAI-PMH 2.0, section 3.5.

const mock = await useTestMock();

const ALL = 'verb=ListIdentifiers&metadataPrefix=oai_dc';

describe('a list in pages', () => {
  test('of one page has no token at all', async () => {
    const { text } = await ask(mock, `${ALL}&set=ruian_okres`);
    expect(parseHeaders(text)).toHaveLength(77);
    expect(parseToken(text)).toBeUndefined();
  });

  test('that fills its page exactly has no token either', async () => {
    await mock.reset({ page_size: 77 });
    expect(parseToken((await ask(mock, `${ALL}&set=ruian_okres`)).text)).toBeUndefined();
    await mock.reset({ page_size: 76 });
    const [first = '', second = '', ...more] = await fetchPages(mock, `${ALL}&set=ruian_okres`);
    expect([parseHeaders(first).length, parseHeaders(second).length, more.length]).toEqual([
      76, 1, 0,
    ]);
    expect(parseToken(second)).toMatchObject({ text: '', size: 77, cursor: 76 });
  });

  test('a token can be reused until it expires', async () => {
    const first = await ask(mock, ALL);
    const next = `verb=ListIdentifiers&resumptionToken=${encodeURIComponent(parseToken(first.text)?.text ?? '')}`;
    expect(parseHeaders((await ask(mock, next)).text)).toEqual(
      parseHeaders((await ask(mock, next)).text),
    );
  });
});

describe('the union of the pages is the list', () => {
  test('for any page size, role, set and version', async () => {
    const roles = fc.constantFrom('anonymous', 'researcher', 'archaeologist', 'archivist');
    const sets = fc.constantFrom(
      '',
      '&set=samostatny_nalez',
      '&set=heslo',
      '&set=projekt',
      '&set=osoba',
      '&set=dokument',
    );
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 300 }),
      roles,
      sets,
      fc.constantFrom('2.0', '2.1', '2.2'),
      async (pageSize, as, set, version) => {
        await mock.settings({ page_size: 10_000 });
        const whole = await listAll(mock, ALL + set, { as, version });
        await mock.settings({
          page_size: Math.max(pageSize, Math.ceil(whole.length / 40)),
        });
        expect(await listAll(mock, ALL + set, { as, version })).toEqual(whole);
      },
    );
    await fc.assert(property, SLOW_RUNS);
  });
});

describe('while records change during a harvest', () => {
  test('no unchanged record is lost or returned twice', async () => {
    await mock.reset({ page_size: 20 });
    const before = await listAll(mock, `${ALL}&set=heslo`);
    const first = (await ask(mock, `${ALL}&set=heslo`)).text ?? '';
    const seen = parseHeaders(first);
    const changed = new Set<string>();
    let token = parseToken(first)?.text ?? '';
    for (let round = 0; token !== ''; round += 1) {
      // One record of the page before and one that is still to come move to the front of the list.
      for (const header of [before[round * 20], before[before.length - 1 - round]]) {
        if (header === undefined || changed.has(header.ident)) continue;
        changed.add(header.ident);
        await mock.control('POST', '/records', {
          ident: header.ident,
          changes: { razeni: String(round) },
        });
      }
      const { text } = await ask(
        mock,
        `verb=ListIdentifiers&resumptionToken=${encodeURIComponent(token)}`,
      );
      seen.push(...parseHeaders(text));
      token = parseToken(text)?.text ?? '';
    }
    const idents = seen.map((header) => header.ident);
    expect(new Set(idents).size).toBe(idents.length);
    expect(
      before.filter((header) => !changed.has(header.ident) && !idents.includes(header.ident)),
    ).toEqual([]);
  });
});

describe('a token is opaque', () => {
  test('its form differs between seed numbers, and some need escaping', async () => {
    const spellings = await Promise.all(
      [0, 1, 2, 3].map(async (seedNumber) => {
        await using other = await startMock({ seedNumber, pageSize: 50 });
        const token = parseToken((await ask(other, ALL)).text);
        expect(token?.size).toBeGreaterThan(850);
        return token?.text ?? '';
      }),
    );
    expect(new Set(spellings).size).toBe(4);
    expect(spellings.some((text) => encodeURIComponent(text) !== text)).toBe(true);
  });
});
