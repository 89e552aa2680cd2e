import { fillOutbox, makePlaces } from './fill-outbox.mjs';
import { mediansMs, PAS } from './measure.mjs';

export const title = 'how long a command takes, against a Node that does nothing';

const ROUNDS = 11;
const FINDS = 100_000;
const NODE = process.execPath;

export async function run(bench) {
  const mock = await bench.startMock();
  const env = bench.makeHome('start', mock);
  mock.stop();
  fillOutbox(makePlaces(env, mock.base_url), FINDS);
  /** @type {[string, string[], number][]} */
  const measuredRows = [
    ['pas --version', ['--version'], 1.25],
    ['pas --help', ['--help'], 2.2],
    [`pas status, ${FINDS} finds`, ['status'], 3.5],
    [`pas list --limit 20, ${FINDS} finds`, ['list', '--limit', '20'], 3.5],
  ];
  const [nodeMs, ...timesMs] = mediansMs(
    [
      { argv: [NODE, '-e', '0'] },
      ...measuredRows.map(([, args]) => ({ argv: [NODE, PAS, ...args], env })),
    ],
    ROUNDS,
  );
  for (const [index, [what, , target]] of measuredRows.entries()) {
    bench.verdict(what, {
      figure: `${Math.round(timesMs[index])} ms`,
      against: `node -e 0 ${Math.round(nodeMs)} ms`,
      ratio: timesMs[index] / nodeMs,
      target,
      better: 'less',
    });
  }
}
