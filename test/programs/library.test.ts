import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { PROJECT } from '../support/run-pas.ts';
import { tied } from '../support/tied.ts';
import { asStranger, type Stranger } from './as-other-user.ts';

const COLLECTION_FINDS = 12;

let stranger: Stranger;
let mock: MockProcess;
beforeAll(async () => {
  stranger = asStranger('library');
  mock = await startMockProcess();
  const compiled = await stranger.run('tsc', []);
  expect(compiled.stdout).toBe('');
});
afterAll(() => mock.stop());

const service = () => ({
  PAS_SERVICE: mock.base_url,
  PAS_SCHEMA_BASE: mock.schema_base,
  PAS_PASSWORD: 'archaeologist',
});

describe('the examples for programs', () => {
  test('harvest a vocabulary in a few lines', async () => {
    const { code, stdout } = await stranger.run('node', ['dist/harvest.js'], {
      OAI_BASE: mock.oai_base,
    });
    expect(code).toBe(0);
    const records = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { identifier: string; sets: string[] });
    expect(records.length).toBeGreaterThan(10);
    expect(records.every(({ sets }) => sets.includes('heslo:obdobi'))).toBe(true);
  });

  test('report each find of a collection once, although the program is killed midway', async () => {
    const before = (await mock.state()).finds;
    // So that the kill meets requests that the service has, and has not answered; one of them it
    // never would.
    await mock.faults(
      { endpoint: 'import', fault: 'hang-after-save', when: { nth: 5 } },
      { endpoint: 'import', fault: 'slow', at: 'save', ms: 250 },
    );
    const env = {
      HOME: stranger.folder,
      XDG_STATE_HOME: join(stranger.folder, 'state'),
      ...service(),
    };
    const child = tied(
      spawn(process.execPath, ['dist/collection.js'], {
        cwd: stranger.folder,
        env,
        stdio: 'ignore',
      }),
    );
    const ended = new Promise((end) => child.once('exit', end));
    await eventually(async () => (await mock.state()).finds).toBeGreaterThanOrEqual(before + 3);
    expect(child.exitCode).toBeNull();
    child.kill('SIGKILL');
    await ended;
    // Requests in flight reach the service all the same.
    await eventually(async () =>
      (await mock.journal()).filter(({ status }) => status === null),
    ).toEqual([]);

    // A find that was about to leave is proven absent only when the service is done with it and its
    // index shows it.
    await mock.faults();
    await mock.control('POST', '/clock', { advance_ms: 30 * 60 * 1000 });
    const again = await stranger.run('node', ['dist/collection.js'], service());
    expect(again.stderr).not.toMatch(/error:|undecided|Stopped/);
    expect(again.stdout).toBe(
      `${COLLECTION_FINDS} of ${COLLECTION_FINDS} finds are at the service.\n`,
    );
    expect((await mock.state()).finds).toBe(before + COLLECTION_FINDS);

    const third = await stranger.run('node', ['dist/collection.js'], service());
    expect(third.stdout).toBe(again.stdout);
    expect((await mock.state()).finds).toBe(before + COLLECTION_FINDS);
  });

  test('test a client with the mock in the Vitest process', async () => {
    const { code, stdout, stderr } = await stranger.run('vitest', [
      'run',
      'client.test.ts',
      '--reporter=json',
    ]);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ numPassedTests: 3, numTotalTests: 3 });
  });

  test('need nothing but the standard library in Python', async () => {
    const document = join(PROJECT, 'examples', 'find-state-1.xml');
    const { code, stdout, stderr } = await stranger.run('python3', [
      'mock_client.py',
      mock.base_url,
      document,
    ]);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^C-\d+-N\d+ was created and is one of \d+ finds\.$/m);
  });
});
