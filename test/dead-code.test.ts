import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/** Exports of the package, and programs started by their path. */
const ENTRIES =
  /^(bin\/|scripts\/|bench\/\w+\.mjs|src\/(start\.ts|exports\/)|mock-server\/(server|main|testcontainers)\.ts|mock-server\/page\/(page|docs)\.js|mock-server\/seed\/make-)/;

/** Exports that only tests import, and why they are not written there. */
const FOR_TESTS: Readonly<Record<string, string>> = {
  'src/commands/setup/complete.ts#splitCommandLine':
    'lines of a shell are endless, and a process for each is not',
  'src/commands/setup/complete.ts#listSuggestions':
    'lines of a shell are endless, and a process for each is not',
  'src/base/language.ts#withPrepositions':
    'numbers are endless, and texts of the catalog with one are not',
  'src/columns/defaults.ts#checkDefaults':
    'the faults of defaults are many, and each needs a file otherwise',
  'src/flows/queue/enqueue-change.ts#findKnownNumber':
    'what the outbox knows of a number, which a command only compares',
  'src/store/secrets.ts#KeyringError': 'the fault of a keyring, which a test raises',
  'src/ui/terminal.ts#makeBar': 'a terminal draws by the clock of the machine',
  'src/ui/terminal.ts#formatTable': 'widths and cells are many, and a terminal has one width',
  'src/find/rules.ts#RULES': 'every rule must have its case',
  'src/flows/system/search-path.ts#parseRegistryPath': 'the registry is on Windows alone',
  'src/flows/system/search-path.ts#formatRegistryPath': 'the registry is on Windows alone',
  'src/http/redis-pace-store.ts#getRedisField':
    'what stands in a Redis is shared with other versions',
  'src/http/redis-pace-store.ts#encodeState':
    'what stands in a Redis is shared with other versions',
  'src/http/redis-pace-store.ts#decodeState':
    'what stands in a Redis is shared with other versions',
  'src/ledger/ledger.ts#getSubject': 'reads what a harvest noted',
  'src/flows/harvest/harvest-records.ts#openSetState':
    'the sets of an output, without a harvest of each',
  'src/outbox/ownership.ts#releaseRecord': 'a service gives a record away by chance alone',
  'src/http/send.ts#startDeadline': 'a request that runs out of time takes minutes',
  'src/oai/send-request.ts#peekResumptionToken':
    'pages of a list are endless, and a harvest of each is not',
  'src/oai/send-request.ts#extractToken': 'tokens have every form, and a sign-in with each is long',
  'src/report/map-frame.ts#MAP_WIDTH': 'what the marks of the map must stay within',
  'src/xml/xsd.ts#MAX_DOCUMENT_BYTES': 'the limit that the test goes beyond',
  'mock-server/base/digest.ts#parseContentDigest':
    'headers are endless, and a request for each is not',
};

const VALUES = /^export\s+(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class)\s+(\w+)/gm;
const DECLARED =
  /^export\s+(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|type|interface)\s+(\w+)/gm;

type Source = { readonly path: string; readonly text: string };

const all = ['bin', 'src', 'mock-server', 'scripts', 'bench', 'test'].flatMap(filesBelow).map(read);
const shipped = all.filter(({ path }) => /^(src|mock-server)\//.test(path));
const fromAnywhere = usesIn(all);
const fromShipped = usesIn(all.filter(({ path }) => !path.startsWith('test/')));

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter(
      (path) =>
        /\.(ts|js|mjs)$/.test(path) &&
        !path.endsWith('.d.ts') &&
        statSync(join(ROOT, path)).isFile(),
    );
}

function read(path: string): Source {
  return { path, text: readFileSync(join(ROOT, path), 'utf8') };
}

/**
 * The file that an import names: programs that run the build name `dist/….js` for a file of `src`.
 */
function getTarget(importer: string, name: string): string {
  const path = relative(ROOT, resolve(ROOT, dirname(importer), name));
  return path.startsWith('dist/') ? path.slice('dist/'.length).replace(/\.js$/, '.ts') : path;
}

/** `file#name` of all that these sources import from another file. */
function usesIn(sources: readonly Source[]): ReadonlySet<string> {
  const uses = sources.flatMap(({ path, text }) => {
    const named = [
      ...text.matchAll(/\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'(\.[^']+)'/g),
    ].flatMap(([, names = '', file = '']) =>
      namesIn(names).map((name) => `${getTarget(path, file)}#${name}`),
    );
    // Any name mentioned in the text of a lazily or wholly loaded file may be used.
    const whole = [
      ...text.matchAll(
        /\bimport\(\s*['"](\.[^'"]+)['"]\s*\)|\bimport\s+\*\s+as\s+\w+\s+from\s+'(\.[^']+)'/g,
      ),
    ].flatMap(([, later, star]) => {
      const target = getTarget(path, later ?? star ?? '');
      return listExports(target)
        .filter((name) => new RegExp(`\\b${name}\\b`).test(text))
        .map((name) => `${target}#${name}`);
    });
    return [...named, ...whole];
  });
  return new Set(uses);
}

function namesIn(list: string): string[] {
  return list
    .split(',')
    .map(
      (each) =>
        each
          .trim()
          .replace(/^type\s+/, '')
          .split(/\s+as\s+/)[0] ?? '',
    )
    .filter((name) => name !== '');
}

function listExports(path: string, declared: RegExp = DECLARED): string[] {
  const text = all.find((source) => source.path === path)?.text ?? '';
  return [...text.matchAll(declared)].map(([, name = '']) => name);
}

test('every export is imported by another file', () => {
  const dead = shipped
    .filter(({ path }) => !ENTRIES.test(path))
    .flatMap(({ path }) => listExports(path).map((name) => `${path}#${name}`))
    .filter((name) => !fromAnywhere.has(name));
  expect(dead).toEqual([]);
});

test('nothing is exported for tests alone without a reason', () => {
  const forTests = shipped
    .filter(({ path }) => !ENTRIES.test(path))
    // A type that a test names belongs to a function that it calls.
    .flatMap(({ path }) => listExports(path, VALUES).map((name) => `${path}#${name}`))
    .filter((name) => fromAnywhere.has(name) && !fromShipped.has(name));
  expect(forTests.filter((name) => FOR_TESTS[name] === undefined)).toEqual([]);
  expect(Object.keys(FOR_TESTS).filter((name) => !forTests.includes(name))).toEqual([]);
});

test('every file is named by another one', () => {
  const namedIn = new Map<string, Set<string>>();
  for (const { path, text } of [...all, ...['package.json', 'vitest.config.ts'].map(read)])
    for (const [word] of text.matchAll(/[\w-]+(?:\.[\w-]+)*/g)) {
      // `file`, `file.ts` and `file.d.ts` name the same file.
      const [name = ''] = word.split(/\.(?:d\.ts|test\.ts|ts|mjs|js)$/);
      namedIn.set(name, (namedIn.get(name) ?? new Set()).add(path));
    }
  const forgotten = all
    .filter(({ path }) => !ENTRIES.test(path) && !path.endsWith('.test.ts'))
    .filter(
      ({ path }) =>
        ![...(namedIn.get(basename(path).replace(/\.\w+$/, '')) ?? [])].some(
          (other) => other !== path,
        ),
    )
    .map(({ path }) => path);
  expect(forgotten).toEqual([]);
});
