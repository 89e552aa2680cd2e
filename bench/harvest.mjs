/**
 * Records per second of `pas harvest` against other harvesters in one run: from pages that a server
 * has in memory, and from the mock server; then a million records, to see whether memory stays
 * flat. What is not installed is left out; `oai-pmh` is fetched from npm into a temporary folder.
 */
import { spawnSync } from 'node:child_process';
import { createReadStream, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { measured, onPath, PAS } from './measure.mjs';

export const title = 'harvest of 100,000 records';

const RECORDS = 100_000;
const RENDERED = 50_000;
const MILLION = 1_000_000;
const SET = 'samostatny_nalez';
const FORMATS = ['oai_dc', 'oai_svc'];
/**
 * Harvesters that need minutes for all records are given this share of them: their rate does not
 * depend on it.
 */
const SHARE_OF_SLOW_ONES = 0.03;
/** The fastest of as many runs in turn counts: a busy moment meets one of them. */
const ROUNDS = 3;
const BARE = join(import.meta.dirname, 'bare-client.mjs');
const NPM_PEER = join(import.meta.dirname, 'npm-oai-pmh.mjs');
const MAX_CPU_MICROSECONDS = 40;
const MAX_MIB = 150;
const SMALL_PAGES = ['--min-interval', '0', '--page-size', '100'];
/** Bytes after each record in an output. */
const LINE_FEED = 10;
const FORM_FEED = 12;

export async function run(bench) {
  const npm = installed(bench.folder, 'oai-pmh');
  for (const format of FORMATS) await harvestFromMemory(bench, format, npm);
  await compareHarvesters(bench);
  await harvestAMillion(bench);
}

/** The server's own work is small here: what is measured is the client. */
async function harvestFromMemory(bench, format, npm) {
  const mock = await bench.startMock(...SMALL_PAGES, '--records', String(RENDERED));
  const source = ['--source', mock.oai_base, '--set', SET, '--format', format];
  const server = await bench.startServer(join(import.meta.dirname, 'page-server.mjs'), source);
  mock.stop();
  const endpoint = `${server.oai_base}/2.2/oai`;
  const out = join(bench.folder, `memory-${format}.jsonl`);
  const home = bench.makeHome(`memory-${format}`, server);
  const runs = { pas: [], npm: [], floor: [] };
  for (let round = 0; round < ROUNDS; round++) {
    runs.pas.push(await counted(ownHarvest(format, out, home)));
    rmSync(`${out}.harvest`, { force: true });
    if (npm !== undefined)
      runs.npm.push(
        await counted({ argv: [process.execPath, NPM_PEER, npm, endpoint, SET, format, out], out }),
      );
    runs.floor.push(await counted(bareHarvest(endpoint, SET, format, out)));
  }
  server.stop();
  judgeFromMemory(bench, `${format} from memory`, runs);
}

function judgeFromMemory(bench, what, runs) {
  const best = (name, figure) => Math.min(...runs[name].map((result) => result[figure]));
  const seconds = best('pas', 'seconds');
  const judgeTime = (name, { suffix = '', ratio, ...limit }) =>
    bench.verdict(`${what}: time${suffix}`, {
      figure: `${seconds.toFixed(2)} s`,
      against: `${name} ${best(name, 'seconds').toFixed(2)} s`,
      ratio,
      ...limit,
    });
  if (runs.npm.length > 0)
    judgeTime('npm', { ratio: best('npm', 'seconds') / seconds, target: 2.5 });
  judgeTime('floor', {
    suffix: ', against its pages kept as they are',
    ratio: seconds / best('floor', 'seconds'),
    target: 4,
    better: 'less',
  });
  const each = (best('pas', 'cpuSeconds') / runs.pas[0].records) * 1e6;
  bench.verdict(`${what}: processor time of a record`, {
    figure: `${each.toFixed(1)} µs`,
    against: `the permitted ${MAX_CPU_MICROSECONDS} µs`,
    ratio: each / MAX_CPU_MICROSECONDS,
    target: 1,
    better: 'less',
  });
  const peakMiB = Math.max(...runs.pas.map((result) => result.peakMiB));
  bench.verdict(`${what}: memory`, {
    figure: `${Math.round(peakMiB)} MiB`,
    against: `the permitted ${MAX_MIB} MiB`,
    ratio: peakMiB / MAX_MIB,
    target: 1,
    better: 'less',
  });
}

async function compareHarvesters(bench) {
  const mock = await bench.startMock(...SMALL_PAGES, '--records', String(RECORDS));
  const home = bench.makeHome('harvest', mock);
  const harvesters = knownHarvesters(mock.oai_base, home);
  let ownResult;
  for (const format of FORMATS) {
    const results = new Map();
    for (const [name, command] of harvesters) {
      results.set(
        name,
        await counted(
          command(format, join(bench.folder, `${name.replace(/\W/g, '')}-${format}.jsonl`)),
        ),
      );
    }
    compare(bench, format, results);
    const bare = await counted(
      bareHarvest(`${mock.oai_base}/2.2/oai`, SET, format, join(bench.folder, `bare-${format}`)),
    );
    judgeCpu(bench, format, results.get('pas'), bare.cpuSeconds / RECORDS);
    ownResult = results.get('pas');
  }
  await compareXml(bench, home, ownResult);
  mock.stop();
}

/** The native records as XML, against JSON lines. */
async function compareXml(bench, env, lines) {
  const out = join(bench.folder, 'records.xml');
  const { seconds } = await measured(ownHarvest('oai_svc', out, env));
  rmSync(out);
  const perSecond = lines.records / seconds;
  bench.verdict('harvest of oai_svc into one XML document, against JSON lines', {
    figure: `${Math.round(perSecond)}/s`,
    against: `${Math.round(lines.perSecond)}/s`,
    ratio: perSecond / lines.perSecond,
    target: 0.5,
  });
}

/**
 * Each with the command that writes the records of a format into a file.
 * @returns {[string, (format: string, out: string) => import('./measure.mjs').Command & { out:
 * string, end?: number }][]}
 */
function knownHarvesters(oaiBase, home) {
  const endpoint = `${oaiBase}/2.2/oai`;
  /** @type {ReturnType<typeof knownHarvesters>} */
  const harvesters = [['pas', (format, out) => ownHarvest(format, out, home)]];
  if (onPath('oai_pmh')) {
    harvesters.push([
      'HTTP::OAI',
      (format, out) => ({
        argv: [
          'oai_pmh',
          '-X',
          'ListRecords',
          '--metadataPrefix',
          format,
          '--set',
          SET,
          ...untilShare(),
          endpoint,
        ],
        stdout: out,
        end: FORM_FEED,
        out,
      }),
    ]);
  }
  if (onPath('catmandu')) {
    harvesters.push([
      'Catmandu',
      (format, out) => ({
        argv: [
          'catmandu',
          'convert',
          'OAI',
          '--url',
          endpoint,
          '--metadataPrefix',
          format,
          '--set',
          SET,
          ...untilShare(),
          '--handler',
          'raw',
          'to',
          'JSON',
          '--line_delimited',
          '1',
        ],
        stdout: out,
        out,
      }),
    ]);
  }
  return harvesters;
}

/** The mock's synthetic records are spread evenly over these years. */
function untilShare() {
  const first = Date.UTC(2010, 0, 4, 8);
  const last = Date.UTC(2023, 11, 22, 16);
  return [
    '--until',
    new Date(first + (last - first) * SHARE_OF_SLOW_ONES).toISOString().slice(0, 10),
  ];
}

function compare(bench, format, results) {
  const ownResult = results.get('pas');
  bench.table([
    [format, 'records', 'time', 'rate', 'processor time each', 'peak RSS'],
    ...[...results].map(([name, result]) => [
      name,
      String(result.records),
      `${result.seconds.toFixed(1)} s`,
      `${Math.round(result.perSecond)}/s`,
      `${Math.round(result.cpuMicroseconds)} µs`,
      `${Math.round(result.peakMiB)} MiB`,
    ]),
  ]);
  for (const [name, target] of [
    ['HTTP::OAI', 10],
    ['Catmandu', 1],
  ]) {
    const other = results.get(name);
    if (other === undefined) continue;
    bench.verdict(`harvest of ${format}, against ${name}`, {
      figure: `${Math.round(ownResult.perSecond)}/s`,
      against: `${Math.round(other.perSecond)}/s`,
      ratio: ownResult.perSecond / other.perSecond,
      target,
    });
  }
}

/** The client's own, its helping threads and the kernel's work for it included. */
function judgeCpu(bench, format, { cpuMicroseconds }, bareSeconds) {
  bench.verdict(`processor time of a record of ${format}`, {
    figure: `${Math.round(cpuMicroseconds)} µs`,
    against: `keeping the pages as they are ${Math.round(bareSeconds * 1e6)} µs`,
    ratio: cpuMicroseconds / (bareSeconds * 1e6),
    target: 4,
    better: 'less',
  });
}

async function harvestAMillion(bench) {
  const server = await bench.startServer(join(import.meta.dirname, 'harvest-server.mjs'), [
    '--records',
    String(MILLION),
  ]);
  const home = bench.makeHome('million', server);
  const out = join(bench.folder, 'million.jsonl');
  const result = await counted({
    argv: [process.execPath, PAS, 'harvest', 'projekt', '--out', out],
    env: home,
    out,
  });
  const bare = await counted(
    bareHarvest(
      `${server.oai_base}/2.2/oai`,
      'projekt',
      'oai_svc',
      join(bench.folder, 'bare-million'),
    ),
  );
  server.stop();
  if (result.records !== MILLION) throw new Error(`${result.records} lines of ${MILLION}`);
  bench.say(
    `  ${MILLION} records from a server that repeats its pages: ${Math.round(result.perSecond)}/s`,
  );
  bench.table([
    ['after records', 'RSS'],
    ...[0.01, 0.1, 0.25, 0.5, 0.75, 1].map((share) => {
      const sample = result.samples[Math.max(0, Math.ceil(result.samples.length * share) - 1)];
      return [String(Math.round(MILLION * share)), `${Math.round(sample ?? 0)} MiB`];
    }),
  ]);
  bench.verdict(`memory of a harvest of ${MILLION} records`, {
    figure: `${Math.round(result.peakMiB)} MiB`,
    against: `keeping the pages as they are ${Math.round(bare.peakMiB)} MiB`,
    ratio: result.peakMiB / bare.peakMiB,
    target: 2,
    better: 'less',
  });
}

function ownHarvest(format, out, env) {
  const argv = [process.execPath, PAS, 'harvest', SET, '--format', format, '--out', out];
  return { argv, env, out };
}

function bareHarvest(endpoint, set, format, out) {
  return { argv: [process.execPath, BARE, endpoint, set, format, out], out };
}

/** Runs a harvester and counts what it wrote. */
async function counted(command) {
  const { out, end = LINE_FEED } = command;
  const { seconds, cpuSeconds, peakMiB, samples } = await measured(command);
  const records = await countBytes(out, end);
  rmSync(out);
  return {
    records,
    seconds,
    cpuSeconds,
    perSecond: records / seconds,
    cpuMicroseconds: (cpuSeconds / records) * 1e6,
    peakMiB,
    samples,
  };
}

async function countBytes(path, wanted) {
  let count = 0;
  for await (const chunk of createReadStream(path))
    for (const byte of chunk) if (byte === wanted) count++;
  return count;
}

/**
 * Installs a package for this run.
 * @returns its folder; undefined where the registry cannot be had
 */
function installed(folder, name) {
  const home = join(folder, name);
  mkdirSync(home);
  const { status } = spawnSync(
    'npm',
    ['install', '--prefix', home, '--no-audit', '--no-fund', '--silent', name],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  return status === 0 ? home : undefined;
}
