import { beforeEach, describe, expect, test } from 'vitest';
import { curatorSets } from '../support/records-at-service.ts';
import { expectEnded, type Run, signedIn, splitWords, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { importSeason, tinyPng } from '../support/season.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock);
let idents: readonly string[];

beforeEach(async () => {
  await importSeason(home, 3);
  await home.do('number', 'set', 'K-1', 'A 1');
  await home.do('push');
  idents = (await home.json('list')).flatMap(({ ident_cely }) => ident_cely ?? []);
});

/** Words of the command that is advised. */
function advised({ stderr }: Run): string[] {
  const [, command = ''] = /: pas (number .*)$/m.exec(stderr) ?? [];
  return splitWords(command);
}

const table = (rows: string): string =>
  home.file('numbers.csv', `local_id;evidencni_cislo\n${rows}\n`);

type Imported = {
  readonly queued: number;
  readonly replaced: number;
  readonly unchanged: number;
  readonly numbers: readonly { readonly find: string; readonly replaces: string | null }[];
  readonly issues: readonly { readonly rule: string; readonly message: string }[];
};

describe('a number that the service has', () => {
  test('is replaced by the advised command alone, which shows the old and the new number', async () => {
    const refused = await home.pas('number', 'set', 'K-1', 'B 2');
    await expectEnded(refused, 2, /K-1 has the number A 1, which B 2 would replace/);
    expect(await home.json('status')).toMatchObject({ entries: { number: { queued: 0 } } });
    const replaced = await home.do(...advised(refused));
    expect(replaced.stderr).toContain('K-1: A 1 → B 2');
    await home.do('push');
    const sentChanges = (await mock.service.journal()).filter(({ method }) => method === 'PATCH');
    expect(sentChanges).toHaveLength(2);
  });

  test('needs no flag if it stays the same, or if there was none', async () => {
    expect(await home.json('number', 'set', 'K-1', 'A 1')).toMatchObject({
      change: 'kept',
      replaces: null,
    });
    expect(await home.json('number', 'set', 'K-2', 'A 2')).toMatchObject({
      change: 'queued',
      replaces: null,
    });
    expect(await home.json('number', 'set', 'K-2', 'A 3')).toMatchObject({
      change: 'replaced',
      replaces: null,
    });
  });

  test('is kept by a table without --replace, which imports the other rows and names the flag', async () => {
    const file = table('K-1;B 1\nK-2;B 2');
    const run = await home.pas('number', 'import', file);
    expect([run.code, run.stderr, run.stdout]).toEqual([
      3,
      expect.stringContaining('run the command again with --replace'),
      expect.stringMatching(
        /K-1 has the number A 1, but the row has B 1[\s\S]*1 queued, 0 replaced/,
      ),
    ]);
    const again = await home.do('number', 'import', file, '--replace');
    expect([again.stderr, again.stdout]).toEqual([
      expect.stringContaining('K-1: A 1 → B 1'),
      expect.stringContaining('0 queued, 1 replaced, 1 unchanged'),
    ]);
  });

  test('is shown by a dry run, which changes nothing', async () => {
    const looked = await home.json<Imported>('number', 'import', table('K-1;B 1'), '--dry-run');
    expect(looked).toMatchObject({
      replaced: 1,
      numbers: [{ find: 'K-1', replaces: 'A 1' }],
      issues: [],
    });
    expect(await home.json('status')).toMatchObject({ entries: { number: { queued: 0 } } });
  });

  test('as the last pull shows it needs --replace as well', async () => {
    await curatorSets(mock.service, idents[1], 'CURATOR');
    await home.do('pull');
    await expectEnded(home.pas('number', 'set', 'K-2', 'A 2'), 2, 'CURATOR');
  });
});

describe('a row in a table of numbers', () => {
  test('names its find by local id or identifier, in any letter case', async () => {
    const [, second = '', third = ''] = idents;
    const file = table(
      `k-1;A 1\n${second};B 2\n${third.toLowerCase()};B 3\nc-202400102-n00009;B 9`,
    );
    const taken = await home.json<Imported>('number', 'import', file);
    expect(taken.numbers.map(({ find }) => find)).toEqual([
      'K-1',
      'K-2',
      'K-3',
      'C-202400102-N00009',
    ]);
    expect(taken).toMatchObject({ queued: 3, unchanged: 1, issues: [] });
    expect(await home.json('number', 'set', 'k-2', 'B 2')).toMatchObject({ change: 'kept' });
  });

  test('is refused if its identifier is the local id of another find', async () => {
    const homeCopy = home.copy();
    const [, second = ''] = idents;
    await homeCopy.pas('import', homeCopy.file('c.csv', `local_id;hloubka\n${second};7\n`));
    const numbers = homeCopy.file('n.csv', `ident_cely;evidencni_cislo\n${second};A 8\n`);
    const ambiguous = `it may be any of ${second}, K-2`;
    expect((await homeCopy.pas('number', 'import', numbers)).stdout).toContain(ambiguous);
    await expectEnded(homeCopy.pas('number', 'set', second, 'A 8'), 2, ambiguous);
  });

  test('that matches several finds is refused, as is a command line', async () => {
    const third = home.file(
      'third.csv',
      'local_id;projekt;hloubka\nab-1;C-202400101;5\nAb-1;C-202400101;6\n',
    );
    await home.pas('import', third);
    const refused = await home.pas('number', 'import', table('AB-1;A 8'));
    expect([refused.code, refused.stdout + refused.stderr]).toEqual([
      3,
      expect.stringMatching(/AB-1 is ambiguous: it may be any of (ab-1, Ab-1|Ab-1, ab-1)/),
    ]);
    await expectEnded(
      home.pas('number', 'set', 'AB-1', 'A 8'),
      2,
      /any of (ab-1, Ab-1|Ab-1, ab-1)/,
    );
  });
});

test('a researcher is told offline that the service refuses numbers from that role, and nothing is queued', async () => {
  const homeCopy = await signedIn(mock.service, WITHOUT_PAUSES, 'researcher');
  await importSeason(homeCopy, 1);
  const file = homeCopy.file('numbers.csv', 'local_id;evidencni_cislo\nK-1;A 1\n');
  for (const args of [
    ['set', 'K-1', 'A 1'],
    ['import', file],
    ['import', file, '--dry-run'],
  ]) {
    await expectEnded(homeCopy.pas('number', ...args), 2, /researcher.*may not set/);
  }
  expect(await homeCopy.json('status')).toMatchObject({ entries: { number: { queued: 0 } } });
});

test.each([
  ['set', 'number set K-2 N-2'],
  ['imported from a table', 'number import numbers.csv'],
])('a number that the service refused is sent when it is %s once more', async (_, command) => {
  const again = () => home.do(...command.replace('numbers.csv', table('K-2;N-2')).split(' '));
  const setRole = (role: string) =>
    mock.service.control('PUT', '/accounts/archaeologist', { role });
  await again();
  await setRole('researcher');
  await expectEnded(home.pas('push'), 3);
  await setRole('archaeologist');
  await home.do('whoami');
  await again();
  expect(await home.json('status')).toMatchObject({
    entries: { number: { refused: 0, queued: 1 } },
  });
  await home.do('push');
  expect(await home.json('status')).toMatchObject({ entries: { number: { accepted: 2 } } });
});

test('nothing is sent to a record that was deleted: what is for it is a question', async () => {
  const [first = ''] = idents;
  await mock.service.control('POST', `/records/${first}/delete`);
  await home.do('pull');
  await home.do('number', 'set', first, 'A 9', '--replace');
  await home.do('photo', 'add', 'K-1', home.file('p.png', tinyPng(1)));
  const before = await mock.service.journal();
  await expectEnded(home.pas('push'), 6);
  const sent = (await mock.service.journal()).slice(before.length);
  expect(sent.filter(({ method, path }) => method === 'PATCH' || path.includes('photo'))).toEqual(
    [],
  );
  const { stdout } = await home.pas('status');
  expect(stdout).toContain(`the record ${first} was deleted`);
});
