import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeAddresses, SCHEMA_VERSIONS } from '../../mock-server/base/addresses.ts';
import { type Entity, getText } from '../../mock-server/state/records/record.ts';
import { renderRecord } from '../../mock-server/state/records/render.ts';
import { loadSeed, SeedError, syntheticFinds } from '../../mock-server/state/seed/load-seed.ts';
import type { SeedContent } from '../../mock-server/state/seed-content.ts';
import { packageRoot } from '../../src/base/own-files.ts';
import { startMock } from '../support/start-mock.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { entityValidator, faults, SCHEMA_BASE } from './schema-validators.ts';

const DEMO = join(packageRoot, 'mock-server', 'seed', 'demo');
const ADDRESSES = { ...makeAddresses('https://schemas.example'), schemaBase: SCHEMA_BASE };

let demo: SeedContent;
beforeAll(async () => {
  demo = await loadSeed('demo');
});

const listBodies = (entity: Entity) =>
  demo.records.filter((record) => record.entity === entity).map((record) => record.body);

describe('a custom seed folder', () => {
  test.each([
    ['find.json', /find\.json.*nothing that a seed has; known are .*finds\.json/],
    ['vocabularies/obdobi.csv', /obdobi\.csv.*no JSON file/],
  ])('with %s, which no reader expects, is refused', async (name, reason) => {
    const folder = tempFolder();
    cpSync(DEMO, folder, { recursive: true });
    writeFileSync(join(folder, '.DS_Store'), '');
    writeFileSync(join(folder, name), '[]');
    await expect(loadSeed(folder)).rejects.toThrow(reason);
  });
});

describe('the demo seed', () => {
  test('has every entity, and every record is valid in every version', async () => {
    for (const version of SCHEMA_VERSIONS) {
      const validator = await entityValidator(version);
      for (const { entity, body } of demo.records) {
        expect(faults(validator, renderRecord(body, entity, version, ADDRESSES))).toEqual([]);
      }
    }
    expect(new Set(demo.records.map((record) => record.entity)).size).toBe(15);
  });

  test('has a few entries at least of every vocabulary that the contract names', () => {
    const sets = JSON.parse(
      readFileSync(join(packageRoot, 'schemas/contract/set-specs.json'), 'utf8'),
    ) as { setSpec: string }[];
    const vocabularies = sets.flatMap(({ setSpec }) =>
      setSpec.startsWith('heslo:') ? [setSpec.slice(6)] : [],
    );
    const terms = listBodies('heslo').map((body) => getText(body['nazev_heslare']));
    expect(vocabularies).toHaveLength(50);
    for (const name of vocabularies)
      expect([name, terms.filter((one) => one === name).length > 1]).toEqual([name, true]);
  });

  test('lets each account sign in by user name and by e-mail address', async () => {
    await using mock = await startMock();
    for (const { username } of demo.accounts) {
      for (const name of [username, `${username}@example.org`]) {
        const response = await fetch(`${mock.url}/api/token-auth/`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ username: name, password: username }),
        });
        expect([name, response.status]).toEqual([name, 200]);
      }
    }
  });

  test('its cadastral areas cover the whole country without overlap', () => {
    const areas = listBodies('ruian_katastr').map((body) =>
      parseRings(getText(body['hranice_wkt']) ?? ''),
    );
    const regions = listBodies('ruian_kraj').map((body) =>
      parseRings(getText(body['hranice_wkt']) ?? ''),
    );
    let inside = 0;
    for (let longitude = 12.03; longitude < 19; longitude += 0.07) {
      for (let latitude = 48.51; latitude < 51.1; latitude += 0.043) {
        const point = [longitude, latitude] as const;
        const [inAreas, inRegions] = [areas, regions].map(
          (list) => list.filter((rings) => isInside(point, rings)).length,
        );
        expect([point, inAreas]).toEqual([point, inRegions]);
        expect(inAreas).toBeLessThan(2);
        inside += inAreas ?? 0;
      }
    }
    expect(inside).toBeGreaterThan(3000);
  });
});

function parseRings(wkt: string): number[][][] {
  return [...wkt.matchAll(/\(([^()]+)\)/g)].map((ring) =>
    (ring[1] ?? '').split(',').map((pair) => pair.trim().split(' ').map(Number)),
  );
}

function isInside([x, y]: readonly [number, number], rings: number[][][]): boolean {
  let crossings = 0;
  for (const ring of rings) {
    for (let index = 1; index < ring.length; index += 1) {
      const [[ax = 0, ay = 0] = [], [bx = 0, by = 0] = []] = [ring[index - 1], ring[index]];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) crossings += 1;
    }
  }
  return crossings % 2 === 1;
}

describe('the empty seed', () => {
  test('has one administrator, and no finds', async () => {
    const empty = await loadSeed('empty');
    expect(empty.accounts.map((account) => account.username)).toEqual(['admin']);
    expect(empty.records.filter((record) => record.entity === 'samostatny_nalez')).toEqual([]);
  });
});

describe('a folder', () => {
  type Rows = Record<string, unknown>[];
  type Spoil = (rows: Rows) => unknown;
  /** A key that is undefined is not written. */
  const change =
    (index: number, changes: Record<string, unknown>): Spoil =>
    (rows) =>
      rows.with(index, { ...rows[index], ...changes });
  const BROKEN: ReadonlyArray<
    readonly [title: string, file: string, spoil: Spoil, message: RegExp]
  > = [
    ['is no JSON', 'finds.json', () => '[{]', /^finds\.json: cannot be read as JSON/],
    ['is no list', 'finds.json', () => ({}), /^finds\.json: must hold a list/],
    [
      'has an entry that is no object',
      'finds.json',
      (rows) => ['x', ...rows],
      /^finds\.json, entry 1: must be an object/,
    ],
    [
      'has an unknown key',
      'finds.json',
      change(0, { depth: 3 }),
      /^finds\.json, entry 1 \(C-.*\): .*unknown key "depth"/,
    ],
    [
      'lacks a key',
      'persons.json',
      change(1, { prijmeni: undefined }),
      /^persons\.json, entry 2 \(OS-001507\): prijmeni: must be a text/,
    ],
    [
      'has a state out of range',
      'finds.json',
      change(0, { stav: 9 }),
      /^finds\.json, entry 1 .*stav: must be at most 4/,
    ],
    [
      'refers to an entry that is not there',
      'finds.json',
      change(2, { obdobi: 'HES-999999' }),
      /^finds\.json, entry 3 .*obdobi: refers to HES-999999/,
    ],
    [
      'has coordinates the wrong way round',
      'finds.json',
      change(0, { point: [49.8, 15.1] }),
      /^finds\.json, entry 1 .*point: lies outside the range/,
    ],
    [
      'has a place in no area',
      'finds.json',
      change(0, { point: [11, 50] }),
      /^finds\.json, entry 1 .*point: lies in no cadastral area/,
    ],
    [
      'names a photograph that is not there',
      'finds.json',
      change(0, { photographs: ['x.jpg'] }),
      /x\.jpg is not in the folder photographs/,
    ],
    [
      'names a photograph elsewhere',
      'finds.json',
      change(0, { photographs: ['../../x.jpg'] }),
      /must be the name of a \.jpg or \.png file/,
    ],
    [
      'repeats an identifier',
      'persons.json',
      (rows) => [...rows, rows[0]],
      /^persons\.json, entry 34 .*OS-000001 stands already in persons\.json, entry 1/,
    ],
    [
      'has elements in the wrong order',
      'sources.json',
      (rows) => {
        const { doi, ...rest } = rows[0] ?? {};
        return rows.with(0, { ...rest, doi });
      },
      /^sources\.json, entry 1 \(BIB-0000101\): Element 'doi': This element is not expected/,
    ],
    [
      'has a date that is none',
      'finds.json',
      change(0, { datum_nalezu: '3. 5. 2024' }),
      /^finds\.json, entry 1 .*not a valid value/,
    ],
    [
      'has a time that is none',
      'finds.json',
      change(0, { datestamp: 'yesterday' }),
      /^finds\.json, entry 1 .*datestamp: must be a time/,
    ],
    [
      'has a boundary that does not close',
      'cadastral-areas.json',
      change(0, { boundary: 'POLYGON((1 2, 3 4, 5 6, 7 8))' }),
      /^cadastral-areas\.json, entry 1 .*boundary: every ring/,
    ],
    [
      'has half an account',
      'accounts.json',
      change(0, { password: undefined }),
      /^accounts\.json, entry 1 .*password: is missing/,
    ],
    [
      'dates a period by two years',
      'vocabularies/obdobi.json',
      change(0, { datace: [1, 2] }),
      /^vocabularies\/obdobi\.json, entry 1 .*datace: needs four years/,
    ],
    [
      'has a wrong setting',
      'settings.json',
      () => ({ page_size: 0 }),
      /^settings\.json: page_size: must be at least 1/,
    ],
  ];

  test.each(BROKEN)(
    'whose file %s (%s) is refused with the place and the reason',
    async (_title, file, spoil, message) => {
      const folder = tempFolder();
      cpSync(DEMO, folder, { recursive: true });
      const spoilt = spoil(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Rows);
      writeFileSync(
        join(folder, file),
        typeof spoilt === 'string' ? spoilt : JSON.stringify(spoilt),
      );
      const refusal: unknown = await loadSeed(folder).catch((thrown: unknown) => thrown);
      expect(refusal).toBeInstanceOf(SeedError);
      expect(String(refusal instanceof Error ? refusal.message : refusal)).toMatch(message);
    },
  );

  test('that is a copy of the demo loads as the demo does', async () => {
    const folder = tempFolder();
    cpSync(DEMO, folder, { recursive: true });
    expect(await loadSeed(folder)).toEqual(demo);
  });

  test('may omit any file', async () => {
    const folder = tempFolder();
    expect(await loadSeed(folder)).toEqual({
      accounts: [],
      records: [],
      photographs: [],
      settings: {},
    });
  });

  test('that does not exist, or is a file, is refused', async () => {
    await expect(loadSeed(join(tempFolder(), 'nowhere'))).rejects.toThrow(
      /is no seed: use demo, empty or a folder/,
    );
    await expect(loadSeed(join(DEMO, 'finds.json'))).rejects.toThrow(
      /is a file: a seed is a folder/,
    );
  });
});

describe('synthetic finds', () => {
  test('are as many as requested, each valid and consistent with its project, and the same for the same seed number', async () => {
    const rows = [...syntheticFinds(250, 7, demo)];
    expect(rows.filter((row) => row.entity === 'samostatny_nalez')).toHaveLength(250);
    expect(rows).toEqual([...syntheticFinds(250, 7, demo)]);
    expect(rows).not.toEqual([...syntheticFinds(250, 8, demo)]);
    expect(new Set(rows.map((row) => row.ident)).size).toBe(rows.length);
    const projects = new Set<string>();
    const validator = await entityValidator('2.2');
    for (const row of rows) {
      if (row.project === null) projects.add(row.ident);
      else expect(projects).toContain(row.project);
      expect(
        faults(validator, renderRecord(JSON.parse(row.body), row.entity, '2.2', ADDRESSES)),
      ).toEqual([]);
    }
  });

  test('are added to the seed in a running mock', async () => {
    await using mock = await startMock({ records: 1000 });
    const { value } = await mock.control('GET', '/state');
    expect(JSON.stringify(value)).toContain('"finds":1021');
  });
});
