import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { makeWorkbook } from '../support/make-workbook.ts';
import { expectEnded, signedIn } from '../support/run-pas.ts';
import { importSeason, writeSeason } from '../support/season.ts';
import { useMock, useVocabularies } from '../support/use-mock.ts';

/** Commands that a person types before reading the help. */

const mock = useMock();
const home = useVocabularies(mock);

beforeAll(async () => {
  await importSeason(home, 2);
});

test('pas search TEXT searches the vocabularies', async () => {
  const run = await home.pas('search', 'spona');
  await expectEnded(run, 0);
  expect(run.stdout).toContain('brooch');
});

test.each([
  [['valdate'], 'Did you mean validate?'],
  [['begin-it', 'list'], 'See `pas help`.'],
  [['export', '--output', 'x.csv'], 'Did you mean --out?'],
  [['list', '--watch'], 'See `pas list --help`.'],
  [['show'], 'See `pas show --help`.'],
  [['number', 'numbers.csv'], 'See `pas number --help`.'],
])('%j is refused with what was meant', async (args, hint) => {
  const run = await home.pas(...args);
  await expectEnded(run, 2, /^pas: .+\.\n {5}.+\n$/);
  expect(run.stderr).toContain(hint);
});

test('pas import names the flag that reads a table by its column map', async () => {
  const copy = home.copy();
  copy.file('own.csv', 'č. nálezu;předmět;místo;okres\nA-1;spona;les;Kolín\n');
  await copy.pas('import', 'own.csv', '--wizard', '--yes');
  const run = await copy.pas('import', 'own.csv', '--set', 'stav=1');
  expect(run.stdout).toContain('To read them by a column map: --map FILE.');
});

test('the wizard names the command that lists the values of an element', async () => {
  const copy = home.copy();
  copy.file('bare.csv', 'č. nálezu;předmět;datum\nA-1;spona;1.6.2024\n');
  const run = await copy.pas('import', 'bare.csv', '--wizard', '--yes');
  expect(run.stderr).toContain('`pas vocab list projekt`');
  expect(run.stderr).toContain('`pas vocab list pristupnost`');
});

test('pas push with an empty queue says so', async () => {
  const empty = await signedIn(mock.service);
  const run = await empty.pas('push');
  await expectEnded(run, 0);
  expect(run.stdout).toBe('The queue is empty; nothing was sent.\n');
});

test('pas-conformance without its flag shows a whole command', () => {
  const program = join(import.meta.dirname, '../../bin/pas-conformance.js');
  const run = spawnSync(process.execPath, [program, 'http://127.0.0.1:8099'], { encoding: 'utf8' });
  expect(run.status).toBe(2);
  expect(run.stderr).toContain('Example: pas-conformance --base-url http://127.0.0.1:8099');
});

test('the flags of every command are the last ones in its help', async () => {
  const { stdout } = await home.pas('import', '--help');
  expect(stdout.match(/^\p{Lu}.*:$/gmu)).toEqual(['Options:', 'Common:', 'Examples:']);
});

test('a set may be called by its element', async () => {
  const named = await home.pas('search', 'latén', '--set', 'obdobi');
  expect(named.stdout).toContain('heslo:obdobi');
  expect(named).toEqual(await home.pas('search', 'latén', '--set', 'heslo:obdobi'));
  expect(await home.pas('vocab', 'list', 'obdobi')).toEqual(
    await home.pas('vocab', 'list', 'heslo:obdobi'),
  );
});

test('pas export FILE and -o FILE write that file', async () => {
  const copy = home.copy();
  for (const args of [['season.xlsx'], ['-o', 'again.xlsx'], ['K-1', 'one.csv']]) {
    await copy.do('export', ...args);
    expect(existsSync(join(copy.folder, args.at(-1) ?? ''))).toBe(true);
  }
});

test('-n changes nothing, -q says less, before and behind the command', async () => {
  const copy = home.copy();
  const table = writeSeason(copy, 3);
  const run = await copy.pas('-q', 'import', '-n', table);
  expect(run.stdout).toContain('Would import 3 finds');
  expect(await copy.json('list')).toHaveLength(2);
});

test('--sheet takes the number of a sheet, and its name in any case', async () => {
  const copy = home.copy();
  const sheet = (name: string) => ({ name, rows: [['local_id'], [name]] });
  const file = copy.file('book.xlsx', makeWorkbook([sheet('První'), sheet('Druhý')]));
  for (const word of ['2', 'DRUHÝ']) {
    const run = await copy.pas('import', file, '-n', '--sheet', word);
    expect(run.stderr).toContain('only Druhý is read');
  }
});

test('pull FIND reads that find alone, and the next pull still reads all', async () => {
  const copy = home.copy();
  await copy.do('push', '--accept-new-people');
  type Pulled = { finds: { find: string; news: boolean }[] };
  expect((await copy.json<Pulled>('pull', 'K-1')).finds.map(({ find }) => find)).toEqual(['K-1']);
  expect((await copy.json<Pulled>('pull')).finds.map(({ find }) => find)).toEqual(['K-1', 'K-2']);
});
