import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** Lower may not import higher. What stands in one layer together is kept apart. */
const LAYER_OF_FOLDER: Readonly<Record<string, number>> = {
  base: 0,
  text: 1,
  xml: 2,
  store: 2,
  http: 2,
  ui: 2,
  place: 2,
  find: 3,
  outbox: 3,
  harvested: 3,
  'pas-api': 3,
  oai: 3,
  report: 3,
  tables: 4,
  vocabulary: 4,
  photo: 4,
  qgis: 4,
  columns: 5,
  flows: 6,
  push: 6,
  context: 7,
  exports: 7,
  commands: 8,
  'main.ts': 9,
  'start.ts': 9,
};

/** The same of the mock server; the files in its root are the server. */
const LAYERS_OF_MOCK = ['base', 'state', 'rules', 'endpoints', 'control', ''];

/** These may use others of the domain that lie below them; the outbox may use finds. */
const UPPER_FLOOR = ['tables', 'photo', 'columns', 'qgis', 'vocabulary'];
const DOMAIN = 3;
const LAST_OF_DOMAIN = 5;

/** The recipes, in an order in which each may use those before it. */
const RECIPES = [
  'finds',
  'queue',
  'interview',
  'vocabulary',
  'field',
  'harvest',
  'outbox',
  'checks',
];

/** Each package is imported by one file of `src` alone, so that it can be replaced there. */
const HOME_OF_PACKAGE: Readonly<Record<string, RegExp>> = {
  '@napi-rs/keyring': /^src\/store\/keyring-process\.ts$/,
  'pas-finds': /^src\/base\/package-root\.ts$/,
  'better-sqlite3': /^src\/store\/database\.ts$/,
  'better-sqlite3-12': /^src\/store\/database\.ts$/,
  'gettext-parser': /^src\/base\/po-files\.ts$/,
  ioredis: /^src\/http\/redis-pace-store\.ts$/,
  exifreader: /^src\/photo\/photo-exif\.ts$/,
  'iconv-lite': /^src\/tables\/text-encoding\.ts$/,
  numfmt: /^src\/tables\/number-format\.ts$/,
  yauzl: /^src\/tables\/zip-entries\.ts$/,
  'write-excel-file': /^src\/tables\/write-workbook\.ts$/,
  sharp: /^src\/photo\/thumbnail\.ts$/,
  'form-data': /^src\/http\/request-body\.ts$/,
  'http-proxy-agent': /^src\/http\/proxy\.ts$/,
  'https-proxy-agent': /^src\/http\/proxy\.ts$/,
  'libxml2-wasm': /^src\/xml\/xsd\.ts$/,
  proj4: /^src\/place\/geometry\.ts$/,
  'string-width': /^src\/text\/characters\.ts$/,
  inquirer: /^src\/ui\/prompt\.ts$/,
  'file-type': /^src\/photo\/photograph\.ts$/,
  'smol-toml': /^src\/store\/toml\.ts$/,
  chalk: /^src\/ui\/terminal\.ts$/,
  commander: /^src\/(main|commands\/[\w/-]+)\.ts$/,
};

const DOORS_TO_THE_MOCK = ['src/commands/service/mock-server.ts', 'src/commands/service/demo.ts'];
const MAX_LINES = 500;

const STATIC = /^(?:import|export)\s+(type\s)?([^;'"]*?)\s*from\s+'([^']+)'/gm;
/** Also of a `require` that was made for a CommonJS package. */
const AT_RUN_TIME =
  /(?:\bimport|\brequire(?:\.resolve)?|\bcreateRequire\([^()]*\))\(\s*['"`]([^'"`]+)['"`]/g;
const FOR_EFFECT = /^import\s+'([^']+)'/gm;

type Source = {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
  /** Those of them that are there when the program runs: not the ones for types alone. */
  readonly values: readonly string[];
};

const sources = [...filesBelow('src'), ...filesBelow('mock-server'), ...filesBelow('bin')].map(
  read,
);
const ours = sources.filter(({ path }) => path.startsWith('src/'));

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => /\.(ts|js|mjs)$/.test(path) && statSync(join(ROOT, path)).isFile());
}

function read(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const getTarget = (name: string): string =>
    name.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(path), name)) : name;
  const statics = [...text.matchAll(STATIC)].map(([, type, names = '', target = '']) => ({
    target: getTarget(target),
    isValue: type === undefined && !isOfTypesAlone(names),
  }));
  const match = [AT_RUN_TIME, FOR_EFFECT].flatMap((pattern) => [...text.matchAll(pattern)]);
  const values = match.map(([, target = '']) => getTarget(target));
  return {
    path,
    text,
    imports: [...statics.map(({ target }) => target), ...values],
    values: [...statics.filter(({ isValue }) => isValue).map(({ target }) => target), ...values],
  };
}

/** `{ type A, type B }` */
function isOfTypesAlone(names: string): boolean {
  const listed = /^\{(.*)\}$/s.exec(names.trim())?.[1]?.split(',') ?? [names];
  return listed.every((name) => name.trim() === '' || /^type\s/.test(name.trim()));
}

function getLayer(path: string): number {
  const layer = LAYER_OF_FOLDER[getFolder(path)];
  if (layer === undefined) throw new Error(`${path} stands in no layer`);
  return layer;
}

function getFolder(path: string): string {
  return path.split('/')[1] ?? '';
}

function isOfDomain(path: string): boolean {
  return getLayer(path) >= DOMAIN && getLayer(path) <= LAST_OF_DOMAIN;
}

function importsWhere(isWrong: (path: string, target: string) => boolean): string[] {
  return ours.flatMap(({ path, imports }) =>
    imports
      .filter((target) => target.startsWith('src/') && isWrong(path, target))
      .map((target) => `${path} -> ${target}`),
  );
}

describe('the layers of src', () => {
  test('are imported downwards only', () => {
    expect(importsWhere((path, target) => getLayer(target) > getLayer(path))).toEqual([]);
  });

  test('keep the parts of the domain apart', () => {
    const mayUse = (path: string, target: string): boolean =>
      getFolder(target) === getFolder(path) ||
      (getFolder(path) === 'outbox' && getFolder(target) === 'find') ||
      (UPPER_FLOOR.includes(getFolder(path)) &&
        ['find', ...UPPER_FLOOR].includes(getFolder(target)));
    expect(
      importsWhere(
        (path, target) => isOfDomain(path) && isOfDomain(target) && !mayUse(path, target),
      ),
    ).toEqual([]);
  });

  test('let a recipe use those before it', () => {
    const isFlow = (path: string): boolean => path.startsWith('src/flows/');
    const getRank = (path: string): number => RECIPES.indexOf(path.split('/')[2] ?? '');
    expect(
      ours.map(({ path }) => path).filter((path) => isFlow(path) && getRank(path) < 0),
    ).toEqual([]);
    expect(
      importsWhere(
        (path, target) => isFlow(path) && isFlow(target) && getRank(target) > getRank(path),
      ),
    ).toEqual([]);
  });

  test('have a name for each file that no other has', () => {
    const names = ours.map(({ path }) => path.split('/').at(-1) ?? '');
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('have three lines at the top of each folder about what belongs there, and what does not', () => {
    const folders = new Set(
      ours.filter(({ path }) => /^src\/.+\/.+\.ts$/.test(path)).map(({ path }) => dirname(path)),
    );
    expect(folders.size).toBeGreaterThan(30);
    const silent = [...folders].filter((folder) => {
      const page = join(ROOT, folder, 'README.md');
      return !existsSync(page) || readFileSync(page, 'utf8').trimEnd().split('\n').length !== 3;
    });
    expect(silent).toEqual([]);
  });

  test('let a command use flows and their context, and nothing else directly', () => {
    const astray = ours
      .filter(({ path }) => path.startsWith('src/commands/'))
      .flatMap(({ path, values }) =>
        values
          .filter(
            (target) =>
              !/^src\/(?:commands|context|flows|push|ui|text|base)\//.test(target) &&
              !/^node:|^commander$/.test(target),
          )
          .filter(
            (target) => !(target.startsWith('mock-server/') && DOORS_TO_THE_MOCK.includes(path)),
          )
          .map((target) => `${path} -> ${target}`),
      );
    expect(astray).toEqual([]);
  });

  test('are complete: no file imports a module that is named at run time only', () => {
    const hidden = sources
      .filter(({ text }) =>
        /(?:\bimport|(?<![\w-])require(?:\.resolve)?|createRequire\([^()]*\))\((?!\s*['"`][^'"`$]+['"`])/.test(
          text,
        ),
      )
      .map(({ path }) => path);
    expect(hidden).toEqual([]);
  });

  test('leave every package to one file', () => {
    const astray = ours.flatMap(({ path, imports }) =>
      imports
        .filter(
          (target) =>
            !target.startsWith('src/') &&
            !target.startsWith('dist/') &&
            !target.startsWith('node:'),
        )
        .filter((target) => !target.startsWith('mock-server/'))
        .filter((target) => HOME_OF_PACKAGE[getPackage(target)]?.test(path) !== true)
        .map((target) => `${path} -> ${target}`),
    );
    expect(astray).toEqual([]);
  });
});

test('the layers of the mock server are imported downwards only', () => {
  const mocks = sources.filter(({ path }) => /^mock-server\/.*\.ts$/.test(path));
  const getRank = (path: string): number =>
    LAYERS_OF_MOCK.indexOf(path.split('/').slice(1, -1)[0] ?? '');
  expect(mocks.filter(({ path }) => getRank(path) < 0).map(({ path }) => path)).toEqual([]);
  expect(LAYERS_OF_MOCK.filter((layer) => !existsSync(join(ROOT, 'mock-server', layer)))).toEqual(
    [],
  );
  const upward = mocks.flatMap(({ path, imports }) =>
    imports
      .filter((target) => /^mock-server\/.*\.ts$/.test(target) && getRank(target) > getRank(path))
      .map((target) => `${path} -> ${target}`),
  );
  expect(upward).toEqual([]);
});

test('client and mock server share no code', () => {
  const crossing = sources.flatMap(({ path, imports }) =>
    imports
      .filter(
        (target) =>
          (path.startsWith('src/') && target.startsWith('mock-server/')) ||
          (path.startsWith('mock-server/') && target.startsWith('src/')),
      )
      .filter(() => !DOORS_TO_THE_MOCK.includes(path))
      .map((target) => `${path} -> ${target}`),
  );
  expect(crossing).toEqual([]);
});

test('the tables of this test name existing files', () => {
  expect(
    Object.keys(LAYER_OF_FOLDER).filter((name) => !existsSync(join(ROOT, 'src', name))),
  ).toEqual([]);
  expect(DOORS_TO_THE_MOCK.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  const unused = Object.entries(HOME_OF_PACKAGE).filter(
    ([name, home]) =>
      !ours.some(
        ({ path, imports }) =>
          home.test(path) && imports.some((target) => getPackage(target) === name),
      ),
  );
  expect(unused.map(([name]) => name)).toEqual([]);
});

test('the page on the architecture names existing files and folders', () => {
  const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const named = [...page.matchAll(/(?<![\w/.-])[\w-]+(?:\/[\w-]+)*\.(?:ts|js)\b/g)].map(
    ([name]) => name,
  );
  const folders = [...page.matchAll(/^\| \d \| (.+?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name),
  );
  const gone = [...named, ...folders].filter(
    (name) => ![name, join('src', name)].some((path) => existsSync(join(ROOT, path))),
  );
  expect(named.length).toBeGreaterThan(15);
  expect(gone).toEqual([]);
});

test('no two files import one another, even indirectly, not even for a type', () => {
  const graph = new Map(sources.map(({ path, imports }) => [path, imports]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      return;
    }
    if (done.has(path)) return;
    for (const target of graph.get(path) ?? [])
      if (graph.has(target)) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  expect(cycles).toEqual([]);
});

test('no file is longer than the limit, unless its head says why', () => {
  const long = sources
    .filter(
      ({ text }) =>
        text.split('\n').length > MAX_LINES && !/^\/\*\*? Long because /m.test(text.slice(0, 400)),
    )
    .map(({ path, text }) => `${path}: ${text.split('\n').length}`);
  expect(long).toEqual([]);
});

test('no file has a meaningless name', () => {
  const vague = sources
    .filter(({ path }) =>
      /\/(utils?|helpers?|common|lib|types|interfaces|index|misc)\.ts$/.test(path),
    )
    .map(({ path }) => path);
  expect(vague).toEqual([]);
});

test('nothing below the commands reads the environment or ends the process', () => {
  const reaching = ours
    .filter(({ path }) => getLayer(path) < 4)
    .filter(({ text }) => /process\.(env|exit|exitCode|argv)\b/.test(text))
    .map(({ path }) => path);
  expect(reaching).toEqual([]);
});

function getPackage(target: string): string {
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
}
