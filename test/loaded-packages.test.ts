import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { makeHome } from './support/run-pas.ts';

const PAS = resolve(import.meta.dirname, '..', 'bin', 'pas.js');

/** What each of these commands may load; everything else takes longer to load than they take to run. */
const MAY_LOAD: readonly (readonly [args: readonly string[], packages: readonly string[]])[] = [
  [['--help'], ['commander']],
  [['status'], ['better-sqlite3', 'bindings', 'chalk', 'commander', 'file-uri-to-path', 'smol-toml']],
  [
    ['list', '--limit', '20'],
    ['better-sqlite3', 'bindings', 'chalk', 'commander', 'file-uri-to-path', 'smol-toml'],
  ],
];

test('help, status and list load only the packages that they need', async () => {
  const home = makeHome();
  const address = 'http://127.0.0.1:9';
  const addresses = ['--base-url', address, '--oai-base', `${address}/oai`, '--schema-base', `${address}/schema`];
  expect((await home.pas('init', '--name', 'any', '--kind', 'training', ...addresses)).code).toBe(0);
  for (const [args, packages] of MAY_LOAD) expect([args, loadedBy(args, home.env)]).toEqual([args, packages]);
});

/** Names of the packages that a command resolved, whichever way it imported them. */
function loadedBy(args: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'pas-loaded-'));
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
  execFileSync(process.execPath, ['--import', pathToFileURL(preload).href, PAS, ...args], { env, stdio: 'ignore' });
  const text = readFileSync(log, 'utf8');
  const names = [...text.matchAll(/node_modules\/((?:@[\w-]+\/)?[\w-]+)\//g)].map(([, name = '']) => name);
  return [...new Set(names)].sort();
}
