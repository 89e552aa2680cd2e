import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Listed } from '../support/json-output.ts';
import { expectEnded, type Run, signedIn } from '../support/run-pas.ts';
import { importConflict, importSeason, sendSeason, writeSeason } from '../support/season.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock);

type Logged = {
  id: string;
  at: string;
  command: string;
  finds: { local_id: string; before: unknown; after: unknown }[];
};

const list = (): Promise<Listed[]> => home.json('list');
const log = (): Promise<Logged[]> => home.json<Logged[]>('undo', '--list');

async function documents(): Promise<string[]> {
  const texts: string[] = [];
  for (const { local_id } of await list())
    texts.push((await home.do('show', local_id, '--xml')).stdout);
  return texts;
}

function change(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  home.file('season.csv', text.replaceAll(from, to));
}

describe('pas undo', () => {
  test('takes back an edit, an import and a removal, one after another, to the last byte', async () => {
    const season = writeSeason(home, 2, { photos: true });
    await home.do('import', season);
    const imported = [await list(), await documents()];
    await home.do('edit', 'K-1', '--set', 'poznamka=mine');
    const edited = [await list(), await documents()];
    change(season, 'pole 2', 'les 2');
    await home.do('import', season);
    await home.do('remove', 'K-2', '--yes');
    expect(await list()).toHaveLength(1);
    await home.do('undo');
    expect(await list()).toHaveLength(2);
    expect((await home.do('export', 'K-2')).stdout).toMatch(/photo-2\.png/);
    await home.do('undo');
    expect([await list(), await documents()]).toEqual(edited);
    await home.do('undo');
    expect([await list(), await documents()]).toEqual(imported);
    const undone = await home.json<{ undone: string; finds: number; kept: unknown[] }>('undo');
    expect(undone).toEqual({ undone: expect.any(String), finds: 2, kept: [] });
    await expectEnded(home.pas('undo', undone.undone), 2, 'is undone already');
    expect(await list()).toEqual([]);
    await expectEnded(home.pas('undo'), 2);
  });

  test('of an import whose find was edited since can be repeated once the edit is undone', async () => {
    await importSeason(home, 2);
    await home.do('edit', 'K-1', '--set', 'poznamka=mine');
    const [, imported] = await log();
    expect(await home.json('undo', imported?.id ?? '')).toMatchObject({ finds: 1, kept: ['K-1'] });
    await home.do('undo');
    expect(await home.json('undo', imported?.id ?? '')).toMatchObject({ finds: 1, kept: [] });
    expect(await list()).toEqual([]);
  });

  test('of a named command reaches those before one whose finds were sent', async () => {
    await home.do('add', '--draft', '--set', 'local_id=A-1', '--set', 'poznamka=first');
    await importSeason(home, 1);
    await home.do('edit', 'K-1', '--set', 'poznamka=mine');
    await home.do('push');
    const kept = async (...id: string[]): Promise<unknown> =>
      (await home.json<{ kept: unknown }>('undo', ...id)).kept;
    const added = (await log()).at(-1);
    expect([await kept(), await kept(added?.id ?? '')]).toEqual([['K-1'], []]);
    expect((await list()).map(({ local_id }) => local_id)).toEqual(['K-1']);
  });

  test('keeps what was sent after it was taken back and wanted again', async () => {
    await importSeason(home, 1);
    await home.do('number', 'set', 'K-1', '12/2024');
    await home.do('undo');
    await home.do('undo', (await log())[0]?.id ?? '');
    await home.do('push');
    expect(await home.json('undo')).toMatchObject({ finds: 0, kept: ['K-1'] });
  });

  test('of the import of a find keeps it with a number that was set later', async () => {
    await importSeason(home, 1);
    await home.do('number', 'set', 'K-1', 'N 1');
    const id = (await log())[1]?.id ?? '';
    expect(await home.json('undo', id)).toMatchObject({ finds: 0, kept: ['K-1'] });
    await home.do('undo');
    await home.do('undo', id);
    expect(await list()).toEqual([]);
  });

  test('of an undo removes a find with its number again, unless that was set anew since', async () => {
    await importSeason(home, 1);
    await home.do('number', 'set', 'K-1', 'N 1');
    await home.do('remove', 'K-1', '--yes');
    await home.do('undo');
    expect(await home.json('undo', (await log())[0]?.id ?? '')).toMatchObject({
      finds: 1,
      kept: [],
    });
    expect(await list()).toEqual([]);
    await home.do('undo');
    const restored = (await log())[0]?.id ?? '';
    await home.do('number', 'set', 'K-1', 'N 2');
    expect(await home.json('undo', restored)).toMatchObject({ finds: 0, kept: ['K-1'] });
    expect(await list()).toMatchObject([{ local_id: 'K-1' }]);
  });

  test('that leaves two finds one number is a question', async () => {
    await sendSeason(home, 2);
    await home.do('number', 'set', 'K-1', 'X');
    await home.do('push');
    await home.do('number', 'set', 'K-1', 'Y', '--replace');
    await home.do('number', 'set', 'K-2', 'X');
    await home.do('undo', (await log())[1]?.id ?? '');
    await expectEnded(home.pas('push'), 6);
    expect((await home.pas('status')).stdout).toContain('X is also the number of K-1.');
    await home.do('resolve', 'K-2', '--resend');
    await home.do('push');
  });

  test('that leaves two unsent finds one number is a question', async () => {
    await importSeason(home, 2);
    await home.do('edit', 'K-1', '--set', 'evidencni_cislo=X');
    await home.do('edit', 'K-1', '--set', 'evidencni_cislo=Y');
    await home.do('edit', 'K-2', '--set', 'evidencni_cislo=X');
    await home.do('undo', (await log())[1]?.id ?? '');
    await expectEnded(home.pas('push'), 6);
    expect((await home.pas('status')).stdout).toContain('its number is also the number of K-1.');
    await home.do('edit', 'K-2', '--set', 'evidencni_cislo=Z');
    await home.do('push');
    expect((await list()).map(({ state }) => state)).toEqual(['accepted', 'accepted']);
  });

  test('that gives the number to a new find under a freed local id asks once more', async () => {
    const set = (find: string, number: string) =>
      home.do('edit', find, '--set', `evidencni_cislo=${number}`);
    await importSeason(home, 2);
    for (const number of ['X', 'Y']) await set('K-1', number);
    await set('K-2', 'X');
    await home.do('undo', (await log())[1]?.id ?? '');
    await expectEnded(home.pas('push'), 6);
    await home.do('resolve', 'K-2', '--resend');
    await home.do('remove', 'K-1', '--yes');
    await importSeason(home, 1);
    await set('K-2', 'Z');
    await set('K-1', 'X');
    await home.do('undo', (await log())[1]?.id ?? '');
    await expectEnded(home.pas('push'), 6);
    expect((await home.pas('status')).stdout).toContain('its number is also the number of K-1.');
  });

  test('takes no push that could answer no question', async () => {
    await importConflict(home);
    const before = await log();
    await expectEnded(home.pas('push', '--on-question', 'send'), 6);
    expect(await log()).toEqual(before);
  });

  test('says that nothing could be taken back of what was sent', async () => {
    await sendSeason(home, 1);
    const run = await home.pas('undo');
    expect([run.code, run.stdout]).toEqual([
      3,
      expect.stringMatching(/^pas import of .*: nothing could be undone\.$/m),
    ]);
    expect(await log()).toMatchObject([{ command: 'import', undone: false }]);
  });

  test('passes by an import that only linked the finds to another table', async () => {
    const season = writeSeason(home, 2, { photos: true });
    await home.do('import', season);
    await home.do('edit', 'K-2', '--set', 'poznamka=mine');
    await home.do('number', 'set', 'K-1', 'A 1');
    const known = await log();
    await home.do('export', 'linked.csv');
    await home.do('import', 'linked.csv');
    await home.do('import', season);
    expect(await log()).toEqual(known);
    for (const { id, finds } of known)
      expect(await home.json('undo')).toEqual({ undone: id, finds: finds.length, kept: [] });
    expect(await list()).toEqual([]);
  });

  test('takes a command back, and an undo, where the find was linked to a table since', async () => {
    const season = writeSeason(home, 1);
    await home.do('import', season);
    await home.do('edit', 'K-1', '--set', 'poznamka=mine');
    const [edit] = await log();
    await home.do('undo');
    const [undo] = await log();
    await home.do('export', 'linked.csv');
    await home.do('import', 'linked.csv');
    expect(await home.json('undo', undo?.id ?? '')).toMatchObject({ finds: 1, kept: [] });
    expect((await home.do('show', 'K-1')).stdout).toContain('mine');
    await home.do('import', season);
    expect(await home.json('undo', edit?.id ?? '')).toMatchObject({ finds: 1, kept: [] });
    expect((await home.do('show', 'K-1')).stdout).not.toContain('mine');
  });

  test('of a command that was redone takes it back again, after earlier ones of its kind', async () => {
    await importSeason(home, 1);
    const states: unknown[] = [];
    const run = async (...words: string[]): Promise<void> => {
      await home.do(...words);
      states.push((await list())[0]?.state);
    };
    for (const words of [['resolve', 'K-1', '--drop'], ['undo']]) await run(...words);
    for (const words of [['resolve', 'K-1', '--drop'], ['undo']]) await run(...words);
    await run('undo', (await log())[0]?.id ?? '');
    await run('undo');
    expect(states).toEqual(['dropped', 'queued', 'dropped', 'queued', 'dropped', 'queued']);
  });

  test('keeps a find that an answer called a record, and the answer once something was sent to it', async () => {
    const elsewhere = await signedIn(mock.service);
    await sendSeason(elsewhere, 1);
    const [sent] = await elsewhere.json('list');
    await importSeason(home, 1);
    await expectEnded(home.pas('push'), 6);
    await home.do('resolve', 'K-1', '--created', sent?.ident_cely ?? '', '--yes');
    const [answered, imported] = await log();
    const kept = async (of: Logged | undefined): Promise<unknown> =>
      (await home.json<{ kept: unknown }>('undo', of?.id ?? '')).kept;
    expect(await kept(imported)).toEqual(['K-1']);
    expect(await list()).toMatchObject([{ local_id: 'K-1', state: 'accepted' }]);
    await home.do('number', 'set', 'K-1', 'A 1/2024');
    await home.do('push');
    expect(await kept(answered)).toEqual(['K-1']);
    expect(await list()).toMatchObject([{ local_id: 'K-1', state: 'accepted' }]);
  });

  test('keeps the answer "another find" as a whole once that find was sent', async () => {
    const season = readFileSync(await sendSeason(home, 1), 'utf8');
    await home.pas('import', home.file('other.csv', season.replaceAll('K-', 'T-')));
    await home.do('resolve', '--all', 'new');
    await home.do('push');
    expect(await home.json('undo')).toMatchObject({ finds: 0, kept: ['T-1', 'K-1'] });
    expect((await home.json('status')).needs_person).toEqual([]);
  });

  test('takes back what a killed import had written', async () => {
    const running = home.start('import', writeSeason(home, 1500));
    let over: Run | undefined;
    void running.ended.then((run) => {
      over = run;
    });
    for (let finds = 0; finds === 0; { finds } = await home.json('status'))
      if (over !== undefined) throw new Error(`the import ended with ${over.code}: ${over.stderr}`);
    running.child.kill('SIGKILL');
    await running.ended;
    const stored = (await list()).length;
    expect(stored).toBeGreaterThan(0);
    expect((await log())[0]).toMatchObject({ command: 'import', finds: { length: stored } });
    const { finds } = await home.json<{ finds: number }>('undo');
    expect(finds).toBe(stored);
    expect(await list()).toEqual([]);
    expect(await log()).toMatchObject([{ command: 'undo' }, { command: 'import', undone: true }]);
  });
});

test('pas undo --list shows what each command changed, the newest first', async () => {
  const season = writeSeason(home, 1);
  await home.do('import', season);
  await home.do('edit', 'K-1', '--set', 'poznamka=mine');
  const [edit, imported] = await log();
  expect(edit).toMatchObject({
    command: 'edit',
    finds: [{ local_id: 'K-1', before: { poznamka: 'nález 1' }, after: { poznamka: 'mine' } }],
  });
  expect(imported).toMatchObject({
    command: 'import',
    finds: [{ local_id: 'K-1', before: null, after: { poznamka: 'nález 1' } }],
  });
  expect((await home.do('undo', '--list')).stdout).toMatch(/pas edit.*K-1.*pas import.*K-1/s);
  await home.json('import', season);
  expect(await log()).toHaveLength(2);
  await home.do('number', 'set', 'K-1', 'A 1');
  await home.do('number', 'set', 'C-202400101-N00001', 'A 2');
  expect(await log()).toMatchObject([
    { command: 'number set', finds: [{ local_id: 'C-202400101-N00001', after: null }] },
    { command: 'number set', finds: [{ local_id: 'K-1', after: null }] },
    {},
    {},
  ]);
});

test('pas undo --list names the command that pas undo takes next, also after an undo', async () => {
  const season = writeSeason(home, 1);
  await home.do('import', season);
  await home.do('edit', 'K-1', '--set', 'poznamka=mine');
  await home.do('undo');
  const [, , imported] = await log();
  const { stderr } = await home.do('undo', '--list');
  expect(stderr).toContain(`Undone next by pas undo: pas import, ${imported?.id}`);
  expect((await home.do('undo')).stdout).toContain('Undone: pas import');
});

describe('pas edit of several finds', () => {
  test('changes the named finds, or those that match a filter, after a confirmation', async () => {
    const season = writeSeason(home, 3);
    await home.do('import', season);
    const firstRun = await home.pas('edit', 'K-1', 'K-2', '--set', 'pocet=2');
    await expectEnded(firstRun, 2);
    expect(firstRun.stdout).toMatch(/K-1.*pocet: – → 2.*K-2/s);
    expect(firstRun.stderr).toMatch(/--yes/);
    await home.do('edit', 'K-1', 'K-2', '--set', 'pocet=2', '--yes');
    await home.do(
      'edit',
      '--where',
      'count=2',
      '--where',
      'note=nález 2',
      '--set',
      'pocet=5',
      '--yes',
    );
    await home.do(
      'edit',
      '--where',
      'text=pole 3',
      '--where',
      'state=queued',
      '--set',
      'pocet=7',
      '--yes',
    );
    expect((await list()).map(({ elements }) => elements['pocet'])).toEqual(['2', '5', '7']);
    await home.do('undo');
    expect((await list()).map(({ elements }) => elements['pocet'])).toEqual(['2', '5', undefined]);
  });

  test('leaves a sent find unchanged, and names it', async () => {
    const season = writeSeason(home, 2);
    await home.do('import', season);
    await home.do('push', 'K-1');
    const run = await home.pas(
      'edit',
      '--where',
      'project=C-202400101',
      '--set',
      'pocet=2',
      '--yes',
      '--json',
    );
    await expectEnded(run, 3);
    expect(JSON.parse(run.stdout)).toMatchObject({
      changed: [{ find: 'K-2' }],
      refused: [{ find: 'K-1' }],
    });
  });

  test('refuses an invalid filter, and an edit without changes', async () => {
    for (const args of [
      ['--where', 'nonsense=1', '--set', 'pocet=2'],
      ['--where', 'state=lost', '--set', 'pocet=2'],
      ['--where', 'text=a'],
      [],
    ]) {
      expect((await home.pas('edit', ...args)).code, args.join(' ')).toBe(2);
    }
  });
});
