import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { curatorSets } from '../support/records-at-service.ts';
import { expectEnded, findStates, type Run, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { sendSeason, tinyPng, writeSeason } from '../support/season.ts';
import { answer, startTerminal, whyNoTerminal } from '../support/terminal-session.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock);

type ImportReport = {
  added: number;
  updated: number;
  unchanged: number;
  already_sent: number;
  conflicts: number;
  questions: number;
  not_in_table: string[];
  photos: number;
  photos_removed: number;
  numbers: number;
  issues: Record<string, unknown>[];
};
const HEADER =
  'local_id;projekt;stav;pristupnost;geom_system;druh_nalezu;datum_nalezu;lokalizace;hloubka;poznamka;photos';

type Row = {
  id: string;
  object?: string;
  day?: string;
  place?: string;
  depth?: string;
  note?: string;
  photos?: string;
};

function rowText({
  id,
  object = 'HES-000691',
  day = '2024-06-01',
  place = 'pole',
  depth = '',
  note = '',
  photos = '',
}: Row): string {
  return [
    id,
    'C-202400101',
    '1',
    'HES-000867',
    '4326',
    object,
    day,
    place,
    depth,
    note,
    photos,
  ].join(';');
}

function table(name: string, ...rows: Row[]): string {
  return home.file(name, `${[HEADER, ...rows.map(rowText)].join('\n')}\n`);
}

async function imports(...args: string[]): Promise<{ run: Run; report: ImportReport }> {
  const run = await home.pas('import', ...args, '--json');
  return { run, report: JSON.parse(run.stdout) as ImportReport };
}

async function readElements(find: string): Promise<Record<string, unknown>> {
  return (await home.json('show', find)).elements;
}

function listRules({ issues }: ImportReport): unknown[] {
  return issues.map(({ rule }) => rule).filter((rule) => rule !== 'not-harvested');
}

function listRows(rows: readonly (readonly string[])[]): Row[] {
  return rows.map(([id = '', content]) => ({
    id,
    place: `pole ${content}`,
    note: `note ${content}`,
  }));
}

describe('a table that is imported again', () => {
  test('applies the changes of its row, and keeps an edit of another element', async () => {
    const season = table('season.csv', { id: 'R-1', note: 'spona' });
    await home.do('import', season);
    await home.do('edit', 'R-1', '--set', 'hloubka=30');
    table('season.csv', { id: 'R-1', note: 'spona, bronz' });
    expect((await imports(season)).report).toMatchObject({ updated: 1, conflicts: 0 });
    expect(await readElements('R-1')).toMatchObject({ poznamka: 'spona, bronz', hloubka: 30 });
    expect((await imports(season)).report).toMatchObject({ updated: 0, unchanged: 1 });
  });

  test('reports a conflict with its three values, changes nothing of that find, and a person decides for all or for one', async () => {
    const season = table(
      'season.csv',
      { id: 'R-1', note: 'old' },
      { id: 'R-2', note: 'old', place: 'les' },
    );
    await home.do('import', season);
    for (const find of ['R-1', 'R-2']) await home.do('edit', find, '--set', 'poznamka=here');
    table(
      'season.csv',
      { id: 'R-1', note: 'table', depth: '20' },
      { id: 'R-2', note: 'table', place: 'les' },
    );
    const { run, report } = await imports(season);
    await expectEnded(run, 3);
    expect(report).toMatchObject({ conflicts: 2, updated: 0 });
    expect(report.issues).toContainEqual(
      expect.objectContaining({
        rule: 'conflict',
        find: 'R-1',
        element: 'poznamka',
        base: 'old',
        ours: 'here',
        theirs: 'table',
      }),
    );
    expect(await readElements('R-1')).toMatchObject({ poznamka: 'here' });
    expect(await readElements('R-1')).not.toHaveProperty('hloubka');

    await home.do('resolve', 'R-1', '--answer', 'table');
    await home.do('resolve', 'R-2', '--answer', 'mine');
    expect(await readElements('R-1')).toMatchObject({ poznamka: 'table', hloubka: 20 });
    expect(await readElements('R-2')).toMatchObject({ poznamka: 'here' });
    expect((await imports(season)).report).toMatchObject({
      conflicts: 0,
      updated: 0,
      unchanged: 2,
    });
  });

  test('is the same table however its accents and blanks are typed', async () => {
    const season = table('season.csv', { id: 'Č 1', note: 'nůž u cesty' });
    await home.do('import', season);
    table('season.csv', {
      id: ' Č\u00a01 '.normalize('NFD'),
      note: 'nůž\u00a0u cesty'.normalize('NFD'),
    });
    expect((await imports(season)).report).toMatchObject({ added: 0, updated: 0, unchanged: 1 });
    expect(await readElements('Č 1'.normalize('NFD'))).toMatchObject({ poznamka: 'nůž u cesty' });
  });

  test('refuses both rows of a repeated local id', async () => {
    const season = table('season.csv', { id: 'R-1', note: 'a' }, { id: 'R-2', note: 'b' });
    await home.do('import', season);
    table(
      'season.csv',
      { id: 'R-1', note: 'c' },
      { id: 'R-1', note: 'd' },
      { id: 'R-2', note: 'b' },
    );
    const { report } = await imports(season);
    expect(report).toMatchObject({ updated: 0, unchanged: 1, not_in_table: [] });
    expect(report.issues).toContainEqual(
      expect.objectContaining({
        rule: 'local-id-twice',
        message: expect.stringMatching(/2 and 3/),
      }),
    );
    expect(await readElements('R-1')).toMatchObject({ poznamka: 'a' });
  });

  test.each([
    ['', 'season.csv', ['S-l1', 'S-2'], ['S-3']],
    [' also under another name', 'next.csv', ['S-2'], ['S-l1', 'S-3']],
  ])(
    'names the finds that are no longer in it, with a command that removes them%s',
    async (_, name, gone, left) => {
      const rows = [
        { id: 'S-l1', note: 'a' },
        { id: 'S-2', note: 'b' },
        { id: 'S-3', note: 'c' },
      ];
      await home.do('import', table('season.csv', ...rows));
      const edition = table(name, ...rows.filter(({ id }) => left.includes(id)));
      await home.do('import', edition);
      const { run, report } = await imports(edition);
      expect(report.not_in_table).toEqual(gone);
      expect(run.stderr).toContain(`pas remove ${gone.join(' ')}`);
      await home.do('remove', ...gone, '--yes');
      expect((await imports(edition)).report.not_in_table).toEqual([]);
    },
  );

  test('ends the questions about its rows only when those are read again', async () => {
    const asked = [
      { id: 'K-1', day: '2024-03-01', note: 'a' },
      { id: 'K-2', day: '2024-03-02', note: 'b' },
    ];
    await home.do('import', table('t.csv', ...asked));
    const rows = asked.map((row) => ({ ...row, id: row.id.replace('K', 'E'), depth: '9' }));
    const other = table('other.csv', ...rows);
    expect((await imports(other)).report).toMatchObject({ questions: 2 });
    const expectQuestions = async (...finds: string[]): Promise<void> => {
      const commands = (await home.json('status')).needs_person.map(({ command }) => command);
      expect(commands).toEqual(finds.map((find) => `pas resolve ${find}`));
    };
    edit(other, 'hloubka', 'hlubka');
    await expectEnded(home.pas('import', other), 3);
    await expectQuestions('K-1', 'K-2');
    await home.do('import', table('other.csv', { id: 'J-1', day: '2024-05-07', place: 'les' }));
    await expectQuestions('K-1', 'K-2');
    const [first] = rows as [Row];
    await home.pas('import', table('other.csv', { ...first, id: 'F-1' }));
    await expectQuestions('K-1');
    await home.do('resolve', 'K-1', '--answer', 'same');
    await expectQuestions();
  });

  test('of another name asks about the equal find, not about that of the number, and one answer fits all', async () => {
    const first = { day: '2024-06-01', place: 'pole', note: 'a' };
    const second = { day: '2024-07-02', place: 'les', note: 'b' };
    const season = table('season.csv', { id: 'S-1', ...first }, { id: 'S-2', ...second });
    await home.do('import', season);
    const other = table('other.csv', { id: 'S-1', ...second }, { id: 'S-5', ...first });
    expect((await imports(other)).report).toMatchObject({ added: 0, questions: 2 });
    await home.do('resolve', '--all', 'same');
    expect(await readElements('S-1')).toMatchObject({ poznamka: 'b' });
    expect(await readElements('S-5')).toMatchObject({ poznamka: 'a' });
    for (const each of [season, other])
      expect((await imports(each)).report).toMatchObject({ unchanged: 2, questions: 0 });
    expect(await home.json('show', 'S-2')).toMatchObject({ local_id: 'S-1' });
  });

  test('advises to remove only finds that can be removed', async () => {
    const season = table('season.csv', { id: 'S-1' }, { id: 'S-2' }, { id: 'S-3' });
    await home.do('import', season);
    await home.do('push', 'S-1');
    table('season.csv', { id: 'S-3' });
    const { run } = await imports(season);
    expect(run.stderr).toMatch(/no longer in .*: S-1 S-2\.$/m);
    expect(run.stderr).toMatch(/pas remove S-2$/m);
  });

  test('whose row may be another find than a sent one is not called sent', async () => {
    const season = table('season.csv', { id: 'S-1', note: 'a' });
    await home.do('import', season);
    await home.do('push');
    table('season.csv', { id: 'S-1', day: '2024-07-02', place: 'les', note: 'b' });
    expect((await imports(season)).report).toMatchObject({ questions: 1 });
    await expectEnded(home.pas('push'), 6, 'Entries with an open question: 1.');
    const { stdout } = await home.do('status');
    expect(stdout).toContain('pas resolve S-1');
    expect(stdout).not.toContain('Everything is sent');
    const answered = await home.pas('resolve', 'S-1', '--answer', 'same', '--json');
    await expectEnded(answered, 3);
    expect(JSON.parse(answered.stdout).issues).toMatchObject([{ rule: 'already-sent' }]);
    expect((await imports(season)).report).toMatchObject({ questions: 0, already_sent: 1 });
  });

  test('names the answer to the question about the row of a draft', async () => {
    const season = writeSeason(home, 1, { state: 2 });
    edit(season, ';HES-000253;', ';;');
    await home.pas('import', season);
    edit(season, '2024-06-01', '2024-07-02');
    edit(season, '14.40000', '14.50000');
    expect((await imports(season)).report).toMatchObject({ questions: 1 });
    expect(await home.json('status')).toMatchObject({
      needs_person: [{ state: 'draft', command: 'pas resolve K-1' }],
    });
    expect((await home.do('status')).stdout).not.toContain('pas edit');
  });

  test('asks about a row that equals a find with another local id, and renames that find', async () => {
    const season = table('season.csv', { id: 'S-l1', note: 'přezka' }, { id: 'S-2', note: 'b' });
    await home.do('import', season);
    table('season.csv', { id: 'S-11', note: 'přezka' }, { id: 'S-2', note: 'b' });
    const { run, report } = await imports(season);
    await expectEnded(run, 3);
    expect(report).toMatchObject({ added: 0, questions: 1, unchanged: 1 });
    expect(report.issues).toContainEqual(
      expect.objectContaining({
        rule: 'question',
        message: expect.stringMatching(/is equal to S-l1: is it the same find/),
      }),
    );
    await home.do('resolve', 'S-l1', '--answer', 'same');
    expect((await home.json('list')).map(({ local_id }) => local_id).sort()).toEqual([
      'S-11',
      'S-2',
    ]);
    expect((await imports(season)).report).toMatchObject({ unchanged: 2, not_in_table: [] });
  });

  test.skipIf(whyNoTerminal !== undefined)(
    'asks about each such row on a terminal, where it may be decided later',
    async () => {
      const rows = [
        { id: 'S-1', note: 'a' },
        { id: 'S-2', note: 'b' },
      ];
      const season = table('season.csv', ...rows);
      await home.do('import', season);
      table('season.csv', ...rows.map(({ id, note }) => ({ id: `${id}0`, note })));
      await using terminal = await startTerminal(['import', season], home, {
        columns: 100,
        rows: 60,
      });
      await answer(terminal, 'row 2', 'later', '❯ decide later');
      await answer(terminal, 'row 3', '', '❯ the same find');
      expect((await terminal.ended()).code).toBe(3);
      expect((await home.json('list')).map(({ local_id }) => local_id).sort()).toEqual([
        'S-1',
        'S-20',
      ]);
    },
  );

  test.each([
    {
      change: 'a row removed and the rest numbered anew',
      rows: [
        ['1', 'B'],
        ['2', 'C'],
      ],
      asked: ['2', '3'],
      gone: ['1'],
    },
    {
      change: 'a row inserted before the others',
      rows: [
        ['1', 'N'],
        ['2', 'A'],
        ['3', 'B'],
        ['4', 'C'],
      ],
      asked: ['1', '1', '2', '3'],
      gone: [],
    },
    {
      change: 'two numbers swapped',
      rows: [
        ['1', 'B'],
        ['2', 'A'],
        ['3', 'C'],
      ],
      asked: ['2', '1'],
      gone: [],
    },
  ])(
    'asks about each find that moved to another number: $change',
    async ({ rows, asked, gone }) => {
      const path = table(
        'season.csv',
        ...listRows([
          ['1', 'A'],
          ['2', 'B'],
          ['3', 'C'],
        ]),
      );
      await imports(path);
      table('season.csv', ...listRows(rows));
      const { report } = await imports(path);
      expect(report).toMatchObject({ added: 0, updated: 0, not_in_table: gone });
      const questions = report.issues.filter(({ rule }) => rule !== 'not-harvested');
      expect(questions.map(({ find }) => find)).toEqual(asked);
    },
  );

  test('knows a sent find by its old and its new number', async () => {
    const season = table('season.csv', { id: 'S-l1', note: 'přezka' });
    await home.do('import', season);
    await home.do('push');
    table('season.csv', { id: 'S-11', note: 'přezka' });
    expect((await imports(season)).report).toMatchObject({ added: 0, questions: 1 });
    await home.do('resolve', 'S-l1', '--answer', 'same');
    expect((await imports(season)).report).toMatchObject({ added: 0, unchanged: 1 });
    expect((await home.json('show', 'S-11')).local_id).toBe('S-l1');
  });

  test('exports its renumbered finds so that they are unchanged when imported', async () => {
    const rows = ['a', 'b', 'c', 'd'];
    const number = (contents: readonly string[]) =>
      table('season.csv', ...listRows(contents.map((content, index) => [`${index + 1}`, content])));
    await home.do('import', number(rows));
    await expectEnded(home.pas('import', number(rows.slice(1))), 3);
    await home.do('resolve', '--all', 'same');
    await home.do('push', '2', '3');
    const file = join(home.folder, 'export.csv');
    await home.do('export', file);
    expect((await imports(file)).report).toMatchObject({ unchanged: 4, questions: 0 });
  });

  test('imports two equal rows as two finds', async () => {
    const season = table('season.csv', { id: 'R-1', note: 'střep' });
    await home.do('import', season);
    table('season.csv', { id: 'R-1', note: 'střep' }, { id: 'R-2', note: 'střep' });
    expect((await imports(season)).report).toMatchObject({ added: 1, questions: 0 });
  });
});

describe('another table with the same local ids', () => {
  test('is asked about as other finds, with both places named, and imported with a prefix, repeatedly', async () => {
    await home.do(
      'import',
      table('vsesoky.csv', { id: '1', object: 'HES-000691', place: 'Všesoky' }),
    );
    const other = table('petrovice.csv', { id: '1', object: 'HES-000693', place: 'Petrovice' });
    const { run, report } = await imports(other);
    await expectEnded(run, 3);
    expect(report).toMatchObject({ added: 0, updated: 0, questions: 1 });
    expect(report.issues).toContainEqual(
      expect.objectContaining({
        rule: 'question',
        find: '1',
        message: expect.stringMatching(/Všesoky → Petrovice.*pas resolve 1/s),
      }),
    );
    expect((await imports(other, '--id-prefix', 'PET-')).report).toMatchObject({ added: 1 });
    table('petrovice.csv', { id: '1', object: 'HES-000693', place: 'Petrovice', note: 'u cesty' });
    expect((await imports(other, '--id-prefix', 'PET-')).report).toMatchObject({
      added: 0,
      updated: 1,
    });
    expect(await readElements('PET-1')).toMatchObject({
      poznamka: 'u cesty',
      lokalizace: 'Petrovice',
    });
    expect(await readElements('1')).toMatchObject({ lokalizace: 'Všesoky' });
  });

  test('whose prefix is forgotten makes no second find, and keeps it', async () => {
    const other = table(
      'petrovice.csv',
      { id: '1', place: 'Petrovice' },
      { id: '2', place: 'les' },
    );
    await home.do('import', other, '--id-prefix', 'PET-');
    table(
      'petrovice.csv',
      { id: '1', place: 'Petrovice' },
      { id: '2', place: 'les', note: 'u cesty' },
      { id: '3', place: 'pole' },
    );
    expect((await imports(other)).report).toMatchObject({ added: 1, updated: 1, unchanged: 1 });
    expect(await readElements('PET-3')).toMatchObject({ lokalizace: 'pole' });
  });
});

test.each([
  ['another project', 'M-202400202', { updated: 0, questions: 3 }],
  ['no project', '', { updated: 3, questions: 0 }],
])('a table of finds that had %s adds none of them again', async (_, before, effect) => {
  const season = readFileSync(writeSeason(home, 3), 'utf8');
  await imports(home.file('t.csv', season.replaceAll('C-202400101', before)));
  const { report } = await imports(home.file('corrected.csv', season));
  expect(report).toMatchObject({ added: 0, ...effect });
});

test('a copy of a table with other local ids and one corrected day is asked about, row by row', async () => {
  const rows = ['1', '2', '3'].map((id) => ({ id: `K-${id}`, day: `2024-03-0${id}`, note: id }));
  const [one, two, three] = rows as [Row, Row, Row];
  await home.do('import', table('t.csv', ...rows));
  await home.do('push');
  const copy = [one, two, { ...three, day: '2024-04-03' }].map((row) => ({
    ...row,
    id: row.id.replace('K', 'Q'),
  }));
  const { report } = await imports(table('copy.csv', ...copy));
  expect(report).toMatchObject({ added: 0, questions: 3 });
  await expectEnded(home.pas('push'), 6, 'open question: 3');
});

describe('a find of one table that is like a find of another one', () => {
  const first = { id: 'K-1', day: '2024-03-09', place: 'horní pole', note: 'první' };
  const second = { id: 'K-2', day: '2024-03-12', place: 'dolní pole', note: 'druhý' };
  const isAsked = async (name: string): Promise<boolean> =>
    (await home.pas('status')).stdout.includes(`${name}: it is the same as K-2`);

  test('is asked about when its row was asked about a third one', async () => {
    await home.do('import', table('a.csv', second, { ...second, id: 'K-3', note: 'třetí' }));
    await home.pas('import', table('b.csv', { ...second, id: 'B-1', note: 'čtvrtý' }));
    await home.do('resolve', 'K-2', '--answer', 'new');
    expect((await home.pas('status')).stdout).toContain('B-1: it differs little from K-3');
  });

  test('is asked about, and not a find that only has its number', async () => {
    await home.do('import', table('a.csv', first, second));
    await home.pas('import', table('b.csv', { ...second, id: 'K-1' }));
    for (const words of [
      ['remove', 'K-2'],
      ['resolve', 'K-2', '--drop'],
    ])
      await expectEnded(home.pas(...words), 2, 'Answer first: pas resolve K-2');
    await home.do('resolve', 'K-2', '--answer', 'same');
    expect(await findStates(home)).toEqual({ 'K-1': 'queued', 'K-2': 'queued' });
  });

  test('that two tables ask about keeps a question after one answer, which is named', async () => {
    await home.do('import', table('a.csv', second));
    const other = { ...second, id: '1' };
    await home.pas('import', table('j.csv', { ...other, object: 'HES-000660' }));
    await home.pas('import', table('l.csv', { ...other, place: 'les' }));
    const run = await home.do('resolve', 'K-2', '--answer', 'new');
    expect(run.stderr).toMatch(/l\.csv differs little from K-2.*Answer: pas resolve K-2$/m);
    await home.do('resolve', 'K-2', '--answer', 'new');
    expect(await findStates(home)).toEqual({ 'K-2': 'queued', '1': 'queued', '1-2': 'queued' });
  });

  test('is asked about when its row becomes complete', async () => {
    await home.do('import', table('a.csv', first, second));
    await home.do('import', table('b.csv', { id: 'J-1', day: '', place: '' }));
    await home.do('import', table('b.csv', { ...second, id: 'J-1' }));
    expect(await isAsked('J-1')).toBe(true);
  });

  test('is asked about when one command makes them equal', async () => {
    await home.do('import', table('a.csv', first, { ...second, depth: '10' }));
    const other = { ...second, id: 'J-1', object: 'HES-000660', depth: '60', place: 'les' };
    await home.do('import', table('b.csv', other));
    const values = ['druh_nalezu=HES-000691', 'hloubka=10', 'lokalizace=dolní pole', 'poznamka=x'];
    const sets = values.flatMap((value) => ['--set', value]);
    await home.do('edit', 'K-2', 'J-1', ...sets, '--yes');
    expect(await isAsked('J-1')).toBe(true);
  });

  test.each([
    ['remove', 'K-2', '--yes'],
    [
      'edit',
      'K-2',
      ...['lokalizace=les', 'poznamka=x', 'hloubka=9'].flatMap((set) => ['--set', set]),
    ],
  ])('is no question once the other one is gone or another: %s', async (...command) => {
    await home.do('import', table('a.csv', second));
    await home.do('import', table('b.csv', { id: 'J-1', day: '', place: '' }));
    await home.do('import', table('b.csv', { ...second, id: 'J-1' }));
    expect(await isAsked('J-1')).toBe(true);
    await home.do(...command);
    expect((await home.pas('status')).stdout).not.toContain('in this outbox');
  });
});

test('a number in a table is ambiguous where another file has given it to another find', async () => {
  const rows = ['1', '2', '3', '4'].map((id) => ({
    id: `K-${id}`,
    day: `2024-03-0${id}`,
    note: `nález ${id}`,
  }));
  const [one, two, , four] = rows as [Row, Row, Row, Row];
  await home.do('import', table('t.csv', ...rows));
  await home.pas('import', table('t final.csv', one, two, { ...four, id: 'K-3' }));
  await home.do('resolve', '--all', 'same');
  const numbers = home.file('numbers.csv', 'local_id;evidencni_cislo\nK-3;MB 3\n');
  const { code, stdout } = await home.pas('number', 'import', numbers);
  expect([code, stdout]).toEqual([3, expect.stringContaining('K-3 is ambiguous')]);
});

describe('an export that is imported again', () => {
  test('has the numbers that were set since, and changes nothing', async () => {
    const season = readFileSync(writeSeason(home, 3), 'utf8').trim().split('\n');
    const numbered = season.map(
      (row, index) => `${row};${index === 0 ? 'evidencni_cislo' : `N ${index}`}`,
    );
    await home.do('import', home.file('t.csv', numbered.join('\n')));
    for (const name of ['K-1', 'K-2'])
      await home.do('number', 'set', name, `${name} b`, '--replace');
    await home.do('export', join(home.folder, 'e.csv'));
    const { run, report } = await imports(join(home.folder, 'e.csv'));
    expect([run.code, report.questions, report.unchanged]).toEqual([0, 0, 3]);
  });

  test('leaves its finds the numbers of their own table', async () => {
    const rows: Row[] = [
      { id: '1', day: '2024-03-01' },
      { id: '2', day: '2024-03-02', note: 'druhý' },
    ];
    await home.do('import', table('t.csv', ...rows), '--id-prefix', 'PET-');
    await home.do('export', join(home.folder, 'e.csv'));
    await home.do('import', join(home.folder, 'e.csv'));
    const third = { id: '3', day: '2024-03-03', note: 'třetí' };
    const { run, report } = await imports(table('t.csv', ...rows, third));
    expect([run.code, report.unchanged, report.added]).toEqual([0, 2, 1]);
    expect((await home.pas('list')).stdout).toContain('PET-3');
  });
});

test('each of two tables changes only what its own rows changed, also after an undo', async () => {
  const first = table('t.csv', { id: 'A-1', depth: '10', note: 'spona' });
  await home.do('import', first);
  const corrected = table('corrected.csv', { id: 'A-1', depth: '12' });
  await home.do('import', corrected);
  await home.do('undo');
  await home.do('import', corrected);
  for (const each of [first, corrected])
    expect((await imports(each)).report).toMatchObject({ unchanged: 1, questions: 0 });
  expect(await readElements('A-1')).toMatchObject({ hloubka: 12, poznamka: 'spona' });
  await expectEnded(home.pas('import', table('t.csv', { id: 'A-1', depth: '11' })), 3);
});

test('a number that its table or a person changes is sent in place of one that was set before', async () => {
  const season = writeSeason(home, 2);
  const [header, ...rows] = readFileSync(season, 'utf8').trim().split('\n');
  await home.do('import', season);
  for (const name of ['K-1', 'K-2']) await home.do('number', 'set', name, `B ${name}`);
  home.file('season.csv', `${header};evidencni_cislo\n${rows[0]};C 1\n${rows[1]};\n`);
  await home.do('import', season, '--on-conflict', 'table');
  await home.do('edit', 'K-2', '--set', 'evidencni_cislo=D 2');
  await home.do('push', '--yes');
  for (const [name, evidencni_cislo] of Object.entries({ 'K-1': 'C 1', 'K-2': 'D 2' }))
    expect(await home.json('show', name)).toMatchObject({
      elements: { evidencni_cislo },
      entries: [{ kind: 'import' }],
    });
});

test('differences to sent finds are listed for the curator, and numbers are queued', async () => {
  const season = await sendSeason(home, 1, { state: 2 });
  const text = readFileSync(season, 'utf8').split('\n');
  const header = `${text[0]};evidencni_cislo`;
  home.file('season.csv', `${header}\n${(text[1] ?? '').replace('pole 1', 'les 1')};A 12/2024\n`);
  const path = join(home.folder, 'season.csv');
  const { run, report } = await imports(path, '--corrections', 'corrections.csv');
  await expectEnded(run, 3);
  expect(report).toMatchObject({ already_sent: 1, numbers: 1 });
  expect(JSON.stringify(report)).not.toContain('--corrections');
  const lines = readFileSync(join(home.folder, 'corrections.csv'), 'utf8')
    .replace('\ufeff', '')
    .trim()
    .split('\r\n');
  expect(lines[0]).toBe('find;record;element;sent;table');
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/^K-1;C-202400101-N\d+;lokalizace;pole 1;les 1$/),
  ]);
  expect((await home.json('show', 'K-1')).entries).toContainEqual(
    expect.objectContaining({ kind: 'number', state: 'queued' }),
  );
  await expectEnded(home.pas('import', path, '--corrections', 'corrections.csv'), 2);
});

test('a number that a table changes and changes back is queued each time, and listed as it is now', async () => {
  const season = await sendSeason(home, 1, { state: 2 });
  const [header, row] = readFileSync(season, 'utf8').split('\n');
  for (const [at, number] of ['E 1', 'E 2', 'E 1'].entries()) {
    home.file('season.csv', `${header};evidencni_cislo\n${row};${number}\n`);
    const { report } = await imports(season, '--corrections', `${at}.csv`);
    expect(report).toMatchObject({ numbers: 1 });
    await home.do('push', '--yes');
    const listed = await home.json('list', '--where', `evidencni_cislo=${number}`);
    expect(listed.map(({ elements }) => elements.evidencni_cislo)).toEqual([number]);
  }
});

test('a number that a curator has set since is not replaced, and that of the row is listed as a correction', async () => {
  const season = await sendSeason(home, 1, { state: 2 });
  const [{ ident_cely: ident } = { ident_cely: '' }] = await home.json('list');
  await curatorSets(mock.service, ident, 'CURATOR');
  await home.do('pull');
  const text = readFileSync(season, 'utf8').split('\n');
  home.file('season.csv', `${text[0]};evidencni_cislo\n${text[1]};A 12/2024\n`);
  const { report } = await imports(season, '--corrections', 'corrections.csv');
  expect(report).toMatchObject({ already_sent: 1, numbers: 0 });
  expect(readFileSync(join(home.folder, 'corrections.csv'), 'utf8')).toMatch(
    /^K-1;[^;]+;evidencni_cislo;;A 12\/2024\r$/m,
  );
});

test('a number that the account may not set is listed as a correction', async () => {
  const homeCopy = await signedIn(mock.service, WITHOUT_PAUSES, 'researcher');
  const season = await sendSeason(homeCopy, 1, { state: 1 });
  const text = readFileSync(season, 'utf8').split('\n');
  homeCopy.file('season.csv', `${text[0]};evidencni_cislo\n${text[1]};A 12/2024\n`);
  await homeCopy.pas('import', season, '--corrections', 'corrections.csv');
  expect(readFileSync(join(homeCopy.folder, 'corrections.csv'), 'utf8')).toMatch(
    /^K-1;[^;]+;evidencni_cislo;;A 12\/2024\r$/m,
  );
  expect((await homeCopy.json('show', 'K-1')).entries).toMatchObject([{ kind: 'import' }]);
});

describe('photographs', () => {
  const names = async (find: string): Promise<string[]> => {
    const exported = await home.do('export', find);
    return (exported.stdout.trim().split('\r\n')[1]?.split(';').at(-1) ?? '')
      .split(',')
      .filter((name) => name !== '');
  };

  test('follow the rows that name them until they are sent, also past an import without their folder', async () => {
    writeSeason(home, 2, { photos: true });
    const first = 'K-1';
    const second = 'K-2';
    const path = join(home.folder, 'season.csv');
    const season = readFileSync(path, 'utf8');
    await home.do('import', path);
    const one = (await names(first))[0] ?? '';
    const two = (await names(second))[0] ?? '';
    const away = dirname(home.file(join('away', 'other.txt'), ''));
    await home.do('import', path, '--photos', away);
    home.file('season.csv', season.replace(one, '@').replace(two, one).replace('@', two));
    expect((await imports(path)).report).toMatchObject({ photos: 2, photos_removed: 2 });
    expect([await names(first), await names(second)]).toEqual([[two], [one]]);
    home.file('season.csv', season.replace(one, '').replace(two, ''));
    expect((await imports(path)).report).toMatchObject({ photos: 0, photos_removed: 2 });
    expect([await names(first), await names(second)]).toEqual([[], []]);
  });

  test('of another table are sent with those of the find that its row is', async () => {
    const row = { day: '2024-03-09', note: 'spona' };
    for (const [index, id] of ['E', 'J'].entries()) {
      const photos = basename(home.file(`${id}.png`, tinyPng(index)));
      await home.pas('import', table(`${id}.csv`, { ...row, id, photos }));
    }
    await home.do('resolve', 'E', '--answer', 'same');
    expect((await home.do('show', 'J')).stdout).toMatch(
      /E\.png.*queued\s+photograph J\.png.*queued/,
    );
  });

  test('that were sent stay and are named', async () => {
    writeSeason(home, 1, { photos: true });
    const path = join(home.folder, 'season.csv');
    await home.do('import', path);
    await home.do('push');
    const [name = ''] = await names('K-1');
    home.file('season.csv', readFileSync(path, 'utf8').replace(name, ''));
    const { report } = await imports(path);
    expect(report).toMatchObject({ photos_removed: 0 });
    expect(listRules(report)).toContain('photo-name-sent');
    expect(await names('K-1')).toEqual([name]);
  });
});

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

test('an edited row never changes a sent find, and is reported', async () => {
  const table = writeSeason(home, 2);
  await home.json('import', table);
  await home.do('push');
  const sentText = (await home.do('show', 'K-2', '--xml')).stdout;
  edit(table, 'pole 2', 'les 2');
  edit(table, 'nález 2', '');
  const run = await home.pas('import', table, '--json');
  expect(run.stdout).toContain('poznamka nález 2 → –, lokalizace pole 2 → les 2. The find');
  await expectEnded(run, 3);
  expect(JSON.parse(run.stdout)).toMatchObject({
    already_sent: 1,
    unchanged: 1,
    issues: [{ rule: 'already-sent' }],
  });
  expect((await home.do('show', 'K-2', '--xml')).stdout).toBe(sentText);
  expect((await home.json('show', 'K-2')).elements['lokalizace']).toBe('pole 2');
});

test('an incomplete find is a draft, is never sent, and is queued once its row is complete', async () => {
  const table = writeSeason(home, 1, { state: 2 });
  edit(table, ';HES-000253;', ';;');
  const run = await home.pas('import', table, '--json');
  await expectEnded(run, 3);
  expect(JSON.parse(run.stdout)).toMatchObject({ added: 1, drafts: 1 });
  await home.do('push');
  expect((await home.json('show', 'K-1')).entries).toMatchObject([{ state: 'draft' }]);
  edit(table, ';;HES-000691', ';HES-000253;HES-000691');
  expect(await home.json('import', table)).toMatchObject({ updated: 1, drafts: 0 });
  await home.do('push');
  expect((await home.json('show', 'K-1')).entries).toMatchObject([{ state: 'accepted' }]);
});

test('a refused find shows the service’s words beside the element, and is sent again once its row is corrected', async () => {
  const table = writeSeason(home, 1, { state: 2 });
  edit(table, 'HES-000691', 'HES-999999');
  await home.json('import', table);
  await expectEnded(home.pas('push'), 3);
  const refused = await home.do('show', 'K-1');
  expect(refused.stdout).toMatch(/import: refused/);
  expect(refused.stdout).toMatch(/druh_nalezu/);
  edit(table, 'HES-999999', 'HES-000691');
  await home.json('import', table);
  await home.do('push');
  expect((await home.json('show', 'K-1')).entries).toMatchObject([{ state: 'accepted' }]);
});

test('of a table with very many errors the first are shown, and the copy has all', async () => {
  const table = home.file(
    'bad.csv',
    `local_id;projekt;stav\n${'A;B\n'.repeat(6)}${'A;B;9\n'.repeat(11_000)}`,
  );
  const { issues } = await home.json('import', table, '--issues-to', 'to-mend.csv');
  expect(issues.filter(({ rule }) => rule !== 'more-errors')).toHaveLength(10_000);
  expect(issues.at(-1)).toMatchObject({
    rule: 'more-errors',
    message: expect.stringMatching(/^Errors that are not listed: 1005/),
  });
  const copied = readFileSync(join(home.folder, 'to-mend.csv'), 'utf8')
    .trim()
    .split('\r\n')
    .slice(1);
  expect(copied).toHaveLength(11_000);
  const faulty = copied.slice(0, 10_999);
  expect(faulty.every((line) => line.includes('have the same local_id'))).toBe(true);
});
