import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectEnded, type Home, signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
let home: Home;

beforeAll(async () => {
  home = await signedIn(mock.service);
  await importSeason(home, 3, { state: 2 });
  await home.do('push', 'K-2');
  await home.pas(
    'add',
    '--draft',
    '--set',
    'local_id=DR 1',
    '--set',
    'datum_nalezu=2023-05-01',
    '--set',
    'poznamka=Stříbrná spona',
  );
});

const listed = async (...flags: string[]): Promise<string[]> =>
  (await home.json('list', ...flags)).map(({ local_id }) => local_id);

describe('the list of finds shows', () => {
  test.each([
    [['--state', 'accepted'], ['K-2']],
    [
      ['--state', 'queued', 'draft'],
      ['K-1', 'K-3', 'DR 1'],
    ],
    [
      ['--project', 'C-202400101', '--limit', '2'],
      ['K-1', 'K-2'],
    ],
    [['--until', '2023-12-31'], ['DR 1']],
    [['--since', '2023-05-02', '--text', 'nalez 3'], ['K-3']],
    [['--where', 'state=queued', '--where', 'state=draft'], []],
    [['--where', 'text=stribrna SPONA'], ['DR 1']],
    [['--where', 'text=zlatá'], []],
  ])('with %j those that are asked for', async (flags, finds) => {
    expect(await listed(...flags)).toEqual(finds);
  });

  test('the name of a find quoted for the shell', async () => {
    expect((await home.pas('list', '--where', 'state=draft')).stdout).toMatch(/^'DR 1' /m);
  });

  test('nothing for a day that is not a date', async () => {
    await expectEnded(home.pas('list', '--where', 'since=May'), 2, 'YYYY-MM-DD');
  });
});

describe('an export', () => {
  beforeAll(async () => {
    await home.do('harvest-vocab', 'heslo:obdobi', 'heslo:predmet_druh');
    // The vocabularies harvested since give the labels of the codes.
    await home.do('import', join(home.folder, 'season.csv'));
  });
  const exported = async (name: string, ...flags: string[]): Promise<string> => {
    const path = join(home.folder, name);
    await home.do('export', '--out', path, '--yes', ...flags);
    return readFileSync(path, 'utf8');
  };

  test.each(['en', 'cs'])('has labels in %s, and is imported again unchanged', async (language) => {
    const reader = home.with({ PAS_LANG: language });
    const [header = '', first = ''] = (await exported('labels.csv', '--lang', language)).split(
      '\r\n',
    );
    const cell = (column: string) =>
      first.split(';')[header.replace('\ufeff', '').split(';').indexOf(column)];
    const period = String(cell('obdobi'));
    expect((await reader.pas('search', period, '--set', 'obdobi')).stdout).toContain(period);
    expect(period).not.toMatch(/HES-/);
    expect(cell('okolnosti')).toMatch(/^HES-\d+$/);
    for (const name of ['labels.csv', 'labels.xlsx', 'labels.gpkg', 'labels.geojson']) {
      await exported(name, '--lang', language);
      const finds = (await home.json('list')).length;
      expect(await home.json('import', join(home.folder, name))).toMatchObject({
        unchanged: finds,
      });
    }
  });

  test('with --codes has identifiers', async () => {
    expect(await exported('codes.csv', '--codes', 'K-1')).toMatch(/;HES-\d+;.*;HES-\d+;/);
  });

  test('for people has names and labels in their language, one line per find', async () => {
    const lines = (await exported('people.csv', '--for', 'people')).split('\r\n');
    expect(lines).toHaveLength(6);
    expect(lines[0]).toMatch(
      /^\ufeffFind;Sending state;Identifier;.*;Object;.*;Coordinates;Photographs$/,
    );
    expect(lines[2]).toMatch(/^K-2;accepted;C-202400101-N\d+;.*2 submitted/);
    home = home.with({ PAS_LANG: 'cs' });
    const [header = '', first = ''] = (await exported('lidem.csv', '--for', 'people')).split(
      '\r\n',
    );
    expect(header).toMatch(/^\ufeffNález;Stav odeslání;.*;Období;/);
    const period = first.split(';')[header.split(';').indexOf('Období')];
    expect(period).toMatch(/^\p{L}/u);
    expect(period).not.toMatch(/HES-/);
    await expectEnded(home.pas('export', '--for', 'people', '--format', 'xml'), 2);
    await home.do('export', '--for', 'people', '--out', join(home.folder, 'lidem.xlsx'));
  });
});
