import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/base/disk/database.ts';
import { pointBlob } from '../support/make-geopackage.ts';
import { tinyPng } from '../support/season.ts';
import { shareMock, useVocabularies } from '../support/use-mock.ts';

const mock = shareMock();
const home = useVocabularies(mock);
/** A form in which nothing was collected. */
let empty: string;

beforeAll(async () => {
  empty = join(home.folder, 'empty');
  await home.do('field', 'make', empty, '--for', 'qfield', '--set', 'projekt=C-202400101');
});

type Values = Readonly<Record<string, string | number | null>>;

const FIND: Values = {
  projekt: 'C-202400101',
  hloubka: 20,
  okolnosti: 'HES-000560',
  obdobi: 'HES-000253',
  druh_nalezu: 'HES-000691',
  specifikace: 'HES-000988',
  nalezce: 'OS-001507',
  datum_nalezu: '2024-06-01',
  stav: 2,
  geom_system: '4326',
  pristupnost: 'HES-000867',
  lokalizace: 'pole',
};

/** Each returned form is of another day, so that its finds are not like earlier ones. */
let returns = 0;

const getDay = (): string => `2024-05-${String(returns).padStart(2, '0')}`;

/** A copy of the empty form, into which finds and photographs come as SQLite writes them. */
function collect(
  name: string,
  finds: Readonly<Record<string, Values>>,
  photos: readonly (readonly [find: string, path: string])[],
) {
  const folder = join(home.folder, name);
  cpSync(empty, folder, { recursive: true });
  const database = openSqlite(join(folder, 'finds.gpkg'));
  returns += 1;
  for (const [localId, own] of Object.entries(finds))
    insert(database, { local_id: localId, ...FIND, datum_nalezu: getDay(), ...own });
  for (const [find, path] of photos) {
    database.prepare('insert into photos (find, photo) values (?, ?)').run(find, path);
    if (!path.includes('lost'))
      writeFileSync(
        join(folder, path),
        tinyPng(path.length * 7 + path.charCodeAt(path.length - 5)),
      );
  }
  return { folder, database };
}

function insert(database: ReturnType<typeof openSqlite>, values: Values): void {
  const names = Object.keys(values);
  database
    .prepare(
      `insert into finds (geom, ${names.join(', ')}) values (?, ${names.map(() => '?').join(', ')})`,
    )
    .run(pointBlob(15.1700002, 49.84), ...Object.values(values));
}

async function readElements(localId: string): Promise<Readonly<Record<string, unknown>>> {
  const found = (await home.json('list')).find((find) => find.local_id === localId);
  return found?.elements ?? {};
}

describe('the folder of a QField form', () => {
  test('contains the project, the finds, the lists and a place for photographs, and no build data', () => {
    expect(readdirSync(empty).sort()).toEqual(['DCIM', 'finds.gpkg', 'finds.qgs', 'lists.gpkg']);
    expect(readdirSync(home.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    const project = readFileSync(join(empty, 'finds.qgs'), 'utf8');
    expect(project).not.toContain(home.folder);
    // Each layer is a file beside it.
    const sources = [...project.matchAll(/<datasource>([^<]*)</g)].map(([, source = '']) => source);
    expect(sources.length).toBeGreaterThan(9);
    expect(
      sources.filter((source) => !/^\.\/(?:finds|lists)\.gpkg\|layername=\w+$/.test(source)),
    ).toEqual([]);
  });

  test('is refused if it exists, whatever is in it', async () => {
    const make = (name: string) =>
      home.pas('field', 'make', join(home.folder, name), '--for', 'qfield', '--yes');
    const before = readFileSync(join(empty, 'finds.gpkg'));
    expect(await make('empty')).toMatchObject({ code: 2 });
    expect(readFileSync(join(empty, 'finds.gpkg')).equals(before)).toBe(true);
    expect(await make('no/such/place')).toMatchObject({ code: 2 });
    writeFileSync(join(home.folder, 'a-file'), '');
    expect(await make('a-file')).toMatchObject({ code: 2 });
  });
});

describe('a returned QField form', () => {
  test('is imported with the photographs that its rows name, and a second import changes nothing', async () => {
    const { folder, database } = collect('back', { b1: {}, b2: { stav: 1 } }, [
      ['b1', 'DCIM/b1_1.png'],
      ['b1', 'DCIM/b1_2.png'],
      ['b2', 'DCIM/b2; second.png'],
    ]);
    database.close();
    expect(await home.json('import', folder)).toMatchObject({ added: 2, photos: 3, issues: [] });
    expect(await home.json('import', join(folder, 'finds.gpkg'))).toMatchObject({
      added: 0,
      unchanged: 2,
      photos: 0,
    });
    expect(await readElements('b1')).toMatchObject({
      geom_system: '4326',
      geom_wkt: 'POINT (15.1700002 49.84)',
      hloubka: 20,
    });
  });

  test('reports photographs that are missing or belong to no find, and keeps what was added', async () => {
    const { folder, database } = collect(
      'odd-return',
      {
        o1: {},
        o2: { nalezce: null, nalezce_jmeno: 'Nová, Eva' },
        // The form keeps the chosen finder for the next find.
        o3: { nalezce_jmeno: 'Nová, Eva' },
      },
      [
        ['o1', 'DCIM/lost.png'],
        ['nobody', 'DCIM/astray.png'],
      ],
    );
    database.exec(`alter table finds add column barva text; alter table finds add column obraz blob;
      update finds set barva = 'zelená', obraz = x'00' where local_id = 'o1';`);
    database.close();
    const { issues, added } = await home.json('import', folder);
    expect(added).toBe(2);
    const messages = issues.map(({ rule, message, find = '', column = '' }) =>
      [rule, find, column, message].join(' | '),
    );
    expect(
      messages.filter((text) => /photo-missing \| o1 .*DCIM\/lost\.png/.test(text)),
    ).toHaveLength(1);
    expect(
      messages.filter((text) => /form-part-alone .*DCIM\/astray\.png/.test(text)),
    ).toHaveLength(1);
    expect(messages.filter((text) => /answer-twice \| o3 .*Nová, Eva/.test(text))).toHaveLength(1);
    expect(await readElements('o1')).toMatchObject({ poznamka: 'barva: zelená' });
    expect(await readElements('o2')).toMatchObject({ nalezce: { id: ':tba', text: 'Nová, Eva' } });
    const again = await home.json('import', folder);
    expect({ ...again, issues: [] }).toMatchObject({
      added: 0,
      updated: 0,
      unchanged: 2,
      photos: 0,
    });
  });

  test('is read together with its write-ahead log, which stays unchanged', async () => {
    const { folder, database } = collect('logged', { w1: { hloubka: 41 } }, []);
    database.pragma('journal_mode = wal');
    database.pragma('wal_autocheckpoint = 0');
    insert(database, { local_id: 'w2', ...FIND, datum_nalezu: getDay(), hloubka: 42 });
    // As it comes from a phone: the file with its log, and without the memory that programs share.
    const copy = join(home.folder, 'logged-copy');
    mkdirSync(copy);
    for (const name of ['finds.gpkg', 'finds.gpkg-wal'])
      cpSync(join(folder, name), join(copy, name));
    chmodSync(copy, 0o555);
    const before = readdirSync(copy).map((name) =>
      readFileSync(join(copy, name)).toString('base64'),
    );
    expect(await home.json('import', copy)).toMatchObject({ added: 2, issues: [] });
    expect(
      readdirSync(copy).map((name) => readFileSync(join(copy, name)).toString('base64')),
    ).toEqual(before);
    // And while the program that writes it has it open.
    insert(database, { local_id: 'w3', ...FIND, hloubka: 43 });
    expect(await home.json('import', folder)).toMatchObject({ added: 1, unchanged: 2 });
    database.close();
    chmodSync(copy, 0o755);
  });

  test('is read in its state before an interrupted transaction', async () => {
    const { folder, database } = collect('cut', { j1: { poznamka: 'whole' } }, []);
    database.pragma('cache_size = 1');
    database.exec('begin');
    for (let index = 0; index < 200; index++)
      insert(database, { local_id: `half-${index}`, ...FIND, poznamka: 'x'.repeat(5000) });
    const copy = join(home.folder, 'cut-copy');
    mkdirSync(copy);
    for (const name of ['finds.gpkg', 'finds.gpkg-journal'])
      cpSync(join(folder, name), join(copy, name));
    database.exec('rollback');
    database.close();
    expect(await home.json('import', copy)).toMatchObject({ added: 1, issues: [] });
    // A journal of several databases names files that SQLite would look for, and may delete.
    const journal = join(copy, 'finds.gpkg-journal');
    writeFileSync(
      journal,
      Buffer.concat([readFileSync(journal), Buffer.from('d9d505f920a163d7', 'hex')]),
    );
    const refused = await home.pas('import', copy);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('journal');
    rmSync(copy, { recursive: true });
  });

  test.each([
    ['without its photographs', ''],
    ['with those of another program', '; create table photos (fid integer primary key, file text)'],
  ])('%s is read as an ordinary layer', async (name, others) => {
    const { folder, database } = collect(name, { p1: {} }, []);
    database.exec(`drop table photos; alter table finds add column barva text${others}`);
    database.close();
    const { added, issues } = await home.json('import', folder);
    expect(added).toBe(0);
    expect(issues.map(({ rule }) => rule)).toContain('column-unknown');
  });
});
