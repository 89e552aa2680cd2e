import { describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { serveMock } from '../support/mock-process.ts';
import {
  expectEnded,
  type Home,
  jsonLines,
  makeHome,
  signedIn,
  splitWords,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

const HEADER =
  'local_id;projekt;hloubka;okolnosti;obdobi;druh_nalezu;specifikace;nalezce;datum_nalezu;stav;geom_system;pristupnost;lokalizace;lon;lat';

function table(
  home: Home,
  finds: readonly string[],
  finder = 'OS-001507',
  day = '2024-06-01',
): string {
  const rows = finds.map(
    (find, index) =>
      `${find};C-202400101;${index + 5};HES-000560;HES-000253;HES-000691;HES-000988;${finder};${day};2;4326;HES-000867;pole ${find};15.1712;49.8405`,
  );
  return home.file('finds.csv', `${HEADER}\n${rows.join('\n')}\n`);
}

describe('pas status advises the next step with working commands', () => {
  const mock = useMock();
  const readNext = async (home: Home): Promise<string[]> => (await home.json('status')).next;

  test('from an empty outbox until everything is sent', async () => {
    const home = makeHome();
    await expectEnded(home.pas('status'), 12, 'pas init ADDRESS');
    await home.do('init', mock.service.base_url, '--username', 'archaeologist', ...WITHOUT_PAUSES);
    expect(await readNext(home)).toEqual(['pas login', 'pas harvest-vocab', 'pas add']);
    await home.with({ PAS_PASSWORD: 'archaeologist' }).do('login');
    expect(await readNext(home)).toEqual(['pas harvest-vocab', 'pas add']);
    await home.do('harvest-vocab');
    expect(await readNext(home)).toEqual(['pas add']);

    await home.do('import', table(home, ['N-1'], '"Nová, Božena"'));
    const [send = '', ...otherNames] = await readNext(home);
    expect([send, ...otherNames]).toEqual(['pas push --accept-new-people']);
    expect((await home.pas('status')).stdout).toContain('Nová, Božena: 1 find, the first is N-1');
    await home.do(...splitWords(send).slice(1));

    const done = await readNext(home);
    expect(done).toEqual(['pas pull']);
    expect((await home.pas('status')).stdout).toContain('Everything is sent.');
    for (const command of done) await home.do(...splitWords(command).slice(1));
  });

  test('does not announce a known finder, and completes a draft before a push', async () => {
    const home = await signedIn(mock.service);
    await home.do('harvest-vocab', '--quiet');
    await home.do('import', table(home, ['K-1'], '"Dvořáková, Eva"'));
    expect(await readNext(home)).toEqual(['pas push']);
    await home.pas('edit', 'K-1', '--set', 'okolnosti=');
    expect(await home.json('status')).toMatchObject({
      next: [],
      needs_person: [{ state: 'draft', command: 'pas edit K-1' }],
    });
  });
});

test('finds whose records a restarted service assigned to others are named in a push and in the status', async () => {
  const port = String(await freePort());
  const start = () => serveMock('--port', port);
  const first = await start();
  const home = await signedIn(first, WITHOUT_PAUSES);
  await home.do('import', table(home, ['A-1', 'A-2', 'A-3']));
  await home.do('push');
  await first.stop();
  // Its data were in memory.
  await using again = await start();
  await home.do('import', table(home, ['B-1', 'B-2', 'B-3'], 'OS-001507', '2024-06-02'));
  const run = await home.with({ PAS_PASSWORD: 'archaeologist' }).pas('push');
  const toldLines = run.stderr.split('\n').filter((line) => line.includes('gave'));
  expect(toldLines).toContainEqual(
    expect.stringMatching(/^import of A-\d: the service gave the record C-.* to several/),
  );
  const { stdout } = await home.pas('status');
  expect(stdout).toMatch(/import of A-1: the service gave the record/);
  expect((await again.state()).finds).toBeGreaterThan(0);
  // The records show the later finds; programs are told of each that is missing.
  const lines = jsonLines((await home.pas('status', '--json')).stdout);
  expect(lines[0]?.['needs_person']).toMatchObject(
    ['A-1', 'A-2', 'A-3'].map((find) => ({ find, state: 'uncertain' })),
  );
});
