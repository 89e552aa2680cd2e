import { spawnSync } from 'node:child_process';
import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { pasAsOrdinaryUser } from '../support/hostile-disk.ts';
import { expectEnded, type Home, PROJECT, type Run, signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useMockProcess } from '../support/use-mock.ts';

const mock = useMockProcess('--min-interval', '10');
let home: Home;

beforeEach(async () => {
  home = await signedIn(mock.service, ['--set', 'min_interval_ms=20'], 'archaeologist', {
    name: 'a season',
    prepare: async (home) => {
      await importSeason(home, 500);
      await home.do('harvest-vocab', 'heslo:obdobi');
    },
  });
});

test.each([['list'], ['vocab', 'export', 'heslo:obdobi']])(
  'a list written to a file on a full disk (pas %s) is reported as incomplete',
  async (...args) => {
    const run = (redirected: string): Run => {
      const { status, signal, stderr } = spawnSync(
        'bash',
        ['-c', redirected, process.execPath, join(PROJECT, 'bin', 'pas.js'), ...args, '--json'],
        { env: home.env, cwd: home.folder, encoding: 'utf8' },
      );
      return { code: status, signal, stdout: '', stderr };
    };
    const out = join(home.folder, 'out');
    expect(run('exec "$0" "$@" >out').code).toBe(0);
    // The bytes before it leave room for all stored data, and for all of the list except its last
    // bytes.
    const before = 1024 ** 2 + 1023 - (statSync(out).size % 1024);
    const kilobytes = Math.floor((before + statSync(out).size - 1) / 1024);
    writeFileSync(out, Buffer.alloc(before));
    await expectEnded(
      run(`ulimit -f ${kilobytes}; exec "$0" "$@" >>out`),
      5,
      /EFBIG|has reached the limit of its size/,
    );
  },
);

test('an answer that cannot be stored for the operator is still reported', async () => {
  await mock.service.faults({ endpoint: 'oai', fault: 'malformed', when: { every: 1 } });
  pasAsOrdinaryUser(home, 'status');
  chmodSync(join(home.folder, 'pas'), 0o500);
  const run = pasAsOrdinaryUser(home, 'oai', 'identify');
  chmodSync(join(home.folder, 'pas'), 0o700);
  expect(run.stderr).toMatch(/could not be saved.*permission denied/);
  // The mock server's nonsense is a web page.
  expect(run.code).toBe(5);
});
