import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
type Manifest = { readonly engines: { readonly node: string }; readonly man: unknown } & Readonly<
  Record<
    'dependencies' | 'optionalDependencies' | 'peerDependencies' | 'exports' | 'bin',
    Readonly<Record<string, unknown>>
  >
>;
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

/** Packages that the shipped code loads, by name. */
const loaded = new Set(
  ['src', 'mock-server', 'bin']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(ROOT, folder, name),
      ),
    )
    .filter((path) => /\.(ts|js)$/.test(path) && !path.includes('/page/'))
    .flatMap((path) => [
      ...readFileSync(path, 'utf8').matchAll(
        /^(?!import type)(?:import|export)\s[^;'"]*?from\s+'([^'.][^']*)'|(?:\bimport|\bcreateRequire\(import\.meta\.url\))\('([^'.][^']*)'\)/gm,
      ),
    ])
    .map(([, fixed, dynamic]) => fixed ?? dynamic ?? '')
    .filter((target) => !target.startsWith('node:') && !builtinModules.includes(target))
    .map((target) =>
      target
        .split('/')
        .slice(0, target.startsWith('@') ? 2 : 1)
        .join('/'),
    ),
);

test('every dependency is one that the shipped code loads, and none is missing', () => {
  const { dependencies, optionalDependencies, peerDependencies } = manifest;
  const declared = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  expect([...loaded].sort()).toEqual(declared.sort());
});

test('the page of dependencies names each of them, and nothing else', () => {
  const table = readFileSync(join(ROOT, 'docs', 'dependencies.md'), 'utf8');
  const named = [...table.matchAll(/^\| ([^|]+) \|/gm)]
    .flatMap(([, cell = '']) => cell.split(', '))
    .slice(1);
  const described = named.filter((name) => !/^-+$/.test(name));
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  expect(described.sort()).toEqual(installed.sort());
});

test('every page of docs is listed on its first page', () => {
  const listed = readFileSync(join(ROOT, 'docs', 'README.md'), 'utf8');
  const pages = readdirSync(join(ROOT, 'docs')).filter(
    (name) => name.endsWith('.md') && name !== 'README.md',
  );
  expect(pages.filter((name) => !listed.includes(`(${name})`))).toEqual([]);
});

test('man finds the page of an installed pas: npm links the listed pages, and nothing else', () => {
  expect(manifest.man).toEqual(readdirSync(join(ROOT, 'man')).map((name) => `./man/${name}`));
});

test('every public module and program has its source', () => {
  const targets = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target as object),
  );
  const sources = targets.map((target) =>
    String(target)
      .replace('./dist/', './')
      .replace(/\.(d\.ts|js)$/, '.ts'),
  );
  for (const source of [...sources, ...Object.values(manifest.bin)])
    expect(() => readFileSync(join(ROOT, String(source)))).not.toThrow();
});

test('each Node that the package asks for is one that every dependency takes, and that pas doctor takes', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean; engines?: { node?: string } }>;
  };
  const floors = manifest.engines.node.split('||').map((range) => range.replace(/[^\d.]/g, ''));
  expect(floors.length).toBeGreaterThan(1);
  const refused = floors.flatMap((floor) =>
    Object.entries(packages)
      .filter(
        ([name, { dev, optional, engines }]) =>
          name !== '' && dev !== true && optional !== true && !takes(engines?.node ?? '*', floor),
      )
      .map(([name, { engines }]) => `${name} wants ${engines?.node}, not ${floor}`),
  );
  expect(refused).toEqual([]);
  // The lock's own word on the second: npm ci is to compile nothing where the first is ready made.
  const sqlites = ['better-sqlite3', 'better-sqlite3-12'].map(
    (name) => packages[`node_modules/${name}`]?.engines?.node ?? '',
  );
  expect(floors.map((floor) => sqlites.map((range) => takes(range, floor)))).toEqual([
    [false, true],
    [true, false],
    [true, false],
  ]);
});

test('npm ci compiles SQLite on Node 20 alone: two lines in the lock, which npm omits when it rewrites the lock, say so', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, object>;
  };
  expect(packages['node_modules/better-sqlite3']).toMatchObject({ gypfile: false });
  expect(packages['node_modules/better-sqlite3-12']).toMatchObject({ engines: { node: '20.x' } });
});

/**
 * As much of npm's ranges as dependencies use for `engines`: `^`, `>=`, `20.x`, `*`, with `||`
 * between them.
 */
function takes(ranges: string, version: string): boolean {
  return ranges.split('||').some((range) => {
    const [, sign = '', digits = ''] = /^\s*(\^|>=)?\s*([\d.x*]+)\s*$/.exec(range) ?? [];
    const least = digits.split('.').map((part) => Number(part.replace(/[x*]/, '0')));
    const own = version.split('.').map(Number);
    if (digits === '*') return true;
    if (sign !== '>=' && least[0] !== own[0]) return false;
    const at = [0, 1, 2].find((index) => (own[index] ?? 0) !== (least[index] ?? 0));
    return at === undefined || (own[at] ?? 0) > (least[at] ?? 0);
  });
}
