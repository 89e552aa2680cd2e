import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkDocument } from '../src/finds/check-document.ts';
import { type DocumentProfile, type FindSchema, openFindSchema } from '../src/finds/document.ts';
import type { Find, LookupArea, LookupTerm, TermCandidate } from '../src/finds/find.ts';
import { isInPolygon, parsePolygon } from '../src/finds/place/areas.ts';
import { toWgs84 } from '../src/finds/place/geometry.ts';
import { validateFind } from '../src/finds/rules.ts';
import { inspectPhotograph, makePhotoResolver } from '../src/photos/photograph.ts';
import { mapTableToFinds } from '../src/tables/columns/map-table.ts';
import { readInputFile } from '../src/tables/input-file.ts';
import { readTable } from '../src/tables/readers.ts';

/**
 * The example documents name the schema of `pas-mock-server --port 8099`, so that they can be
 * posted to it as they are.
 */
const PROFILE: DocumentProfile = {
  prefix: 'svc',
  schemaBase: 'http://127.0.0.1:8099/schema/svc',
  schemaVersion: '2.2',
};
const SEED = 'mock-server/seed/demo';
const DOCUMENTS = readdirSync('examples').filter((name) => name.endsWith('.xml'));

const readSeed = (path: string): Record<string, unknown>[] =>
  JSON.parse(readFileSync(`${SEED}/${path}.json`, 'utf8'));
const getText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Terms of a harvest of the demo seed, by identifier or label. */
const lookupTerm: LookupTerm = (setSpec, cell) => {
  const [, vocabulary] = setSpec.split(':');
  const entries =
    vocabulary !== undefined
      ? readSeed(`vocabularies/${vocabulary}`)
      : readSeed(setSpec === 'osoba' ? 'persons' : 'organisations');
  const terms = entries.map((entry): TermCandidate => {
    const label = getText(
      entry['heslo'] ?? entry['nazev'] ?? `${entry['prijmeni']}, ${entry['jmeno']}`,
    );
    return {
      id: getText(entry['ident_cely']),
      label,
      labelEn: getText(entry['heslo_en']),
      setSpec,
    };
  });
  const [first, ...more] = terms.filter((term) =>
    [term.id, term.label, term.labelEn].includes(cell),
  );
  if (first === undefined) return { kind: 'unknown', nearest: [] };
  return more.length > 0
    ? { kind: 'ambiguous', candidates: [first, ...more] }
    : { kind: 'found', term: first };
};

const areas = readSeed('cadastral-areas').map((area) => ({
  area: { id: getText(area['kod']), label: getText(area['nazev']), setSpec: 'ruian_katastr' },
  polygon: parsePolygon(getText(area['boundary'])),
}));
const lookupArea: LookupArea = (lon, lat) => {
  const found = areas.find(({ polygon }) => isInPolygon(polygon, lon, lat));
  return found === undefined ? { kind: 'outside' } : { kind: 'inside', area: found.area };
};

let schema: FindSchema;
let finds: readonly Find[] = [];
beforeAll(async () => {
  schema = await openFindSchema(PROFILE);
  const mapped = mapTableToFinds(await readTable('examples/finds.csv'), {
    lookupTerm,
    resolvePhoto: makePhotoResolver('examples'),
  });
  const rows = [...mapped.rows];
  expect([...mapped.issues, ...rows.flatMap(({ issues }) => issues)]).toEqual([]);
  finds = rows.flatMap(({ find }) => (find === undefined ? [] : [find]));
});
const context = () => ({
  schema,
  lookupTerm,
  lookupArea,
  today: '2025-01-01',
  role: 'archaeologist',
});

describe('the example table', () => {
  test('has finds for all three states, in both coordinate systems, with new and known finders', () => {
    expect(finds.length).toBeGreaterThanOrEqual(25);
    expect(new Set(finds.map((find) => find.elements.stav))).toEqual(new Set([1, 2, 3]));
    expect(new Set(finds.map((find) => find.elements.geom_system))).toEqual(
      new Set(['4326', '5514']),
    );
    expect(
      finds.filter((find) => find.elements.nalezce?.id === ':tba').length,
    ).toBeGreaterThanOrEqual(5);
    expect(
      finds.filter((find) => find.elements.nalezce?.id.startsWith('OS-')).length,
    ).toBeGreaterThanOrEqual(5);
    expect(
      finds.filter((find) => find.elements.poznamka?.includes('\n')).length,
    ).toBeGreaterThanOrEqual(1);
  });

  test('contains no find that the service or the schema would refuse', () => {
    for (const find of finds) {
      const { document, issues } = validateFind(find, context());
      expect(issues).toEqual([]);
      expect(schema.check(document)).toEqual([]);
    }
  });

  test('has its points where the texts say: around Všesoky and Křtiny', () => {
    for (const { elements } of finds) {
      const [, x, y] =
        /\((\S+) (\S+)\)/.exec(elements.geom_wkt ?? elements.geom_sjtsk_wkt ?? '') ?? [];
      if (x === undefined || y === undefined) continue;
      const [lon, lat] =
        elements.geom_system === '4326' ? [Number(x), Number(y)] : toWgs84([Number(x), Number(y)]);
      const centre = elements.projekt?.id === 'C-202400101' ? [15.17, 49.84] : [16.75, 49.295];
      expect(Math.hypot(lon - (centre[0] ?? 0), lat - (centre[1] ?? 0))).toBeLessThan(0.03);
    }
  });

  test('no two finds are alike', () => {
    expect(new Set(finds.map((find) => JSON.stringify(find.elements))).size).toBe(finds.length);
  });

  test('names projects of the demo that are open for finds', () => {
    const projects = new Map(
      readSeed('projects').map((project) => [project['ident_cely'], project]),
    );
    for (const find of finds) {
      expect(projects.get(find.elements.projekt?.id)).toMatchObject({
        typ_projektu: 'HES-001138',
        stav: 3,
      });
    }
  });
});

describe('the example photographs', () => {
  test('are at least ten small images, each named by a find', async () => {
    const named = new Set(finds.flatMap((find) => find.photos));
    expect(named.size).toBeGreaterThanOrEqual(10);
    for (const path of named) {
      const { photograph, issues } = await inspectPhotograph(path);
      expect(issues).toEqual([]);
      expect(photograph?.sizeBytes).toBeLessThan(40_000);
      expect(photograph?.mediaType).toBe(path.endsWith('.png') ? 'image/png' : 'image/jpeg');
    }
    const drawn = readdirSync('examples/photos').filter((name) => /\.(jpg|png)$/.test(name));
    expect(named.size).toBe(drawn.length);
  });
});

test('the example numbers are for finds of the table without a number, and no number is repeated', async () => {
  const { header, issues, ...table } = await readTable('examples/numbers.csv');
  const rows = [...table.rows];
  expect(header).toEqual(['local_id', 'evidencni_cislo']);
  expect(issues).toEqual([]);
  const givenNumbers = finds.flatMap((find) => find.elements.evidencni_cislo ?? []);
  for (const { cells } of rows) {
    expect(
      finds.find((find) => find.localId === cells[0])?.elements.evidencni_cislo,
    ).toBeUndefined();
  }
  const numbers = [...givenNumbers, ...rows.map((row) => row.cells[1])];
  expect(rows.length).toBeGreaterThanOrEqual(5);
  expect(new Set(numbers).size).toBe(numbers.length);
});

describe('the example documents', () => {
  test('there is one for each state', () => {
    expect(DOCUMENTS).toEqual(['find-state-1.xml', 'find-state-2.xml', 'find-state-3.xml']);
  });

  test.each(DOCUMENTS)('%s is right by the schema and by every rule', async (name) => {
    const document = await readInputFile(`examples/${name}`);
    expect(checkDocument(name, document, context())).toEqual([]);
    expect(document.toString('utf8')).toContain(`<svc:stav>${/\d/.exec(name)?.[0]}</svc:stav>`);
  });
});
