import { beforeEach, expect, test } from 'vitest';
import { expectEnded } from '../support/expect-ended.ts';
import { type Home, signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
let home: Home;
let czech: Home;

beforeEach(async () => {
  home = await signedIn(mock.service, ['--set', 'min_interval_ms=10', '--set', 'settle_ms=600000']);
  czech = home.with({ PAS_LANG: 'cs' });
});

test('a table with errors is reported in Czech, with numbers and nouns in the right forms', async () => {
  const table = czech.file(
    'bad.csv',
    [
      'local_id;hloubka;datum_nalezu;stav;predano',
      'K-1;1,5;03/04/2024;4;snad',
      'K-2;30',
      'K-3;30;2024-04-03;1;ne;a;b',
      'K-1;2;2024-04-03;1;ne',
      'K-5;3;2024-04-03;2;ne',
    ].join('\n'),
  );
  const { code, stdout, stderr } = await czech.pas('import', table);
  const output = stdout + stderr;
  expect(code).toBe(3);
  expect(output).toContain('Řádek má jen 2 buňky, záhlaví 5.');
  expect(output).toContain(
    'Řádek má 7 buněk, záhlaví jen 5. Pokud text obsahuje „;“, dejte ho do uvozovek.',
  );
  expect(output).toContain('Řádky 2 a 5 mají stejné local_id „K-1“.');
  expect(output).toContain(
    'U nálezu pro stav 2 musí být vyplněn prvek okolnosti (nálezové okolnosti).',
  );
  expect(output).not.toMatch(/Give each find|Fill it in|The row has/);

  czech.file(
    'bad.csv',
    'local_id;hloubka;datum_nalezu;stav;predano\nK-1;1,5;03/04/2024;4;snad\nK-2;3',
  );
  const again = (await czech.pas('import', table)).stdout;
  expect(again).toContain('„1,5“ není počet celých centimetrů bez jednotky. Napište 1 nebo 2.');
  expect(again).toContain(
    '„03/04/2024“ má tvar, který může znamenat různé dny. Napište 2024-04-03 nebo 2024-03-04.',
  );
  expect(again).toContain('„4“ není stav, kterého může import dosáhnout.');
  expect(again).toContain('„snad“ není ano ani ne.');
});

test('a refusal quotes the service inside a Czech sentence', async () => {
  await importSeason(home, 1, { photos: true });
  await mock.service.faults({ endpoint: 'photo', when: { nth: 1 }, times: 1, fault: 'virus' });
  const pushed = await czech.pas('push');
  const refused = await home.json<{ needs_person: { reason: string }[] }>('status');
  const words = refused.needs_person[0]?.reason ?? '';
  expect(words).not.toBe('');
  expect(pushed.stdout + pushed.stderr).toContain(`fotografie nálezu K-1 – odmítnuto: ${words}`);
  expect(pushed.stdout + pushed.stderr).toContain('1 přijato, 1 odmítnuto');
  expect((await czech.pas('status')).stdout).toContain(`fotografie nálezu K-1: ${words}`);
});

test('evidence is shown in the language of the reader, and is the same in every language', async () => {
  await importSeason(home, 1);
  await mock.service.faults({ endpoint: 'import', fault: '500-before-save' });
  const pushed = await czech.pas('push');
  await expectEnded(pushed, 6);
  const reconciled = await czech.pas('reconcile');
  expect(reconciled.stdout).toContain('ve sklizni není žádný jiný záznam');
  await home.pas('reconcile');
  const shown = await home.json<{ entries: { evidence: { verdict: string; reason: string }[] }[] }>(
    'show',
    'K-1',
  );
  expect(shown.entries[0]?.evidence).toHaveLength(1);
  expect(shown.entries[0]?.evidence[0]).toMatchObject({ verdict: 'undecided' });
});

test('missing files and finds are refused in Czech, with advice', async () => {
  const nowhere = await czech.pas('import', 'chybi.csv');
  await expectEnded(nowhere, 2);
  expect(nowhere.stderr).toMatch(/Soubor .*chybi\.csv neexistuje\./);
  const nobody = await czech.pas('resolve', 'K-9', '--drop');
  expect(nobody.stderr).toContain('Nález K-9 tu není.');
  expect(nobody.stderr).toContain('NÁLEZ je local_id');
});

test('every label is Czech: of checks, of the dry run, of validation and of restore', async () => {
  await importSeason(home, 7);
  const checks =
    (await czech.pas('doctor')).stdout.match(/^[✓!✗] \S+/gm)?.map((line) => line.slice(2)) ?? [];
  for (const label of [
    'složka',
    'oprávnění',
    'fronta',
    'profil',
    'hodiny',
    'účet',
    'zápis',
    'schéma',
    'sklizeň',
  ])
    expect(checks).toContain(label);
  const english =
    (await home.pas('doctor')).stdout.match(/^[✓!✗] \S+/gm)?.map((line) => line.slice(2)) ?? [];
  expect(checks.filter((label) => english.includes(label))).toEqual(['node', 'disk']);
  expect((await czech.pas('push', '--dry-run')).stdout).toBe(
    'import: k odeslání 7\nevidenční číslo: k odeslání 0\nfotografie: k odeslání 0\n',
  );
  expect((await czech.pas('validate')).stdout).toContain('V pořádku 7, chybných 0.');
  await czech.do('backup', `${czech.folder}/zaloha.sqlite`);
  const restored = await czech.pas('restore', `${czech.folder}/zaloha.sqlite`, '--yes');
  expect(restored.stdout).toContain(' se 7 nálezy.');
});
