import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase, runTransaction } from '../dist/src/base/disk/database.js';
import { findOutboxFile } from './fill-outbox.mjs';
import { expectDone, PAS } from './measure.mjs';
import { writeSeason } from './season.mjs';

export const title = 'how long other commands make a push wait for its outbox';

const IMPORTED = 100_000;
const NUMBERS = 20_000;
const MAX_MS = 250;
const PROBE_MS = 5;

export async function run(bench) {
  const mock = await bench.startMock('--min-interval', '0');
  const env = bench.makeHome('beside', mock);
  const folder = join(bench.folder, 'beside-tables');
  expectDone([PAS, 'import', writeSeason(folder, 20, 0)], env);
  const file = findOutboxFile(env);
  const numbers = join(folder, 'numbers.csv');
  const rows = Array.from(
    { length: NUMBERS },
    (_, index) => `C-202400102-N${String(index + 1).padStart(5, '0')};Z ${index + 1}`,
  );
  writeFileSync(numbers, `ident_cely;evidencni_cislo\n${rows.join('\n')}\n`);
  const commands = [
    [`import of ${IMPORTED} rows`, 'import', writeSeason(folder, IMPORTED, 0)],
    [`number import of ${NUMBERS} rows`, 'number', 'import', numbers],
    ['backup', 'backup', join(bench.folder, 'beside.sqlite')],
    ['validate', 'validate'],
  ];
  for (const [what, ...args] of commands) {
    const waitMs = await longestWait(file, args, env);
    bench.verdict(`${what}: the longest time that a push waits beside it`, {
      figure: `${Math.round(waitMs)} ms`,
      against: `the permitted ${MAX_MS} ms`,
      ratio: waitMs / MAX_MS,
      target: 1,
      better: 'less',
    });
  }
  mock.stop();
}

/** Takes the write lock again and again, as a push does, until the command has ended. */
async function longestWait(file, args, env) {
  const outbox = openDatabase(file, { synchronous: 'full', busyTimeoutMs: 60_000 });
  const child = spawn(process.execPath, [PAS, ...args], { env, stdio: 'ignore' });
  let code;
  child.on('close', (ended) => {
    code = ended;
  });
  let maxMs = 0;
  while (code === undefined) {
    const startedMs = performance.now();
    runTransaction(outbox, () => {});
    maxMs = Math.max(maxMs, performance.now() - startedMs);
    await new Promise((done) => setTimeout(done, PROBE_MS));
  }
  outbox.close();
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return maxMs;
}
