import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expectDone, PAS } from './measure.mjs';
import { writeSeason } from './season.mjs';

export const title = 'push of 200 finds, as the server sees it';

const FINDS = 200;
const INTERVAL_MS = 100;

export async function run(bench) {
  const mock = await bench.startMock();
  bench.say(
    prefer(mock.pid) ? '  the server goes before everything else' : '  the server waits for its turn like everything else',
  );
  const env = bench.makeHome('pace', mock);
  expectDone([PAS, 'import', writeSeason(join(bench.folder, 'pace-season'), FINDS, 0)], env);
  const summary = JSON.parse(expectDone([PAS, 'push', '--json'], env).trim().split('\n').at(-1));
  const journal = await fetch(`${mock.control_url}/journal`);
  const entries = /** @type {{ path: string, gap_ms: number | null }[]} */ (await journal.json());
  mock.stop();
  const gaps = entries.filter(({ path }) => path.startsWith('/api/pas/')).flatMap(({ gap_ms }) => gap_ms ?? []);
  if (summary.accepted !== FINDS) throw new Error(`not all was accepted: ${JSON.stringify(summary)}`);
  bench.say(`  ${summary.throttled} throttled`);
  const judge = (what, ms, limitMs, verdict) =>
    bench.verdict(what, {
      figure: `${ms.toFixed(1)} ms`,
      against: `the permitted ${limitMs} ms`,
      ratio: ms / limitMs,
      ...verdict,
    });
  const spanMs = gaps.reduce((sum, gap) => sum + gap, 0);
  judge(`push of ${FINDS} finds: least gap, as they arrive`, Math.min(...gaps), INTERVAL_MS, { target: 1 });
  judge(`push of ${FINDS} finds: mean gap, as they arrive`, spanMs / gaps.length, INTERVAL_MS, { target: 1.04, better: 'less' });
  judge(`push of ${FINDS} finds: time`, summary.elapsed_ms, (FINDS - 1) * INTERVAL_MS, { target: 1.06, better: 'less' });
}

/** In real time, so that the server's own waiting for its turn is not taken for the push's. Needs rights that not everybody has. */
function prefer(pid) {
  return spawnSync('chrt', ['--all-tasks', '--fifo', '--pid', '50', String(pid)]).status === 0;
}
