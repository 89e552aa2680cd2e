import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLAUSES } from '../conformance/clauses.ts';
import { CHECKS } from '../conformance/suite.ts';
import { freePort } from '../support/free-port.ts';
import { serveMock } from '../support/mock-process.ts';
import { PROJECT } from '../support/run-pas.ts';
import { conform, listReading } from './conform.ts';
import { startOuterFace } from './reverse-proxy.ts';

/** Options for two mock servers: one that is written to, one whose vocabularies are read. */
const IN_PROJECT = ['--project', 'C-202400101', '--interval-ms', '0', '--pause-ms', '20'];

describe('The clauses', () => {
  test('each have a check, or a reason why there is none', () => {
    const checked = new Set<string>(CHECKS.map(({ clause }) => clause));
    const bare = Object.entries(CLAUSES).filter(
      ([clause, [, why]]) => checked.has(clause) === (why !== undefined),
    );
    expect(bare).toEqual([]);
    expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(CHECKS.length);
  });

  test('are described in the same words as in the mock server’s journal', () => {
    const source = readFileSync(join(PROJECT, 'mock-server/state/contract-references.ts'), 'utf8');
    const called = [...source.matchAll(/^ {2}'([^']+)': \{/gm)].map(([, name = '']) => name);
    const names = Object.values(CLAUSES).map(([name]) => name);
    expect(called.length).toBeGreaterThan(10);
    expect(
      called.filter((part) => !names.some((name) => name.split(/: |, rule /)[0]?.startsWith(part))),
    ).toEqual([]);
  });
});

test('The suite shares no code with the client or the mock server', () => {
  const folder = join(PROJECT, 'test/conformance');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const outward = files.filter((name) =>
    /from '(?:\.\.\/)+(?:src|mock-server|support)\//.test(readFileSync(join(folder, name), 'utf8')),
  );
  expect(files.length).toBeGreaterThan(15);
  expect(outward).toEqual([]);
});

describe('The conformance suite', () => {
  test('needs only the address of a mock server to check every answer, and changes none of its records', async () => {
    await using mock = await serveMock();
    const before = await mock.state();
    const flags = ['--base-url', mock.base_url, '--interval-ms', '0', '--pause-ms', '20'];
    const run = await conform(flags, {});
    expect((await mock.state()).finds).toBe(before.finds);
    expect(run.results.filter(({ result }) => result === 'break' || result === 'outage')).toEqual(
      [],
    );
    expect(run.results.filter(({ result }) => result === 'skipped').map(({ id }) => id)).toEqual([
      'throttle',
      'throttle-is-shared',
      'throttle-retry-after',
    ]);
    expect({ code: run.code, ...run.last }).toMatchObject({
      code: 0,
      pass: CHECKS.length - 3,
      skipped_for: { 'the deployment has no minimum interval: --interval-ms 0': 3 },
    });
  });

  test('counts what it skipped by what that needs', async () => {
    await using mock = await serveMock();
    const run = await conform(listReading(mock));
    expect(run.last['skipped_for']).toMatchObject({
      'makes finds: needs a training instance, with --write HOST --project IDENT and an account': 120,
    });
  });
});

describe('An outage', () => {
  test('is reported soon when no server listens', async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const run = await conform(
      ['--base-url', nowhere, '--oai-base', nowhere, '--interval-ms', '0', '--pause-ms', '1'],
      {},
    );
    expect({ broken: run.broken, code: run.code }).toEqual({ broken: [], code: 5 });
    expect(run.results.filter(({ seen }) => seen.startsWith('not asked')).length).toBeGreaterThan(
      50,
    );
  });
});

describe('Writing', () => {
  test('is refused if the host is not named', async () => {
    await using mock = await serveMock('--min-interval', '100');
    const run = await conform([
      ...listReading(mock),
      ...IN_PROJECT,
      '--write',
      'training.example.org',
    ]);
    expect({
      code: run.code,
      results: run.results,
      requests: (await mock.journal()).length,
    }).toEqual({
      code: 2,
      results: [],
      requests: 0,
    });
  });

  test('is refused where the host harvests, too', async () => {
    await using mock = await serveMock('--min-interval', '100');
    await using other = await startOuterFace(mock);
    const host = new URL(other.base_url).host;
    const run = await conform([
      '--base-url',
      other.base_url,
      '--oai-base',
      `${other.base_url}/x`,
      ...IN_PROJECT,
      '--write',
      host,
    ]);
    expect([run.code, run.last['message']]).toEqual([2, expect.stringContaining('harvests, too')]);
  });

  test('stops after the first record if that can be harvested, because then it is not a training instance', async () => {
    await using mock = await serveMock();
    await using production = await startOuterFace(mock);
    const { finds } = await mock.state();
    const flags = ['--base-url', production.base_url, '--oai-base', mock.oai_base, ...IN_PROJECT];
    const run = await conform([...flags, '--write', new URL(production.base_url).host]);
    expect([run.code, run.last['message']]).toEqual([
      2,
      expect.stringContaining('is no training instance'),
    ]);
    expect((await mock.state()).finds).toBe(finds + 1);
  });
});

describe('Wrong usage', () => {
  test.each([
    ['no address', []],
    ['an address that is none', ['--base-url', 'finds.example.org']],
    ['a pace that is none', ['--base-url', 'http://127.0.0.1:9', '--interval-ms', 'fast']],
    ['a check that there is not', ['--base-url', 'http://127.0.0.1:9', '--only', 'no-such-check']],
  ])('%s: 2', async (_, flags) => {
    expect((await conform(flags, {})).code).toBe(2);
  });

  test('a password for an unencrypted connection: 2, and it is not sent', async () => {
    const run = await conform(['--base-url', 'http://finds.example.org']);
    expect([run.code, run.last['message']]).toEqual([2, expect.stringContaining('not encrypted')]);
  });

  test('an account that is refused: 4', async () => {
    await using mock = await serveMock();
    const run = await conform(listReading(mock), {
      PAS_USERNAME: 'archaeologist',
      PAS_PASSWORD: 'wrong',
    });
    expect({ code: run.code, results: run.results }).toEqual({ code: 4, results: [] });
  });
});
