import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { expectEnded, type Home, PROJECT, signedIn } from '../support/run-pas.ts';

let service: MockProcess;
let home: Home;
beforeAll(async () => {
  service = await startMockProcess('--page-size', '20');
  home = await signedIn(service);
});
afterAll(() => service.stop());

/** Every identifier in a file, as often as it stands there, in order of the alphabet. */
const identsIn = (name: string): string[] =>
  [...readFileSync(join(home.folder, name), 'utf8').matchAll(/<identifier>([^<]+)/g)]
    .map(([, ident = '']) => ident)
    .sort();

test('Ctrl-C leaves whole records behind, and the next run resumes', async () => {
  await home.do('harvest', 'heslo', '--out', 'whole.xml');
  await service.control('DELETE', '/journal');
  await service.faults({ endpoint: 'oai', fault: 'hang-before-save', when: { nth: 12 } });
  const running = home.start('harvest', 'heslo', '--out', 'out.xml');
  await eventually(
    async () =>
      (await service.journal()).filter(({ path }) => path.includes('verb=ListRecords')).length,
  ).toBeGreaterThanOrEqual(5);
  running.child.kill('SIGINT');
  await expectEnded(running.ended, 130);
  expect(readFileSync(join(home.folder, 'out.xml'), 'utf8')).toMatch(/<\/harvest>\n$/);
  await service.faults();
  await home.do('harvest', 'heslo', '--out', 'out.xml');
  expect(identsIn('out.xml')).toEqual(identsIn('whole.xml'));
});

test('a full disk behind stdout is a failure', () => {
  const command = `exec ${process.execPath} ${join(PROJECT, 'bin', 'pas.js')} harvest let > /dev/full`;
  const { status, stderr } = spawnSync('bash', ['-c', command], {
    env: home.env,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([5, expect.stringMatching(/the disk is full/)]);
});
