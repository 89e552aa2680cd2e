import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { oaiFault, passingTroubles } from '../support/harvest-troubles.ts';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { type Home, type Run, signedIn } from '../support/run-pas.ts';

let service: MockProcess;
let home: Home;
let count: number;

beforeAll(async () => {
  service = await startMockProcess('--page-size', '20');
  await harvest(await signedIn(service)).then(({ stdout }) => {
    count = (JSON.parse(stdout) as Harvested).sets[0]?.records ?? 0;
  });
});
afterAll(() => service.stop());
beforeEach(async () => {
  await service.faults();
  await service.control('DELETE', '/journal');
  home = await signedIn(service);
});

type Harvested = { sets: { set: string; records: number }[] };

const harvest = (at: Home, ...flags: string[]): Promise<Run> => at.pas('harvest-vocab', 'heslo', '--json', ...flags);

async function stored(): Promise<number> {
  return (await home.json<unknown[]>('vocab', 'list', 'heslo')).length;
}

/** Requests for a page of records, as the service saw them. */
async function listRequests(): Promise<string[]> {
  return (await service.journal()).map(({ path }) => path).filter((path) => path.includes('verb=ListRecords'));
}

/** Waits until so many pages were asked for in all. */
function asked(pages: number): Promise<void> {
  return eventually(async () => (await listRequests()).length).toBeGreaterThanOrEqual(pages);
}

const oai = (fault: string, more: object = {}) => oaiFault(6, fault, more);

describe('trouble on the way is got over', () => {
  test.each(passingTroubles(6))('%s', async (_, fault) => {
    await service.faults(fault);
    const run = await harvest(home);
    expect(run.code, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ sets: [{ set: 'heslo', records: count, unreadable: [], broken: [] }] });
    expect(await stored()).toBe(count);
  });

  test('resumption tokens that run out by the clock', async () => {
    await service.faults(oai('slow', { ms: 100, times: 1000, when: { every: 1 } }));
    const running = home.start('harvest-vocab', 'heslo', '--json');
    await asked(4);
    await service.control('POST', '/clock', { advance_ms: 2 * 3_600_000 });
    await service.faults();
    expect((await running.ended).code).toBe(0);
    // The list, what was left of it, and its first page once more to have all of it counted.
    expect((await listRequests()).filter((path) => !/resumptionToken|from=/.test(path))).toHaveLength(3);
    expect(await stored()).toBe(count);
  });
});

describe('a harvest that must give up', () => {
  test('says that the service is out of reach, and goes on later where it was', async () => {
    await service.faults({ endpoint: 'oai', fault: '503', retry_after: 3600, when: { nth: 12 } });
    expect((await harvest(home)).code).toBe(5);
    expect(await home.pas('vocab', 'list', 'heslo')).toMatchObject({ code: 2 });
    await service.faults();
    await service.control('DELETE', '/journal');
    expect((await harvest(home)).code).toBe(0);
    expect((await listRequests()).filter((path) => !/resumptionToken|from=/.test(path))).toEqual([]);
    expect(await stored()).toBe(count);
  });

  test('keeps a page that stays malformed, to be shown to the operator', async () => {
    await service.faults({ endpoint: 'oai', fault: 'malformed', when: { every: 1 } });
    const run = await harvest(home);
    expect(run.code).toBe(14);
    expect(run.stderr).toMatch(/is saved in .*malformed-answer-\d+\.xml/);
    expect(readdirSync(home.env['PAS_HOME'] ?? '').filter((name) => name.startsWith('malformed-answer'))).toHaveLength(1);
  });

  test('with a wrong password says who is refused', async () => {
    const run = await signedIn(service).then((fresh) => {
      fresh.env['PAS_PASSWORD'] = 'wrong';
      return harvest(fresh);
    });
    expect(run.code).toBe(4);
  });
});

test('killed at any moment and started again, a harvest ends with everything once', async () => {
  await service.faults({ endpoint: 'oai', fault: 'slow', ms: 25 });
  let kills = 0;
  for (let tries = 0; tries < 40; tries++) {
    const running = home.start('harvest-vocab', 'heslo', '--json');
    const timer = setTimeout(() => running.child.kill('SIGKILL'), 250 + ((tries * 67) % 200));
    const run = await running.ended;
    clearTimeout(timer);
    if (run.signal === null) {
      expect(run.code).toBe(0);
      break;
    }
    kills++;
  }
  expect(kills).toBeGreaterThan(1);
  await service.faults();
  expect((await harvest(home)).code).toBe(0);
  const idents = (await home.json<{ id: string }[]>('vocab', 'list', 'heslo')).map(({ id }) => id);
  expect([idents.length, new Set(idents).size]).toEqual([count, count]);
});

test('Ctrl-C keeps what was harvested, and says so', async () => {
  await service.faults({ endpoint: 'oai', fault: 'slow', ms: 200 });
  const running = home.start('harvest-vocab', 'heslo');
  await asked(3);
  running.child.kill('SIGINT');
  const run = await running.ended;
  expect(run.code).toBe(130);
  expect(run.stderr).toMatch(/The harvested records are kept/);
  expect(run.stderr).not.toMatch(/bug in pas/);
  await service.faults();
  expect((await harvest(home)).code).toBe(0);
  expect(await stored()).toBe(count);
});
