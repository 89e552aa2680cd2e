import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expectDone, PAS, prefer } from './measure.mjs';
import { writeSeason } from './season.mjs';

export const title =
  'push of 200 finds, by one process and shared out among four, as the server sees it';

const FINDS = 200;
/** Accounts that may send finds of the season's project; one process of an account pushes at a time. */
const ACCOUNTS = ['archivist', 'admin', 'archaeologist', 'colleague'];
const INTERVAL_MS = 100;

export async function run(bench) {
  const mock = await bench.startMock();
  bench.say(
    prefer(mock.pid)
      ? '  the server goes before everything else'
      : '  the server waits for its turn like everything else',
  );
  const env = bench.makeHome('pace', mock);
  expectDone([PAS, 'import', writeSeason(join(bench.folder, 'pace-season'), FINDS, 0)], env);
  const summary = JSON.parse(expectDone([PAS, 'push', '--json'], env).trim().split('\n').at(-1));
  const journal = await fetch(`${mock.control_url}/journal`);
  const entries = /** @type {{ path: string, gap_ms: number | null }[]} */ (await journal.json());
  mock.stop();
  const gaps = entries
    .filter(({ path }) => path.startsWith('/api/pas/'))
    .flatMap(({ gap_ms }) => gap_ms ?? []);
  if (summary.accepted !== FINDS)
    throw new Error(`not all was accepted: ${JSON.stringify(summary)}`);
  bench.say(`  ${summary.throttled} throttled`);
  const judge = (what, ms, limitMs, verdict) =>
    bench.verdict(what, {
      figure: `${ms.toFixed(1)} ms`,
      against: `the permitted ${limitMs} ms`,
      ratio: ms / limitMs,
      ...verdict,
    });
  const spanMs = gaps.reduce((sum, gap) => sum + gap, 0);
  judge(`push of ${FINDS} finds: least gap, as they arrive`, Math.min(...gaps), INTERVAL_MS, {
    target: 1,
  });
  judge(`push of ${FINDS} finds: mean gap, as they arrive`, spanMs / gaps.length, INTERVAL_MS, {
    target: 1.035,
    better: 'less',
  });
  judge(`push of ${FINDS} finds: time`, summary.elapsed_ms, (FINDS - 1) * INTERVAL_MS, {
    target: 1.04,
    better: 'less',
  });
  await four(bench);
}

/** Four accounts on one machine share the pace of its address. */
async function four(bench) {
  const mock = await bench.startMock('--latency', '40');
  prefer(mock.pid);
  const state = { XDG_STATE_HOME: join(bench.folder, 'pace-state') };
  const pushes = ACCOUNTS.map((account, index) => {
    const signIn = { PAS_USERNAME: account, PAS_PASSWORD: account };
    const home = bench.makeHome(`pace-${account}`, mock, '--username', account);
    const env = { ...home, ...state, ...signIn };
    const folder = join(bench.folder, `pace-season-${account}`);
    const day = `2024-06-${10 + index}`;
    const table = writeSeason(folder, FINDS / ACCOUNTS.length, 0, day);
    expectDone([PAS, 'import', table, '--id-prefix', `${account}-`], env);
    return () => promisify(execFile)(process.execPath, [PAS, 'push', '--json'], { env });
  });
  await Promise.all(pushes.map((push) => push()));
  const entries = /** @type {{ path: string, at_ms: number, status: number }[]} */ (
    await (await fetch(`${mock.control_url}/journal`)).json()
  );
  mock.stop();
  const writes = entries.filter(({ path }) => path.startsWith('/api/pas/'));
  bench.say(`  ${writes.filter(({ status }) => status === 429).length} throttled`);
  const times = writes
    .flatMap(({ at_ms, status }) => (status === 201 ? at_ms : []))
    .sort((a, b) => a - b);
  const perSecond = (1000 * (times.length - 1)) / (times.at(-1) - times[0]);
  if (times.length !== FINDS) throw new Error(`${times.length} of ${FINDS} were accepted`);
  bench.verdict(`push of ${FINDS} finds by ${ACCOUNTS.length} processes`, {
    figure: `${perSecond.toFixed(2)}/s`,
    against: `the permitted ${1000 / INTERVAL_MS}/s`,
    ratio: (perSecond * INTERVAL_MS) / 1000,
    target: 0.97,
  });
}
