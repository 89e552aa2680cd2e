import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../dist/src/base/clock.js';
import { openSqlite } from '../dist/src/base/disk/database.js';
import { openOaiClient } from '../dist/src/harvest/client.js';
import { listEntriesNeedingPerson } from '../dist/src/outbox/entry-queries.js';
import { readHeader } from '../dist/src/outbox/open-outbox.js';
import { countVisibleFinds } from '../dist/src/outbox/stored-finds.js';
import { uniteWithLedger } from '../dist/src/outbox/unite.js';
import {
  countEntriesByState,
  countWaitingEntries,
} from '../dist/src/outbox/views/outbox-status.js';
import { holdEntriesWithQuestions } from '../dist/src/push/look.js';
import {
  ACCOUNT,
  addFinds,
  claimAndSettle,
  DOCUMENT,
  fillOutbox,
  openFilled,
} from './fill-outbox.mjs';
import { median } from './measure.mjs';

export const title = 'what a find costs in an outbox that grows';

const ADDRESS = 'https://finds.example.org';
const SIZES = [1000, 10_000, 100_000];
const FULL_SIZE = 1_000_000;
const SAMPLE = 300;
const ROUNDS = 5;
const TIMES_BARE = { importMs: 20, settleMs: 4 };
const MAX_GROWTH = 1.3;
const PAGE_SIZE = 100;
const HOUR_MS = 3_600_000;

export async function run(bench, { full }) {
  const rows = [];
  for (const size of full ? [...SIZES, FULL_SIZE] : SIZES) rows.push(await measuredAt(bench, size));
  bench.table([
    [
      'finds',
      'import a find',
      'claim and settle one',
      'look for one',
      'restore one',
      'status',
      'outbox a find',
      'ledger a find',
    ],
    ...rows.map(({ size, importMs, settleMs, lookMs, restoreMs, statusMs, bytes, ledgerBytes }) => [
      String(size),
      ...[importMs, settleMs, lookMs, restoreMs].map((ms) => `${(ms * 1000).toFixed(0)} µs`),
      `${statusMs.toFixed(1)} ms`,
      `${Math.round(bytes)} bytes`,
      `${Math.round(ledgerBytes)} bytes`,
    ]),
  ]);
  const first = rows[0];
  const last = rows.at(-1);
  const bare = bareMs(
    ['bare.sqlite', 'bare-ledger.sqlite'].map((name) => join(bench.folder, name)),
  );
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
    ['search before a push, per find', 'lookMs'],
    ['restore with the ledger, per find', 'restoreMs'],
  ]) {
    bench.verdict(`${what}, ${first.size} → ${last.size} finds`, {
      figure: `${(last[key] * 1000).toFixed(2)} µs`,
      against: `${(first[key] * 1000).toFixed(2)} µs`,
      ratio: last[key] / first[key],
      target: MAX_GROWTH,
      better: 'less',
    });
  }
}

/**
 * The least that SQLite does for the same: a row in a transaction of many; two transactions in each
 * file that are each on disk.
 */
function bareMs(paths) {
  const databases = paths.map((path) => {
    const database = openSqlite(path);
    database.pragma('journal_mode = wal');
    database.pragma('synchronous = full');
    database.exec(
      'create table entries (id integer primary key, state text not null, document blob not null)',
    );
    return database;
  });
  const [outbox] = databases;
  const insert = outbox.prepare(`insert into entries (state, document) values ('queued', ?)`);
  const update = outbox.prepare('update entries set state = ? where id = ?');
  const note = databases[1].prepare(`insert into entries (state, document) values (?, x'00')`);
  const imports = [];
  const settles = [];
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

async function measuredAt(bench, size) {
  const folder = join(bench.folder, `growth-${size}`);
  const file = join(folder, 'outbox.sqlite');
  const ledgerFile = join(folder, 'ledger.sqlite');
  const places = { file, ledgerFile, address: ADDRESS };
  fillOutbox(places, size);
  const bytes = statSync(file).size / size;
  const ledgerBytes = statSync(ledgerFile).size / size;
  const outbox = openFilled(places);
  const lookMs = await timeOfLook(outbox);
  const imports = [];
  const settles = [];
  const statuses = [];
  for (let round = 0; round < ROUNDS; round++) {
    const from = size + round * SAMPLE;
    imports.push(timeMs(() => addFinds(outbox, from, from + SAMPLE)) / SAMPLE);
    settles.push(timeMs(() => claimAndSettle(outbox, SAMPLE)) / SAMPLE);
    statuses.push(
      timeMs(() => {
        countVisibleFinds(outbox);
        countEntriesByState(outbox);
        countWaitingEntries(outbox);
        listEntriesNeedingPerson(outbox, 20);
      }),
    );
  }
  const { outbox: id } = readHeader(outbox);
  outbox.close();
  const restoreMs = timeOfRestore({ ...places, file: join(folder, 'restored.sqlite'), id });
  rmSync(folder, { recursive: true });
  const statusMs = median(statuses);
  return {
    size,
    importMs: median(imports),
    settleMs: median(settles),
    statusMs,
    lookMs,
    restoreMs,
    bytes,
    ledgerBytes,
    statusPerFindMs: statusMs / size,
  };
}

/** For each queued find, with as many records shown that this outbox has made. */
async function timeOfLook(outbox) {
  const queued = Number(
    outbox.sql(`select count(*) from entries where state = 'queued'`).pluck().get(),
  );
  const clock = systemClock;
  const exchange = async ({ url }) => ({
    status: 200,
    headers: { 'content-type': 'text/xml;charset=UTF-8' },
    body: Buffer.from(listed(new URL(url).searchParams, queued)),
  });
  const client = openOaiClient({
    exchange,
    credentials: { kind: 'none' },
    oaiBase: ADDRESS,
    version: '2.2',
  });
  const lookup = {
    clock,
    client,
    format: 'oai_svc',
    indexAllowanceMs: 0,
    outbox,
    harvester: ACCOUNT.identCely,
  };
  const { signal: stop } = new AbortController();
  const times = [];
  for (let round = 0; round < ROUNDS; round++) {
    const context = {
      outbox,
      account: ACCOUNT.identCely,
      lookup,
      lookBackMs: 0,
      serverNowMs: Date.now(),
      stop,
      judged: new Map(),
    };
    const before = process.cpuUsage();
    await holdEntriesWithQuestions(context);
    times.push(cpuMsSince(before) / queued);
  }
  return median(times);
}

/**
 * Records of the finds that were accepted. What changed during the search is requested after it:
 * nothing has.
 */
function listed(query, total) {
  const envelope = (inner) =>
    `<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>${new Date().toISOString().slice(0, 19)}Z</responseDate><request>${ADDRESS}</request>${inner}</OAI-PMH>`;
  if (query.get('verb') === 'Identify')
    return envelope('<Identify><granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>');
  if (Date.parse(query.get('from') ?? '') > Date.now() - HOUR_MS)
    return envelope('<error code="noRecordsMatch"/>');
  const start = Number(query.get('resumptionToken') ?? 0);
  const end = Math.min(start + PAGE_SIZE, total);
  const records = Array.from({ length: end - start }, (_, index) =>
    recordOf(start + index + 2),
  ).join('');
  const next = end < total ? String(end) : '';
  return envelope(
    `<ListRecords>${records}<resumptionToken completeListSize="${total}" cursor="${start}">${next}</resumptionToken></ListRecords>`,
  );
}

function recordOf(n) {
  const ident = `C-${n}`;
  const history = `<svc:historie><svc:datum_zmeny>2024-04-13T18:00:00+02:00</svc:datum_zmeny><svc:uzivatel id="${ACCOUNT.identCely}">x</svc:uzivatel><svc:typ_zmeny>SN01</svc:typ_zmeny></svc:historie>`;
  return `<record><header><identifier>${ADDRESS}/id/${ident}</identifier><datestamp>2024-04-13T16:00:00Z</datestamp><setSpec>samostatny_nalez</setSpec></header><metadata><svc:svc xmlns:svc="https://schemas.example/svc/2.2/"><svc:samostatny_nalez><svc:ident_cely>${ident}</svc:ident_cely><svc:stav>2</svc:stav><svc:projekt id="C-202400101">C-202400101</svc:projekt>${history}</svc:samostatny_nalez></svc:svc></metadata></record>`;
}

/** An outbox that is lost is made again of what the ledger has of it. */
function timeOfRestore(places) {
  const outbox = openFilled(places);
  const before = process.cpuUsage();
  const { finds } = uniteWithLedger(outbox);
  const ms = cpuMsSince(before);
  outbox.close();
  return ms / finds;
}

/** Processor time, since waiting for the disk would hide how it grows. */
function cpuMsSince(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function timeMs(work) {
  const startedMs = performance.now();
  work();
  return performance.now() - startedMs;
}
