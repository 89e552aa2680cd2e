import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { countMade } from '../support/count-new-finds.ts';
import { findStates } from '../support/find-states.ts';
import { freePort } from '../support/free-port.ts';
import { type MockProcess, type MockState, startMockProcess } from '../support/mock-process.ts';
import { type Home, makeHome, signedIn } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';

/** The times that the profile has by default are over after half an hour of the service's clock. */
const HALF_AN_HOUR = 30 * 60_000;

let home: Home;

const HEADER =
  'local_id;projekt;hloubka;okolnosti;obdobi;druh_nalezu;specifikace;nalezce;datum_nalezu;stav;geom_system;pristupnost;lokalizace;lon;lat;poznamka';

async function queue(find: string): Promise<void> {
  const day = `2024-06-0${find.charCodeAt(0) - 64}`;
  const row = `${find};C-202400101;7;HES-000560;HES-000253;HES-000691;HES-000988;OS-001507;${day};1;4326;HES-000867;pole;14.4;50.08;${find}`;
  await home.do('import', home.file(`${find}.csv`, `${HEADER}\n${row}\n`));
}

async function pushed(find: string): Promise<void> {
  await queue(find);
  await home.do('push', find);
}

type Told = { find: string; kind: string; verdict: string };
const reconciled = async (): Promise<Told[]> =>
  (await home.json<{ reconciled: Told[] }>('reconcile')).reconciled;

type Listed = { readonly local_id: string; readonly ident_cely: string | null }[];
const getIdent = async (find: string): Promise<string> =>
  (await home.json<Listed>('list')).find(({ local_id }) => local_id === find)?.ident_cely ?? '';

describe('a service restored from a backup', () => {
  let data: string;
  let start: () => Promise<MockProcess>;
  let restored: MockProcess;
  let countNow: () => Promise<MockState>;

  /**
   * Runs what happens after the backup of the service was made, and then puts it back, an hour
   * later by its clock.
   */
  async function lose(work: () => Promise<void>): Promise<void> {
    await restored.stop();
    copyFileSync(data, `${data}.backup`);
    restored = await start();
    await work();
    await restored.stop();
    copyFileSync(`${data}.backup`, data);
    restored = await start();
    await restored.control('POST', '/clock', { advance_ms: 2 * HALF_AN_HOUR });
    countNow = await countMade(restored);
  }

  beforeEach(async () => {
    data = join(makeHome().folder, 'service.sqlite');
    const port = String(await freePort());
    start = () => startMockProcess('--min-interval', '10', '--data', data, '--port', port);
    restored = await start();
    home = await signedIn(restored, ['--set', 'min_interval_ms=10']);
    await pushed('A');
  });
  afterEach(() => restored.stop());

  test('assigns a record’s identifier again, and no photograph goes to another find’s record', async () => {
    await lose(() => pushed('B'));
    await queue('C');
    await home.do('photo', 'add', 'B', home.file('b.png', tinyPng(1)));
    const ident = await getIdent('B');
    const run = await home.pas('push', 'C');
    expect(run.stderr).toContain(`the service gave the record ${ident} to several finds (B, C)`);
    expect(await findStates(home)).toMatchObject({ B: 'uncertain', C: 'accepted' });
    expect(await getIdent('C')).toBe(ident);
    // The service does not have B any more.
    expect(await reconciled()).toMatchObject([{ find: 'B', kind: 'import', verdict: 'absent' }]);
    await home.do('push');
    const again = await getIdent('B');
    expect(again).not.toBe(ident);
    expect(await countNow()).toEqual({ finds: 2, photos: 1 });
    const uploads = (await restored.journal()).filter(
      ({ method, path }) => method === 'POST' && path.includes('foto'),
    );
    expect(uploads.map(({ path }) => path.includes(again))).toEqual([true]);
  });

  test('assigns it to a find without an answer: that find is not sent again for it', async () => {
    await lose(() => pushed('B'));
    const ident = await getIdent('B');
    await queue('C');
    await restored.faults({
      endpoint: 'import',
      when: { nth: 1 },
      times: 1,
      fault: '500-after-save',
    });
    await home.pas('push', 'C');
    await restored.faults();
    expect(await findStates(home)).toMatchObject({ C: 'accepted' });
    expect(await getIdent('C')).toBe(ident);
    await home.pas('reconcile');
    await home.pas('push');
    expect(await countNow()).toMatchObject({ finds: 2 });
  });
});
