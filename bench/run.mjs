#!/usr/bin/env node
/**
 * Measures pas against its limits and its peers, in one run on one machine.
 *
 *   npm run bench                      all rows
 *   npm run bench -- start validate    some of them
 *   npm run bench -- --write           all rows, and docs/performance.md again
 *   npm run bench -- --full growth     with a million finds; an hour for all rows
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBench, printTable, ROOT } from './measure.mjs';

const ROWS = [
  'start',
  'search',
  'vocabulary',
  'validate',
  'photograph',
  'mock',
  'growth',
  'country',
  'year',
  'import',
  'harvest',
  'pace',
  'push',
  'season-push',
  'beside',
];
const BEGIN = '<!-- figures of the last run -->';
const END = '<!-- end of the figures -->';

const { values: flags, positionals } = parseArgs({
  options: {
    write: { type: 'boolean' },
    full: { type: 'boolean', default: false },
    alone: { type: 'boolean' },
  },
  allowPositionals: true,
});
const unknown = positionals.filter((row) => !ROWS.includes(row));
if (unknown.length > 0)
  throw new Error(`no row ${unknown.join(', ')}; there are ${ROWS.join(', ')}`);

const startedMs = performance.now();
const verdicts = [];
if (flags.alone === true) await measureHere(positionals[0]);
else await measureAll(positionals.length === 0 ? ROWS : positionals);

async function measureAll(rows) {
  for (const row of rows) {
    console.log(`\n== ${row} (${elapsed()})`);
    verdicts.push(...(await measureAlone(row)));
  }
  console.log(`\n== all figures (${elapsed()}) on ${machine()}`);
  printTable([head(), ...verdicts.map(cells)]);
  if (flags.write === true) writeFigures();
  if (verdicts.some(({ met }) => !met)) process.exitCode = 1;
}

/**
 * Measures a row in a process of its own: with the heap that another row left, each large buffer
 * collects garbage more often.
 */
async function measureAlone(row) {
  const child = fork(import.meta.filename, ['--alone', row, ...(flags.full ? ['--full'] : [])]);
  let found;
  child.on('message', (message) => {
    found = message;
  });
  const [code] = await once(child, 'exit');
  if (code !== 0 || found === undefined) throw new Error(`the row ${row} ended with ${code}`);
  return found;
}

async function measureHere(row) {
  const bench = openBench();
  try {
    const { title, run } = await import(`./${row}.mjs`);
    bench.say(`  ${title}`);
    await run(bench, { full: flags.full });
  } finally {
    bench.close();
  }
  process.send?.(bench.verdicts);
}

function head() {
  return ['what', 'figure', 'against', 'ratio', 'target', ''];
}

function cells({ what, figure, against, ratio, target, met }) {
  return [what, figure, against, ratio.toFixed(2), target, met ? '✓' : '✗'];
}

function elapsed() {
  return `${Math.round((performance.now() - startedMs) / 1000)} s`;
}

function machine() {
  const [cpu] = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpu?.model ?? 'unknown processor'}, ${gibibytes} GiB, Linux ${release()}, Node ${process.version}`;
}

function writeFigures() {
  const path = join(ROOT, 'docs', 'performance.md');
  const text = readFileSync(path, 'utf8');
  const rows = [head(), head().map(() => '---'), ...verdicts.map(cells)].map(
    (row) => `| ${row.join(' | ')} |`,
  );
  const figures = `${BEGIN}\n${machine()}; ${elapsed()} in all.\n\n${rows.join('\n')}\n${END}`;
  writeFileSync(
    path,
    text.slice(0, text.indexOf(BEGIN)) + figures + text.slice(text.indexOf(END) + END.length),
  );
}
