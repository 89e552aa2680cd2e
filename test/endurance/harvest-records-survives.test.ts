import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { expectEnded } from '../support/expect-ended.ts';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { type Home, PROJECT, type Run, signedIn } from '../support/run-pas.ts';

const SET = 'heslo';
const PAGE_SIZE = 20;

let service: MockProcess;
let home: Home;
let expected: readonly string[];

beforeAll(async () => {
  service = await startMockProcess('--page-size', String(PAGE_SIZE));
  home = await signedIn(service);
  expected = identsIn(await harvest('whole.jsonl').then(() => read('whole.jsonl')));
});
afterAll(() => service.stop());
beforeEach(async () => {
  await service.faults();
  await service.control('DELETE', '/journal');
  home = await signedIn(service);
});

const harvest = (out: string, ...flags: string[]): Promise<Run> =>
  home.pas('harvest', SET, '--out', out, '--json', ...flags);
const read = (name: string): string => readFileSync(join(home.folder, name), 'utf8');
const pages = (): number => Math.ceil(expected.length / PAGE_SIZE);

/** Every identifier in a text, as often as it stands there, in order of the alphabet. */
function identsIn(text: string): string[] {
  return [...text.matchAll(/(?:"identifier":"|<identifier>)([^"<]+)/g)]
    .map((match) => match[1] ?? '')
    .sort();
}

async function pagesAsked(): Promise<number> {
  return (await service.journal()).filter(({ path }) => path.includes('verb=ListRecords')).length;
}

const oai = (fault: string, more: object = {}) => ({
  endpoint: 'oai',
  fault,
  times: 1,
  when: { nth: 9 },
  ...more,
});
const slowly = (ms: number) => oai('slow', { ms, times: 100_000, when: { every: 1 } });

/** Waits until so many pages were asked for in all. */
function reaches(count: number): Promise<void> {
  return eventually(pagesAsked).toBeGreaterThanOrEqual(count);
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

describe.each([
  ['lines', 'out.jsonl', (folder: string) => identsIn(read(join(folder, 'out.jsonl')))],
  ['an XML stream', 'out.xml', (folder: string) => identsIn(read(join(folder, 'out.xml')))],
])('a harvest into %s', (_, out, held) => {
  test('that is killed repeatedly loses nothing, repeats nothing and does not start again', async () => {
    await service.faults(slowly(25));
    let kills = 0;
    for (let run = 0; run < 8; run++) {
      const running = home.start('harvest', SET, '--out', out, '--quiet');
      const before = await pagesAsked();
      while ((await pagesAsked()) <= before + 1 && running.child.exitCode === null) await pause(3);
      // Somewhere in a page or between two: a page takes about 30 ms.
      await pause(Math.random() * 60);
      running.child.kill('SIGKILL');
      if ((await running.ended).signal === 'SIGKILL') kills++;
    }
    expect(kills).toBeGreaterThan(4);
    await service.faults();
    const run = await harvest(out);
    expect(run.code, run.stderr).toBe(0);
    expect(held('.')).toEqual(expected);
    // Each kill costs at most the page under way and the one asked for ahead, or, where the list was
    // whole already, what changed; at the end the count and what changed are asked for.
    expect(await pagesAsked()).toBeLessThanOrEqual(pages() + 3 * kills + 5);
  });
});

test('Ctrl-C leaves whole records behind, and the next run resumes', async () => {
  await service.faults(slowly(25));
  const running = home.start('harvest', SET, '--out', 'out.xml');
  await reaches(5);
  running.child.kill('SIGINT');
  await expectEnded(running.ended, 130);
  expect(read('out.xml')).toMatch(/<\/harvest>\n$/);
  await service.faults();
  await harvest('out.xml');
  expect(identsIn(read('out.xml'))).toEqual(expected);
});

test('a full disk behind stdout is a failure', () => {
  const command = `exec ${process.execPath} ${join(PROJECT, 'bin', 'pas.js')} harvest let > /dev/full`;
  const { status, stderr } = spawnSync('bash', ['-c', command], {
    env: home.env,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([5, expect.stringMatching(/the disk is full/)]);
});
