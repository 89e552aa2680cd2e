import { join } from 'node:path';
import { expectDone, PAS } from './measure.mjs';

export const title = 'harvest of 10,000 terms into the store, search index built';

const TERMS = 10_000;

export async function run(bench) {
  const server = await bench.startServer(join(import.meta.dirname, 'harvest-server.mjs'), [
    ...['--records', String(TERMS)],
    ...['--set', 'heslo'],
  ]);
  const env = bench.makeHome('vocabulary', server);
  const startedMs = performance.now();
  expectDone([PAS, 'harvest-vocab', 'heslo'], env);
  const wholeMs = performance.now() - startedMs;
  const serverMs = Number(await (await fetch(`${server.base_url}/busy`)).text());
  server.stop();
  const found = JSON.parse(expectDone([PAS, 'vocab', 'search', 'HES-909990', '--json'], env));
  if (found[0]?.id !== 'HES-909990') throw new Error(`the last term is not found: ${JSON.stringify(found).slice(0, 300)}`);
  const seconds = (wholeMs - serverMs) / 1000;
  bench.verdict(`harvest of ${TERMS} terms, over the server's own time`, {
    figure: `${seconds.toFixed(1)} s`,
    against: '5 s',
    ratio: seconds / 5,
    target: 1,
    better: 'less',
  });
}
