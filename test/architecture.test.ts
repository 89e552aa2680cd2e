import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** Rooms that each room of `src` may import besides itself; the files in the root are entry points. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  base: [],
  finds: ['base'],
  photos: ['finds', 'base'],
  outbox: ['photos', 'finds', 'base'],
  service: ['outbox', 'finds', 'base'],
  harvest: ['service', 'outbox', 'finds', 'base'],
  tables: ['outbox', 'photos', 'finds', 'base'],
  push: ['harvest', 'service', 'outbox', 'finds', 'base'],
  report: ['harvest', 'service', 'outbox', 'photos', 'finds', 'base'],
  cli: ['report', 'push', 'tables', 'harvest', 'service', 'outbox', 'photos', 'finds', 'base'],
};

/** Lower folders of the mock server may not import higher ones; its root is the server. */
const LAYERS_OF_MOCK = ['base', 'state', 'rules', 'endpoints', 'control', ''];

/** Each package is imported by one file of `src` alone, so that it can be replaced there. */
const HOME_OF_PACKAGE: Readonly<Record<string, RegExp>> = {
  '@napi-rs/keyring': /^src\/service\/keyring-process\.ts$/,
  'better-sqlite3': /^src\/base\/disk\/database\.ts$/,
  'better-sqlite3-12': /^src\/base\/disk\/database\.ts$/,
  ioredis: /^src\/service\/http\/redis-pace-store\.ts$/,
  exifreader: /^src\/photos\/photo-exif\.ts$/,
  'iconv-lite': /^src\/tables\/input-file\.ts$/,
  numfmt: /^src\/tables\/formats\/sheet-table\.ts$/,
  yauzl: /^src\/tables\/formats\/xlsx\.ts$/,
  'write-excel-file': /^src\/tables\/exports\/write-rows\.ts$/,
  sharp: /^src\/photos\/photograph\.ts$/,
  'form-data': /^src\/service\/http\/request-body\.ts$/,
  'http-proxy-agent': /^src\/service\/http\/proxy\.ts$/,
  'https-proxy-agent': /^src\/service\/http\/proxy\.ts$/,
  'libxml2-wasm': /^src\/base\/xml\/xsd\.ts$/,
  proj4: /^src\/finds\/place\/geometry\.ts$/,
  'string-width': /^src\/base\/characters\.ts$/,
  inquirer: /^src\/cli\/prompt\.ts$/,
  'file-type': /^src\/photos\/photograph\.ts$/,
  'smol-toml': /^src\/base\/json-and-toml\.ts$/,
  chalk: /^src\/cli\/terminal\.ts$/,
  commander: /^src\/cli\/[\w/-]+\.ts$/,
};

const DOORS_TO_THE_MOCK = ['src/cli/commands/mock-server.ts'];
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

/** Returns the room of a file; '' for an entry point. */
function getRoom(path: string): string {
  const [, room = '', ...rest] = path.split('/');
  return rest.length === 0 ? '' : room;
}

function importsWhere(isWrong: (path: string, target: string) => boolean): string[] {
  return ours.flatMap(({ path, imports }) =>
    imports
      .filter((target) => target.startsWith('src/') && isWrong(path, target))
      .map((target) => `${path} -> ${target}`),
  );
}

describe('the rooms of src', () => {
  test('are those of the table', () => {
    const rooms = new Set(ours.map(({ path }) => getRoom(path)));
    rooms.delete('');
    expect([...rooms].sort()).toEqual(Object.keys(MAY_USE).sort());
  });

  test('import only those that they may use', () => {
    const isAllowed = (room: string, used: string): boolean =>
      room === '' || used === room || MAY_USE[room]?.includes(used) === true;
    expect(importsWhere((path, target) => !isAllowed(getRoom(path), getRoom(target)))).toEqual([]);
  });

  test('have a name for each file that no other has', () => {
    const names = ours.map(({ path }) => path.split('/').at(-1) ?? '');
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('say in three lines for each folder what belongs there, and what does not', () => {
    const folders = new Set(
      ours.filter(({ path }) => /^src\/.+\/.+\.ts$/.test(path)).map(({ path }) => dirname(path)),
    );
    expect(folders.size).toBeGreaterThan(20);
    const silent = [...folders].filter((folder) => {
      const page = join(ROOT, folder, 'README.md');
      return !existsSync(page) || readFileSync(page, 'utf8').trimEnd().split('\n').length !== 3;
    });
    expect(silent).toEqual([]);
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

test('no command calls another one', () => {
  const commands = ours.filter(
    ({ path, text }) =>
      path.startsWith('src/cli/commands/') &&
      /^export const registerCommands: Registration/m.test(text),
  );
  const names = new Set(commands.map(({ path }) => path));
  const calls = ours
    .filter(({ path }) => path.startsWith('src/cli/'))
    .flatMap(({ path, values }) =>
      values
        .map((target) => join(dirname(path), target))
        .filter((target) => names.has(target))
        .map((target) => `${path} -> ${target}`),
    );
  expect(commands.length).toBeGreaterThan(25);
  expect(calls).toEqual([]);
});

test('the tables of this test name existing files', () => {
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
  const folders = [...page.matchAll(/^\| (`\w+`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name),
  );
  const gone = [...named, ...folders].filter(
    (name) => ![name, join('src', name)].some((path) => existsSync(join(ROOT, path))),
  );
  expect(named.length).toBeGreaterThan(15);
  expect(gone).toEqual([]);
});

test('the page on reliability names existing files, and functions in the order of an attempt', () => {
  const page = readFileSync(join(ROOT, 'docs/reliability.md'), 'utf8');
  const named = [...page.matchAll(/`((?:outbox|push|service)\/[\w/-]+\.ts)`/g)].map(
    ([, file]) => file,
  );
  expect(named.filter((file) => !existsSync(join(ROOT, 'src', file ?? '')))).toEqual([]);
  const [head = '', ...steps] =
    /^Order of an attempt[\s\S]*?(?=\n\n(?!\d))/m.exec(page)?.[0].split('\n') ?? [];
  const code = ours.filter(({ path }) => head.includes(`\`${path.replace('src/', '')}\``));
  const functions = steps.flatMap((step) => /^\d\. `(\w+)`/.exec(step)?.[1] ?? []);
  expect(functions.length).toBeGreaterThan(3);
  expect(
    functions.filter((name) => !code.some(({ text }) => text.includes(`function ${name}`))),
  ).toEqual([]);
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

test('nothing but a command line reads the environment or ends the process', () => {
  const reaching = ours
    .filter(({ path }) => !['', 'cli'].includes(getRoom(path)) && !path.endsWith('-process.ts'))
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
