import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { makeHome, serviceAt } from './support/run-pas.ts';
import { tempFolder } from './support/temp-folder.ts';

const PAS = resolve(import.meta.dirname, '..', 'bin', 'pas.js');

/**
 * Only on Node 20 is SQLite a version of its own, with two packages that look for what was
 * compiled.
 */
const SQLITE =
  Number(process.versions['napi']) >= 10
    ? ['better-sqlite3']
    : ['better-sqlite3-12', 'bindings', 'file-uri-to-path'];

/**
 * Packages that each of these commands loads beside the joined build; all others, and the files of
 * the build for later, take longer to load than the command to run.
 */
const MAY_LOAD: readonly (readonly [args: readonly string[], packages: readonly string[]])[] = [
  [['--help'], []],
  [['status'], SQLITE],
  [['list', '--limit', '20'], SQLITE],
];

async function homeWithProfile(): Promise<ReturnType<typeof makeHome>> {
  const home = makeHome();
  await home.init(serviceAt('http://127.0.0.1:9'), '--name', 'any');
  return home;
}

test('help, status and list load only the packages and files that they need', async () => {
  const home = await homeWithProfile();
  for (const [args, packages] of MAY_LOAD)
    expect([args, loadedBy(args, home.env)]).toEqual([args, [...packages].sort()]);
});

test.skipIf(!('enableCompileCache' in Module))(
  'compiled code is cached in the state folder once that exists',
  async () => {
    const home = makeHome();
    const compiled = join(home.env['XDG_STATE_HOME'] ?? '', 'pas', 'compiled');
    execFileSync(process.execPath, [PAS, '--help'], { env: home.env, stdio: 'ignore' });
    expect(existsSync(compiled)).toBe(false);
    mkdirSync(dirname(compiled), { recursive: true });
    execFileSync(process.execPath, [PAS, '--help'], { env: home.env, stdio: 'ignore' });
    expect(existsSync(compiled)).toBe(true);
  },
);

/** Names of the packages and files for later that a command resolved, whichever way. */
function loadedBy(args: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const folder = tempFolder();
  const log = join(folder, 'log.txt');
  const hooks = join(folder, 'hooks.mjs');
  const preload = join(folder, 'preload.mjs');
  writeFileSync(log, '');
  writeFileSync(
    hooks,
    `import { appendFileSync } from 'node:fs';
     export async function resolve(name, context, next) {
       const found = await next(name, context);
       appendFileSync(${JSON.stringify(log)}, found.url + '\\n');
       return found;
     }`,
  );
  writeFileSync(
    preload,
    `import Module, { register } from 'node:module';
     import { appendFileSync } from 'node:fs';
     register(${JSON.stringify(pathToFileURL(hooks).href)});
     process.on('exit', () => appendFileSync(${JSON.stringify(log)}, Object.keys(Module._cache).join('\\n')));`,
  );
  execFileSync(process.execPath, ['--import', pathToFileURL(preload).href, PAS, ...args], {
    env,
    stdio: 'ignore',
  });
  const text = readFileSync(log, 'utf8');
  const loaded = /node_modules\/((?:@[\w-]+\/)?[\w-]+)\/|dist\/pas\/(later|colours)-/g;
  const names = [...text.matchAll(loaded)].map(([, name, file = '']) => name ?? file);
  return [...new Set(names)].sort();
}
