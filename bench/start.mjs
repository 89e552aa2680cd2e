import { fillOutbox } from './fill-outbox.mjs';
import { mediansMs, PAS } from './measure.mjs';

export const title = 'how long a command takes over an empty Node';

const ROUNDS = 11;
const FINDS = 100_000;
const NODE = process.execPath;

export async function run(bench) {
  const mock = await bench.startMock();
  const env = bench.makeHome('start', mock);
  mock.stop();
  await fillOutbox(env.PAS_HOME, mock.base_url, FINDS);
  /** @type {[string, string[], number][]} */
  const measuredRows = [
    ['pas --version', ['--version'], 40],
    ['pas --help', ['--help'], 60],
    [`pas status, ${FINDS} finds`, ['status'], 120],
    [`pas list --limit 20, ${FINDS} finds`, ['list', '--limit', '20'], 250],
  ];
  const [nodeMs, ...timesMs] = mediansMs(
    [{ argv: [NODE, '-e', '0'] }, ...measuredRows.map(([, args]) => ({ argv: [NODE, PAS, ...args], env }))],
    ROUNDS,
  );
  bench.say(`  node -e 0: ${Math.round(nodeMs)} ms (median of ${ROUNDS})`);
  for (const [index, [what, , limitMs]] of measuredRows.entries()) {
    const overMs = timesMs[index] - nodeMs;
    bench.verdict(what, {
      figure: `${Math.round(timesMs[index])} ms, ${Math.round(overMs)} over Node`,
      against: `${limitMs} ms over Node`,
      ratio: overMs / limitMs,
      target: 1,
      better: 'less',
    });
  }
}
