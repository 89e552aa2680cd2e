import { describe, expect, test } from 'vitest';
import { expectEnded } from '../support/run-pas.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock);

const HEADER =
  'projekt;stav;pristupnost;geom_system;druh_nalezu;lon;lat;datum_nalezu;lokalizace;poznamka';

type Row = { number?: string; object?: string; day?: string; place?: string; note?: string };

/** Each row has a point of its own, 40 m from the next one. */
function table(name: string, rows: readonly Row[], project = 'C-202400101'): string {
  const lines = rows.map(
    ({ number, object = 'HES-000691', day = '2024-06-01', place = 'pole', note = '' }, at) => {
      const lat = (49.8423 + at * 0.0004).toFixed(5);
      const cells = [project, 1, 'HES-000867', 4326, object, '15.17030', lat, day, place, note];
      return [...(number === undefined ? [] : [number]), ...cells].join(';');
    },
  );
  const isNumbered = rows[0]?.number !== undefined;
  return home.file(name, `${[isNumbered ? `local_id;${HEADER}` : HEADER, ...lines].join('\n')}\n`);
}

const THREE = ['1', '2', '3'].map((number) => ({ number }));
const CORRECTED = [{ number: '1' }, { number: '2', note: 'po konzervaci' }, { number: '3' }];
const UNNUMBERED = [{ note: 'a' }, { note: 'b' }, { note: 'c' }];

async function listNotes(): Promise<Record<string, unknown>> {
  const finds = await home.json('list');
  return Object.fromEntries(
    finds.map(({ local_id: name, elements }) => [name, elements['poznamka'] ?? '']),
  );
}

async function listAsked() {
  const { needs_person } = await home.json('status');
  return needs_person.filter(({ held }) => held !== undefined);
}

describe('a table that was saved under another name', () => {
  test('is the same table: a corrected value changes its find, and none is added', async () => {
    await home.do('import', table('nalezy v1.csv', THREE));
    const report = await home.json('import', table('nalezy v2.csv', CORRECTED));
    expect(report).toMatchObject({ added: 0, updated: 1, unchanged: 2, questions: 0 });
    expect(await listNotes()).toEqual({ 1: '', 2: 'po konzervaci', 3: '' });
  });

  test('asks about a row with two of object, place and day changed', async () => {
    await home.do('import', table('v1.csv', THREE));
    const changed = { number: '2', object: 'HES-000693', day: '2024-07-02' };
    const run = await home.pas(
      'import',
      table('v2.csv', [{ number: '1' }, changed, { number: '3' }]),
    );
    expect([run.code, run.stdout]).toEqual([3, expect.stringContaining('pas resolve 2')]);
    await home.do('resolve', '2', '--answer', 'same');
    expect((await home.json('show', '2')).elements).toMatchObject({
      datum_nalezu: '2024-07-02',
    });
  });
});

describe('a table without numbers that is corrected and saved again', () => {
  test('makes no second find: the corrected row is a question, which is answered for all', async () => {
    await home.do('import', table('a.csv', UNNUMBERED));
    const corrected = table('b.csv', [{ note: 'a' }, { note: 'b2' }, { note: 'c' }]);
    const run = await home.pas('import', corrected, '--json');
    await expectEnded(run, 3);
    expect(JSON.parse(run.stdout)).toMatchObject({ added: 0, unchanged: 2, questions: 1 });
    expect(Object.values(await listNotes())).toEqual(['a', 'b', 'c']);
    const [asked] = await listAsked();
    expect(asked?.held).toMatchObject({
      question: expect.stringContaining('b → b2'),
      answers: ['same', 'new'],
    });
    expect(asked?.command).toBe(`pas resolve ${asked?.find}`);
    await expectEnded(home.pas('push'), 6);
    await home.do('resolve', '--all', 'same');
    expect(Object.values(await listNotes())).toEqual(['a', 'b2', 'c']);
    expect(await listAsked()).toEqual([]);
    expect(await home.json('import', corrected)).toMatchObject({ unchanged: 3, questions: 0 });
    await home.do('push');
  });

  test('asks about a sent find, which another one may resemble', async () => {
    await home.do('import', table('a.csv', UNNUMBERED));
    await home.do('push');
    const corrected = table('b.csv', [{ note: 'a' }, { note: 'b2' }, { note: 'c' }]);
    await expectEnded(home.pas('import', corrected), 3);
    expect(await listAsked()).toHaveLength(1);
    await home.do('resolve', '--all', 'new');
    expect(Object.values(await listNotes())).toEqual(['a', 'b', 'c', 'b2']);
    await home.do('push');
    expect(await home.json('import', corrected)).toMatchObject({ added: 0, questions: 0 });
  });
});

describe('the number that a person wrote', () => {
  const OTHERS = THREE.map((row) => ({
    ...row,
    object: 'HES-000693',
    day: '2024-08-09',
    note: 'x',
  }));

  test('is the name of the find, behind the project where another project has it', async () => {
    await home.do('import', table('a.csv', THREE));
    const other = table('b.csv', OTHERS, 'C-202400102');
    expect(await home.json('import', other)).toMatchObject({ added: 3, questions: 0 });
    expect(Object.keys(await listNotes())).toEqual([
      '1',
      '2',
      '3',
      'C-202400102-1',
      'C-202400102-2',
      'C-202400102-3',
    ]);
    const again = table(
      'b saved again.csv',
      [...OTHERS, { number: '4', note: 'y' }],
      'C-202400102',
    );
    expect(await home.json('import', again)).toMatchObject({ added: 1, unchanged: 3 });
    expect(Object.keys(await listNotes())).toContain('C-202400102-4');
  });
});

test('of two tables with the same numbers and days, none overwrites the other', async () => {
  const finder = (name: string): string => `local_id;nalezce;${HEADER}\n1;${name};`;
  const rest = 'C-202400101;1;HES-000867;4326;HES-000691;15.1703;49.84230;2024-06-01;pole;\n';
  await home.do('import', home.file('n.csv', `${finder('Novák, Jan')}${rest}`));
  const other = home.file('m.csv', `${finder('Malina, Petr')}${rest}`);
  await expectEnded(home.pas('import', other), 3);
});

describe('a find that was changed here and in its table', () => {
  test.each([
    ['table', 'table'],
    ['mine', 'here'],
  ])('takes the values of --on-conflict %s', async (choice, note) => {
    await home.do('import', table('a.csv', THREE));
    await home.do('edit', '2', '--set', 'poznamka=here');
    const changed = table('a.csv', [
      { number: '1' },
      { number: '2', note: 'table' },
      { number: '3' },
    ]);
    expect(await home.json('import', changed, '--on-conflict', choice)).toMatchObject({
      questions: 0,
    });
    expect(await listNotes()).toMatchObject({ 2: note });
  });
});

test('an undo of the import takes its questions back', async () => {
  await home.do('import', table('a.csv', UNNUMBERED));
  await home.pas('import', table('b.csv', [{ note: 'a' }, { note: 'b2' }, { note: 'c' }]));
  expect(await listAsked()).toHaveLength(1);
  await home.do('undo');
  expect(await listAsked()).toEqual([]);
});
