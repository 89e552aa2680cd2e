// Writes docs/evidence.md from test/evidence.json: each promise of the user pages with its test.
// With --check it only says whether it is stale.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const PAGE = new URL('../docs/evidence.md', import.meta.url);
const PAIRS = JSON.parse(readFileSync(new URL('../test/evidence.json', import.meta.url), 'utf8'));

const getSection = (name) => {
  const rows = PAIRS.filter(({ page }) => page === name).map(
    ({ promise, file, title }) => `| ${promise.replaceAll('|', '\\|')} | \`${file}\`: ${title} |`,
  );
  const target = name.startsWith('docs/') ? name.slice('docs/'.length) : `../${name}`;
  return ['', `## [${name}](${target})`, '', '| promise | test |', '|---|---|', ...rows];
};

const page = [
  '# Evidence',
  '',
  '<!-- Written by `npm run reference` from test/evidence.json. Do not edit. -->',
  '',
  'The promises of two pages, each with a test. [How faithful the mock server is](mock-faithfulness.md) names its own tests.',
  ...[...new Set(PAIRS.map(({ page: name }) => name))].flatMap(getSection),
  '',
].join('\n');

const isStale = !existsSync(PAGE) || readFileSync(PAGE, 'utf8') !== page;
if (!process.argv.includes('--check')) writeFileSync(PAGE, page);
else if (isStale) {
  process.stderr.write('Stale: docs/evidence.md. Run npm run reference.\n');
  process.exitCode = 1;
}
