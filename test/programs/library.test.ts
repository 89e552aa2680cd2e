import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { PROJECT } from '../support/run-pas.ts';
import { asStranger, type Stranger } from './as-other-user.ts';

let stranger: Stranger;
let mock: MockProcess;
beforeAll(async () => {
  stranger = asStranger('library');
  mock = await startMockProcess();
  const compiled = await stranger.run('tsc', []);
  expect(compiled.stdout).toBe('');
});
afterAll(() => mock.stop());

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

  test('test a client with the mock in the Vitest process', async () => {
    const { code, stdout, stderr } = await stranger.run('vitest', [
      'run',
      'client.test.ts',
      '--reporter=json',
      // A machine with other work needs more than the five seconds of Vitest.
      '--testTimeout=120000',
      '--hookTimeout=120000',
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
