// Prints the size of each own part that a page of docs/decisions gives in lines, as measured and as
// written there.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * @typedef {{ page: string, words: string, files: RegExp }} OwnPart `words` stand beside the size
 * on the page; `files` are paths below `src`.
 */

/** @type {readonly OwnPart[]} */
const OWN_PARTS = [
  {
    page: '0005-own-pace',
    words: 'lines of our own and ioredis',
    files: /^http\/(pace.*|redis-.*)\.ts$/,
  },
  {
    page: '0006-own-xml-reader',
    words: 'lines of our own',
    files: /^xml\/(?!write-xml|xsd).*\.ts$/,
  },
  {
    page: '0011-own-xml-writer',
    words: 'lines that write elements',
    files: /^xml\/write-xml\.ts$/,
  },
  ...[
    { words: '`photo` takes GPS out', files: /^photo\/(jpeg|.*gps.*)\.ts$/ },
    { words: '`place` reads positions', files: /^place\/read-position\.ts$/ },
    { words: '`tables` reads GeoPackage', files: /^tables\/gpkg-(rows|table)\.ts$/ },
    {
      words: '`tables` reads shapefiles',
      files: /^(tables\/(shapefile-table|dbf)|place\/read-prj)\.ts$/,
    },
    { words: '`tables` reads KML', files: /^tables\/kml-table\.ts$/ },
    { words: '`tables` reads ODS', files: /^tables\/ods-.*\.ts$/ },
    { words: '`tables` reads XLSX', files: /^tables\/xlsx-.*\.ts$/ },
    { words: '`tables` shows cells', files: /^tables\/number-format\.ts$/ },
    { words: '`tables` knows encodings', files: /^tables\/text-encoding\.ts$/ },
    { words: '`find` reads days and other cells', files: /^find\/parse-cell\.ts$/ },
    { words: '`find` reads names', files: /^find\/person-name\.ts$/ },
    {
      words: '`vocabulary` searches',
      files: /^vocabulary\/(search|similar-words|czech|suggest)\.ts$/,
    },
    { words: '`place` knows areas', files: /^place\/polygon\.ts$/ },
    { words: '`report` draws maps', files: /^(report\/map.*|place\/clip)\.ts$/ },
    { words: '`http` hides secrets', files: /^http\/(redaction|escapes)\.ts$/ },
    {
      words: '`http` reads answers and tries again',
      files: /^(http\/exchange|base\/retry-policy)\.ts$/,
    },
    { words: '`text` writes JSON', files: /^text\/json-bytes\.ts$/ },
    { words: '`store` writes output', files: /^store\/(append-file|output-file)\.ts$/ },
    { words: '`store` locks', files: /^store\/lock-.*\.ts$/ },
    { words: '`oai` harvests', files: /^oai\/.*\.ts$/ },
    { words: 'completion', files: /^commands\/setup\/complete\.ts$/ },
  ].map((part) => ({ page: '0019-own-parts', ...part })),
];

const SRC = join(ROOT, 'src');
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).map((name) =>
  name.replaceAll('\\', '/'),
);

/** @param {RegExp} files */
function countLines(files) {
  const texts = sources
    .filter((path) => files.test(path))
    .map((path) => readFileSync(join(SRC, path), 'utf8'));
  return texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
}

console.log('measured  written');
for (const { page, words, files } of OWN_PARTS) {
  const text = readFileSync(join(ROOT, 'docs', 'decisions', `${page}.md`), 'utf8');
  const [, before, after] =
    new RegExp(`(?:([\\d,]+) ${words}|${words}, ([\\d,]+))`).exec(text) ?? [];
  const written = (before ?? after ?? 'nothing').replaceAll(',', '');
  console.log(`${String(countLines(files)).padStart(8)} ${written.padStart(8)}  ${page}: ${words}`);
}
