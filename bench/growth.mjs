import { statSync } from 'node:fs';
import { join } from 'node:path';
import { needingPerson } from '../dist/src/outbox/entry-queries.js';
import { countEntries, countWaiting } from '../dist/src/outbox/overview.js';
import { countFinds } from '../dist/src/outbox/stored-finds.js';
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
  for (const size of SIZES) rows.push(measuredAt(bench, size));
  bench.table([
    ['finds', 'import a find', 'claim and settle one', 'status', 'outbox a find', 'journal a find'],
    ...rows.map(({ size, importMs, settleMs, statusMs, bytes, journalBytes }) => [
      String(size),
      `${(importMs * 1000).toFixed(0)} µs`,
      `${(settleMs * 1000).toFixed(0)} µs`,
      `${statusMs.toFixed(1)} ms`,
      `${Math.round(bytes)} bytes`,
      `${Math.round(journalBytes)} bytes`,
    ]),
  ]);
  const [first, last] = [rows[0], rows.at(-1)];
  const bare = bareMs(['bare.sqlite', 'bare-journal.sqlite'].map((name) => join(bench.folder, name)));
  for (const [what, key, against] of [
    ['import', 'importMs', 'a bare insert'],
    ['claim and settle', 'settleMs', 'four bare transactions'],
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

/** The least that SQLite does for the same: a row in a transaction of many; two transactions in each file that are each on disk. */
function bareMs(paths) {
  const databases = paths.map((path) => {
    const database = openSqlite(path);
    database.pragma('journal_mode = wal');
    database.pragma('synchronous = full');
    database.exec('create table entries (id integer primary key, state text not null, document blob not null)');
    return database;
  });
  const [outbox] = databases;
  const insert = outbox.prepare(`insert into entries (state, document) values ('queued', ?)`);
  const update = outbox.prepare('update entries set state = ? where id = ?');
  const note = databases[1].prepare(`insert into entries (state, document) values (?, x'00')`);
  const [imports, settles] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    const insertAll = outbox.transaction(() => {
      for (let n = 0; n < SAMPLE; n++) insert.run(DOCUMENT);
    });
    imports.push(timeMs(insertAll) / SAMPLE);
    settles.push(
      timeMs(() => {
        for (let n = 1; n <= SAMPLE; n++) {
          for (const state of ['sending', 'accepted']) {
            note.run(state);
            update.run(state, round * SAMPLE + n);
          }
        }
      }) / SAMPLE,
    );
  }
  for (const database of databases) database.close();
  return { importMs: median(imports), settleMs: median(settles) };
}

function measuredAt(bench, size) {
  const [file, journalFile] = ['outbox.sqlite', 'journal.sqlite'].map((name) => join(bench.folder, `growth-${size}`, name));
  const places = { file, journalFile, address: ADDRESS };
  fillOutbox(places, size);
  const [bytes, journalBytes] = [file, journalFile].map((path) => statSync(path).size / size);
  const outbox = openFilled(places);
  const [imports, settles, statuses] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const from = size + round * SAMPLE;
    imports.push(timeMs(() => addFinds(outbox, from, from + SAMPLE)) / SAMPLE);
    settles.push(timeMs(() => claimAndSettle(outbox, SAMPLE)) / SAMPLE);
    statuses.push(
      timeMs(() => {
        countFinds(outbox);
        countEntries(outbox);
        countWaiting(outbox);
        needingPerson(outbox, 20);
      }),
    );
  }
  outbox.close();
  const statusMs = median(statuses);
  return {
    size,
    importMs: median(imports),
    settleMs: median(settles),
    statusMs,
    statusPerFindMs: statusMs / size,
    bytes,
    journalBytes,
  };
}

function timeMs(work) {
  const startedMs = performance.now();
  work();
  return performance.now() - startedMs;
}
