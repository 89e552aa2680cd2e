import { existsSync, utimesSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { findPhotographCopies, outboxFile } from '../support/outbox-files.ts';
import { expectEnded, findStates, type Home, settledAfter, signedIn } from '../support/run-pas.ts';
import { importSeason, tinyPng } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
let home: Home;

beforeEach(async () => {
  home = await signedIn(mock.service, settledAfter(0));
});

const states = (): Promise<Record<string, string>> => findStates(home);

const DRAFT =
  'local_id;projekt;stav;geom_system;pristupnost;poznamka\nD 1;C-202400101;2;4326;HES-000867;u cesty\n';
describe('a draft', () => {
  beforeEach(async () => {
    await home.pas('import', home.file('draft.csv', DRAFT));
  });

  test('names its command, is completed by flags, and is queued once it is complete', async () => {
    const status = await home.do('status');
    expect(status.stdout).toMatch(
      /Complete these drafts.*import of D 1: \w+: .*\(and \d+ more\)\n {4}pas edit 'D 1'/s,
    );
    const half = await home.pas(
      'edit',
      'D 1',
      '--set',
      'depth_cm=20',
      '--set',
      'okolnosti=HES-000560',
    );
    await expectEnded(half, 3);
    expect(half.stdout).toMatch(/hloubka: – → 20/);
    expect(half.stdout).toMatch(/Drafts until .*: D 1\./);
    const whole = await home.do(
      'edit',
      'D 1',
      '--set',
      'obdobi=HES-000253',
      '--set',
      'druh_nalezu=HES-000691',
      '--set',
      'specifikace=HES-000988',
      '--set',
      'finder=Novák, Jan',
      '--set',
      'found_on=1. 6. 2024',
      '--set',
      'location=pole = u lesa',
      '--set',
      'lon=14.42',
      '--set',
      'lat=50.08',
      '--set',
      'poznamka=',
    );
    expect(whole.stdout).toMatch(/poznamka: u cesty → –/);
    expect(await states()).toEqual({ 'D 1': 'queued' });
    const [find] = await home.json('list');
    expect(find?.elements).toMatchObject({
      lokalizace: 'pole = u lesa',
      geom_wkt: 'POINT (14.42 50.08)',
      datum_nalezu: '2024-06-01',
    });
    expect(find?.elements).not.toHaveProperty('poznamka');
    await home.do('push');
    expect(await states()).toEqual({ 'D 1': 'accepted' });
  });

  test.each(['local_id=D 2', 'ident_cely=C-202400101-N00001'])(
    'keeps its identifiers: %s is refused',
    async (setting) => {
      const [name = ''] = setting.split('=');
      const run = await home.pas('edit', 'D 1', '--set', setting);
      await expectEnded(run, 2, `${name} cannot be changed. Leave it out.`);
      expect(await states()).toEqual({ 'D 1': 'draft' });
    },
  );

  test.each(['photos=', 'photos=a.png'])(
    'keeps its photographs: %s is refused',
    async (setting) => {
      await expectEnded(home.pas('edit', 'D 1', '--set', setting), 2, 'pas photo add FIND FILE');
    },
  );

  test('is changed as a whole, or not at all', async () => {
    const wrong = await home.pas(
      'edit',
      'D 1',
      '--set',
      'hloubka=deep',
      '--set',
      'poznamka=new words',
    );
    await expectEnded(wrong, 3);
    expect(wrong.stdout).toMatch(/Depth \(hloubka\): .*deep/);
    expect((await home.json('list'))[0]?.elements).toMatchObject({ poznamka: 'u cesty', stav: 2 });
    const right = await home.pas('edit', 'D 1', '--set', 'poznamka=new words', '--json');
    expect(JSON.parse(right.stdout)).toMatchObject({
      changed: [
        {
          find: 'D 1',
          state: 'draft',
          changed: [{ element: 'poznamka', was: 'u cesty', is: 'new words' }],
        },
      ],
    });
    const same = await home.do('edit', 'D 1', '--set', 'poznamka=new words');
    expect(same.stdout).toMatch(/Changed: 0 finds of 1/);
    expect((await home.pas('edit', 'D 1', '--set', 'hlubka=3')).stderr).toMatch(
      /Did you mean hloubka/,
    );
    expect((await home.pas('edit', 'D 1')).stderr).toMatch(/--set element=value/);
  });

  test('has one point: parts of it are read with what it has', async () => {
    const readPoint = async () => {
      const [find] = await home.json('list');
      const {
        geom_system: system,
        geom_wkt: degrees,
        geom_sjtsk_wkt: metres,
      } = find?.elements ?? {};
      return [system, degrees, metres];
    };
    await home.pas('edit', 'D 1', '--set', 'lon=14.42', '--set', 'lat=50.08');
    expect(await readPoint()).toEqual(['4326', 'POINT (14.42 50.08)', undefined]);
    await expectEnded(home.pas('edit', 'D 1', '--set', 'geom_system=5514'), 3);
    await home.pas('edit', 'D 1', '--point', '-743011.7 -1043265.5');
    expect(await readPoint()).toEqual(['5514', undefined, 'POINT (-743011.7 -1043265.5)']);
    await home.pas('edit', 'D 1', '--set', 'wkt=');
    expect(await readPoint()).toEqual(['5514', undefined, undefined]);
  });
});

test('a refused find is shown with its element, corrected and sent', async () => {
  await importSeason(home, 2);
  await home.do('edit', 'K-2', '--set', 'lon=20.5', '--set', 'lat=50.1');
  await expectEnded(home.pas('push'), 3);
  expect(await states()).toEqual({ 'K-1': 'accepted', 'K-2': 'refused' });
  const shown = await home.do('show', 'K-2');
  expect(shown.stdout).toMatch(/next: pas edit K-2/);
  expect(shown.stdout).toMatch(/document of \d+ bytes, SHA-512 [0-9a-f]{16}/);
  expect((await home.do('status')).stdout).toMatch(
    /Correct these; the service refused them.*:\n {2}import of K-2: .+\n {4}pas edit K-2/,
  );
  await home.do('edit', 'K-2', '--set', 'lon=14.45', '--set', 'lat=50.08');
  await home.do('push');
  expect(await states()).toEqual({ 'K-1': 'accepted', 'K-2': 'accepted' });
  await expectEnded(
    home.pas('edit', 'K-2', '--set', 'depth_cm=1'),
    2,
    /was sent as C-202400101-N\d+.*\n.*pas number set K-2/,
  );
});

test('one registration number is refused for several finds, and can be removed from all', async () => {
  await importSeason(home, 2);
  const number = ['edit', 'K-1', 'K-2', '--yes', '--set'];
  await expectEnded(home.pas(...number, 'registration_number=A 1'), 2, 'belongs to a single find');
  await home.do('edit', 'K-1', '--set', 'registration_number=A 1');
  await home.do(...number, 'registration_number=');
  const finds = await home.json('list');
  for (const { elements } of finds) expect(elements).not.toHaveProperty('evidencni_cislo');
});

describe('removing', () => {
  const copies = (): string[] => findPhotographCopies(home);

  test('deletes unsent finds with their photographs, after a confirmation', async () => {
    await importSeason(home, 3, { photos: true });
    await home.do('photo', 'add', 'K-2', home.file('same.png', tinyPng(0)));
    await expectEnded(
      home.pas('remove', 'K-1', 'K-2'),
      2,
      /K-1, K-2 \(3 photographs, 0 numbers\).*\n.*--yes/,
    );
    expect(copies()).toHaveLength(3);
    // A copy that has just been made may be of a photograph that is being added.
    for (const path of copies()) utimesSync(path, new Date(0), new Date(0));
    // K-2 has the same picture as K-1, so one copy stays.
    await home.do('remove', 'K-1', '--yes');
    expect(copies()).toHaveLength(3);
    await home.do('remove', 'K-2', '--yes');
    expect(await states()).toEqual({ 'K-3': 'queued' });
    // The copies stay as long as the removal can be undone.
    expect(copies()).toHaveLength(3);
    await home.do('undo');
    expect(await states()).toEqual({ 'K-2': 'queued', 'K-3': 'queued' });
    await home.do('remove', 'K-2', '--yes');
    for (let index = 0; index < 50; index += 1)
      await home.do('edit', 'K-3', '--set', `depth_cm=${index + 50}`);
    await home.do(
      'add',
      '--set',
      'local_id=K-4',
      '--set',
      'project=C-202400101',
      '--set',
      'target_state=1',
      '--draft',
    );
    await home.do('remove', 'K-4', '--yes');
    expect(copies()).toHaveLength(1);
  });

  test('keeps what the service has or may have, with advice', async () => {
    home = await signedIn(mock.service, settledAfter(600_000));
    await importSeason(home, 3);
    await mock.service.faults({
      endpoint: 'import',
      when: { nth: 2 },
      times: 1,
      fault: '500-before-save',
    });
    await home.pas('push', '--limit', '2');
    const run = await home.pas('remove', 'K-1', 'K-2', 'K-3', '--yes');
    await expectEnded(
      run,
      3,
      /K-1 cannot be removed\. It was sent, and the service accepted it as C-/,
    );
    expect(run.stderr).toMatch(/K-2 cannot be removed\. Find out first: pas reconcile K-2/);
    expect(Object.keys(await states())).toEqual(['K-1', 'K-2']);
  });
});

test('photographs of a dropped find are not left waiting silently', async () => {
  await importSeason(home, 1, { photos: true });
  await home.do('resolve', 'K-1', '--drop');
  expect((await home.do('status')).stdout).toMatch(
    /waiting for them:\n {2}pas resolve K-1 --resend\n {2}pas remove K-1/,
  );
  await home.do('resolve', 'K-1', '--resend');
  await home.do('push');
  expect(await states()).toEqual({ 'K-1': 'accepted' });
});

test('a record that is not a find here can be shown, pushed and reconciled by its identifier, or is reported as untouched', async () => {
  const ident = 'C-202400101-N00005';
  await expectEnded(
    home.pas('push', ident),
    2,
    /not stored here.*\n.*pas number set C-202400101-N00005/,
  );
  await importSeason(home, 1);
  await home.do('number', 'set', ident, 'MB 77');
  // It has a number, which no home has seen yet.
  await expectEnded(home.pas('push', ident), 6);
  expect((await home.pas('status')).stdout).toMatch(
    /the record has the number KH 13\/2024; MB 77 is to replace it/,
  );
  await home.do('resolve', ident, '--resend');
  await home.do('push', ident);
  expect(await states()).toEqual({ 'K-1': 'queued' });
  expect((await home.do('show', ident)).stdout).toMatch(
    /not stored here as a find.*number MB 77: accepted/s,
  );
  await home.do('reconcile', ident);
});

test('the outbox of a removed profile stays', async () => {
  await importSeason(home, 2);
  const file = outboxFile(home);
  await home.do('profile', 'remove', 'mock');
  expect(existsSync(file)).toBe(true);
});
