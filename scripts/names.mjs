// Lists exported names that two files declare: `npm run names`, for programs with --json.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const EXPORTED =
  /^export\s+(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|type|interface)\s+(\w+)/gm;

const files = new Map();
for (const folder of ['src', 'mock-server']) {
  const below = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  for (const name of below.filter((each) => /\.(ts|js|mjs)$/.test(each)).sort()) {
    const path = `${folder}/${name.replaceAll('\\', '/')}`;
    // Overloads declare a name several times.
    const names = new Set(
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(EXPORTED)].map(
        ([, exported]) => exported,
      ),
    );
    for (const exported of names) files.set(exported, [...(files.get(exported) ?? []), path]);
  }
}

const all = Object.fromEntries([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
if (process.argv.includes('--json')) process.stdout.write(JSON.stringify(all));
else
  for (const [name, paths] of Object.entries(all))
    if (paths.length > 1) console.log(`${name}: ${paths.join(', ')}`);
