import { join } from 'node:path';
import { expectDone, measured, PAS } from './measure.mjs';

export const title =
  'harvest of 10,000 terms into the store, search index built, against their pages put bare into SQLite';

const TERMS = 10_000;
const BARE = join(import.meta.dirname, 'bare-client.mjs');

export async function run(bench) {
  const server = await bench.startServer(join(import.meta.dirname, 'harvest-server.mjs'), [
    ...['--records', String(TERMS)],
    ...['--set', 'heslo'],
  ]);
  const env = bench.makeHome('vocabulary', server);
  const busyMs = async () => Number(await (await fetch(`${server.base_url}/busy`)).text());
  const withoutServer = async (command) => {
    const before = await busyMs();
    const { seconds } = await measured(command);
    return seconds - ((await busyMs()) - before) / 1000;
  };
  const ownSeconds = await withoutServer({
    argv: [process.execPath, PAS, 'harvest-vocab', 'heslo'],
    env,
  });
  const bare = await withoutServer({
    argv: [
      process.execPath,
      BARE,
      `${server.oai_base}/2.2/oai`,
      'heslo',
      'oai_svc',
      join(bench.folder, 'terms.sqlite'),
    ],
  });
  server.stop();
  const hits = JSON.parse(expectDone([PAS, 'vocab', 'search', 'HES-909990', '--json'], env));
  if (hits[0]?.id !== 'HES-909990')
    throw new Error(`the last term is not found: ${JSON.stringify(hits).slice(0, 300)}`);
  bench.verdict(`harvest of ${TERMS} terms, without the server's own time`, {
    figure: `${ownSeconds.toFixed(1)} s`,
    against: `their pages into bare SQLite ${bare.toFixed(1)} s`,
    ratio: ownSeconds / bare,
    target: 4,
    better: 'less',
  });
}
