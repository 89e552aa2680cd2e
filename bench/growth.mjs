import { statSync } from 'node:fs';
import { join } from 'node:path';
import { countElsewhere, countEntries, countFinds, countWaiting } from '../dist/src/outbox/counts.js';
import { needingPerson } from '../dist/src/outbox/overview.js';
import { openSqlite } from '../dist/src/store/database.js';
import { addFinds, claimAndSettle, DOCUMENT, fillOutbox, openFilled } from './fill-outbox.mjs';
import { median } from './measure.mjs';

export const title = 'what a find costs in an outbox that grows';

const ADDRESS = 'https://finds.example.org';
const SIZES = [1000, 10_000, 100_000, 1_000_000];
const SAMPLE = 300;
const ROUNDS = 5;
const TIMES_BARE = { importMs: 20, settleMs: 4 };

export async function run(bench) {
  const rows = [];
  for (const size of SIZES) rows.push(await measuredAt(bench, size));
  bench.table([
    ['finds', 'import a find', 'claim and settle one', 'status', 'file a find'],
    ...rows.map(({ size, importMs, settleMs, statusMs, bytes }) => [
      String(size),
      `${(importMs * 1000).toFixed(0)} µs`,
      `${(settleMs * 1000).toFixed(0)} µs`,
      `${statusMs.toFixed(1)} ms`,
      `${Math.round(bytes)} bytes`,
    ]),
  ]);
  const [first, last] = [rows[0], rows.at(-1)];
  const bare = bareMs(join(bench.folder, 'bare.sqlite'));
  for (const [what, key, against] of [
    ['import', 'importMs', 'a bare insert'],
    ['claim and settle', 'settleMs', 'two bare transactions'],
  ]) {
    bench.verdict(`${what} a find among ${last.size}`, {
      figure: `${(last[key] * 1000).toFixed(0)} µs`,
      against: `${against} ${(bare[key] * 1000).toFixed(0)} µs`,
      ratio: last[key] / bare[key],
      target: TIMES_BARE[key],
      better: 'less',
    });
  }
  for (const [what, key] of [
    ['import', 'importMs'],
    ['claim and settle', 'settleMs'],
    ['status, per find', 'statusPerFindMs'],
  ]) {
    bench.verdict(`${what}, ${first.size} → ${last.size} finds`, {
      figure: `${(last[key] * 1000).toFixed(2)} µs`,
      against: `${(first[key] * 1000).toFixed(2)} µs`,
      ratio: last[key] / first[key],
      target: 1.5,
      better: 'less',
    });
  }
}

/** The least that SQLite does for the same: a row in a transaction of many; two transactions that are each on disk. */
function bareMs(path) {
  const database = openSqlite(path);
  database.pragma('journal_mode = wal');
  database.pragma('synchronous = full');
  database.exec('create table entries (id integer primary key, state text not null, document blob not null)');
  const insert = database.prepare(`insert into entries (state, document) values ('queued', ?)`);
  const update = database.prepare('update entries set state = ? where id = ?');
  const [imports, settles] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    const insertAll = database.transaction(() => {
      for (let n = 0; n < SAMPLE; n++) insert.run(DOCUMENT);
    });
    imports.push(timeMs(insertAll) / SAMPLE);
    settles.push(
      timeMs(() => {
        for (let n = 1; n <= SAMPLE; n++) for (const state of ['sending', 'accepted']) update.run(state, round * SAMPLE + n);
      }) / SAMPLE,
    );
  }
  database.close();
  return { importMs: median(imports), settleMs: median(settles) };
}

async function measuredAt(bench, size) {
  const home = join(bench.folder, `growth-${size}`);
  await fillOutbox(home, ADDRESS, size);
  const bytes = statSync(join(home, 'outbox.sqlite')).size / size;
  const outbox = openFilled(home, ADDRESS);
  const [imports, settles, statuses] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const from = size + round * SAMPLE;
    imports.push(timeMs(() => addFinds(outbox, from, from + SAMPLE)) / SAMPLE);
    settles.push(timeMs(() => claimAndSettle(outbox, SAMPLE)) / SAMPLE);
    statuses.push(
      timeMs(() => {
        countFinds(outbox);
        countEntries(outbox);
        countElsewhere(outbox);
        countWaiting(outbox);
        needingPerson(outbox, 20);
      }),
    );
  }
  outbox.close();
  const statusMs = median(statuses);
  return { size, importMs: median(imports), settleMs: median(settles), statusMs, statusPerFindMs: statusMs / size, bytes };
}

function timeMs(work) {
  const startedMs = performance.now();
  work();
  return performance.now() - startedMs;
}
