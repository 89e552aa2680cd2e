import { beforeEach, describe, expect, test } from 'vitest';
import { expectEnded, type Home, INIT_OFFLINE, makeHome, setFlags } from '../support/run-pas.ts';

type Report = {
  readonly drafts: number;
  readonly numbers: readonly { readonly find: string; readonly value: string }[];
  readonly issues: readonly {
    readonly rule: string;
    readonly severity: string;
    readonly row?: number;
    readonly message: string;
  }[];
};

let home: Home;

beforeEach(async () => {
  home = makeHome();
  await home.do(...INIT_OFFLINE);
});

const FIXED = ['projekt=C-202400101', 'stav=1', 'geom_system=4326', 'pristupnost=HES-000865'];
const SET = setFlags(...FIXED);

async function report(...words: string[]): Promise<Report> {
  return JSON.parse((await home.pas(...words, '--json')).stdout) as Report;
}

function listErrors({ issues }: Report): string[] {
  return issues
    .filter(({ severity }) => severity === 'error')
    .map(({ row, message }) => `${row ?? ''} ${message}`);
}

describe('a registration number of two finds', () => {
  const both = [
    '2 B 44 is also the number of K-2. Give each find its own.',
    '3 B 44 is also the number of K-1. Give each find its own.',
  ];

  test('is an error of both rows of a table, and neither leaves', async () => {
    const file = home.file('t.csv', 'local_id;evidencni_cislo;lokalizace\nK-1;B 44;a\nK-2;B 44;b');
    const imported = await report('import', file, ...SET);
    expect([listErrors(imported), imported.drafts]).toEqual([both, 2]);
    expect(listErrors(await report('validate'))).toEqual(both);
    const push = await home.pas('push', '--dry-run');
    expect(push.stdout + push.stderr).toContain('B 44 is also the number of');
  });

  test('is an error of the row where a find here has it, until one of them is corrected', async () => {
    await home.pas('import', home.file('a.csv', 'local_id;evidencni_cislo\nK-1;B 44'), ...SET);
    const second = (number: string) =>
      report('import', home.file('b.csv', `local_id;evidencni_cislo\nK-2;${number}`), ...SET);
    expect(listErrors(await second('B 44'))).toEqual([
      '2 B 44 is also the number of K-1. Give each find its own.',
    ]);
    expect(listErrors(await second('B 45'))).toEqual([]);
    expect(listErrors(await report('validate'))).toEqual([]);
  });

  test('is set neither by a table nor by hand, while two finds may exchange theirs', async () => {
    const finds = home.file('a.csv', 'local_id;evidencni_cislo\nK-1;A 1\nK-2;A 2\nK-3;A 3');
    await home.pas('import', finds, ...SET);
    const numbers = home.file('n.csv', 'local_id;evidencni_cislo\nK-1;A 2\nK-2;A 1\nK-3;A 1');
    const imported = await report('number', 'import', numbers, '--replace');
    expect(imported.numbers).toEqual([expect.objectContaining({ find: 'K-1', value: 'A 2' })]);
    expect(listErrors(imported)).toEqual([
      '3 A 1 is also the number of K-3. Give each find its own.',
      '4 A 1 is also the number of K-2. Give each find its own.',
    ]);
    await expectEnded(
      home.pas('number', 'set', 'K-3', 'A 2', '--replace'),
      2,
      'A 2 is also the number of K-1',
    );
  });
});

describe('a character of a number that a person may not see', () => {
  test('is named where two numbers look the same', async () => {
    await home.pas('import', home.file('a.csv', 'local_id;evidencni_cislo\nK-1;A 8'), ...SET);
    const set = await home.pas('number', 'set', 'K-1', '\u0410 8');
    expect(set.stderr).toContain('differ in character 1: "A" (U+0041) and "\u0410" (U+0410)');
  });
});

describe('the columns of a table of numbers', () => {
  beforeEach(async () => {
    const file = home.file('finds.csv', 'local_id\nT-1\nT-2\nT-3\nT-4');
    await home.pas('import', file, ...SET);
  });

  test('are an error that lists them where two may be the number', async () => {
    const file = home.file('n.csv', 'local_id;inv. č.;ev. č.\nT-1;I 1;E 1\nT-2;I 2;E 2');
    const plain = await home.pas('number', 'import', file);
    expect([plain.code, plain.stdout]).toEqual([
      3,
      expect.stringMatching(
        /inv\. č\., ev\. č\.[\s\S]*--map[\s\S]*"inv\. č\." = "evidencni_cislo"/,
      ),
    ]);
    const map = home.file('n.toml', 'version = 1\n[columns]\n"ev. č." = "evidencni_cislo"');
    expect((await report('number', 'import', file, '--map', map)).numbers).toMatchObject([
      { find: 'T-1', value: 'E 1' },
      { find: 'T-2', value: 'E 2' },
    ]);
  });

  test('are the same for the wizard of finds', async () => {
    const file = home.file('n.csv', 'Terénní číslo;Inv. č.;Předmět\nP 1;T-1;spona\nP 2;T-2;mince');
    const wizard = await home.pas('import', file, '--wizard', '--yes', '--json');
    const { columns } = JSON.parse(wizard.stdout) as { columns: { element: string }[] };
    expect(columns[1]?.element).toBe('local_id');
  });
});
