import { beforeAll, describe, expect, test } from 'vitest';
import type { Listed } from '../support/json-output.ts';
import {
  expectEnded,
  type Home,
  jsonLines,
  signedIn,
  splitWords,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { shareMock } from '../support/use-mock.ts';

const mock = shareMock();
let started: Home;

beforeAll(async () => {
  started = await signedIn(mock.service, WITHOUT_PAUSES, 'archaeologist', {
    name: 'people are harvested',
    prepare: (home) =>
      home.pas('harvest-vocab', 'heslo', 'organizace', 'osoba', 'ruian_katastr', '--quiet'),
  });
});

type Candidate = { readonly id: string; readonly label: string };
type Issue = {
  readonly rule: string;
  readonly row: number | null;
  readonly column: string | null;
  readonly severity: string;
  readonly message: string;
  readonly written?: string;
  readonly candidates?: readonly Candidate[];
};
type New = {
  readonly name: string;
  readonly finds: number;
  readonly accepted?: boolean;
  readonly nearest?: readonly Candidate[];
};
type Reported = { readonly issues: readonly Issue[]; readonly new_people: readonly New[] };
const COMMON =
  'C-202400101;2;zlomek nádoby;keramika;doba bronzová;sběr;5;2024-06-01;Louka;4326;badatel';
const HEADER =
  'local_id;nalezce;projekt;stav;druh_nalezu;specifikace;obdobi;okolnosti;hloubka;datum_nalezu;lokalizace;geom_system;pristupnost;geom_x;geom_y';

/** Complete finds, each beside the one before it. */
function makeTable(finders: readonly string[], prefix = 'R', from = 0): string {
  const rows = finders.map((finder, index) => {
    const place = `15,17${String(120 + from + index)};49,84${String(50 + index)}`;
    return `${prefix}${index};"${finder.replaceAll('"', '""')}";${COMMON};${place}`;
  });
  return [HEADER, ...rows].join('\n');
}

async function importing(home: Home, finders: readonly string[], ...flags: string[]) {
  return importTable(home, makeTable(finders), ...flags);
}

async function importTable(home: Home, table: string, ...flags: string[]) {
  const run = await home.pas('import', home.file('finders.csv', table), '--json', ...flags);
  return { code: run.code, ...(JSON.parse(run.stdout) as Reported) };
}

async function readFinders(home: Home): Promise<Record<string, string | undefined>> {
  const listed = await home.json<Listed<{ id: string; text: string } | undefined>[]>('list');
  return Object.fromEntries(
    listed.map(({ local_id, elements: { nalezce } }) => [
      local_id,
      nalezce?.id === ':tba' ? `=${nalezce.text}` : nalezce?.id,
    ]),
  );
}

/** Runs what a message advises. */
async function typed(home: Home, message: string, command: RegExp) {
  const [advised = ''] = command.exec(message) ?? [];
  return home.pas(...splitWords(advised).slice(1));
}

describe('finders in a table', () => {
  test('are resolved to the one known person that they name in any spelling, reported by name and row', async () => {
    const home = started.copy();
    const { code, issues, new_people } = await importing(home, [
      'DVOŘÁKOVÁ, Eva',
      'Dvorakova, Eva',
      'novák, jan',
      'Novak, Jan',
      'Jan Novák',
      'Mgr. et Mgr. Eva Dvořáková, Ph.D.',
      'pí Dvořáková Eva',
      'Novák, Jan',
      'neznámý nálezce',
    ]);
    expect([code, new_people]).toEqual([0, []]);
    expect(await readFinders(home)).toEqual({
      R0: 'OS-001508',
      R1: 'OS-001508',
      R2: 'OS-001507',
      R3: 'OS-001507',
      R4: 'OS-001507',
      R5: 'OS-001508',
      R6: 'OS-001508',
      R7: '=Novák, Jan',
      R8: 'OS-000001',
    });
    expect(issues.filter(({ rule }) => rule === 'finder-matched')).toHaveLength(8);
    expect(issues[0]).toMatchObject({
      rule: 'finder-matched',
      severity: 'warning',
      row: 2,
      column: 'nalezce',
      written: 'DVOŘÁKOVÁ, Eva',
      message: '"DVOŘÁKOVÁ, Eva" is read as OS-001508 (Dvořáková, Eva).',
    });
    expect((await importing(home, ['novák, jan', 'novák, jan'])).issues).toMatchObject([
      { message: '"novák, jan" is read as OS-001507 (Novák, Jan). Finds that use it: 2.' },
    ]);
  });

  test('that match several people are left out, until a mapping says who is meant', async () => {
    const home = started.copy();
    const { code, issues } = await importing(home, [
      'Kučera, Pavel',
      'J. Novák',
      'Mgr. KUČERA Pavel',
      'Jan Novák (ml.)',
    ]);
    expect([code, await readFinders(home)]).toEqual([3, {}]);
    expect(issues).toMatchObject([
      {
        rule: 'term-ambiguous',
        row: 2,
        column: 'nalezce',
        written: 'Kučera, Pavel',
        candidates: [
          { id: 'OS-000304', label: 'Kučera, Pavel' },
          { id: 'OS-000305', label: 'Kučera, Pavel' },
        ],
      },
      { rule: 'finder-unsure', row: 3, written: 'J. Novák', candidates: [{ id: 'OS-001507' }] },
      { rule: 'term-ambiguous', row: 4 },
      { rule: 'finder-unsure', row: 5 },
    ]);
    for (const { message } of issues)
      expect((await typed(home, message, /pas vocab map set .*$/)).code).toBe(0);
    const again = await importing(home, [
      'Kučera, Pavel',
      'J. Novák',
      'Mgr. KUČERA Pavel',
      'Jan Novák (ml.)',
      'Pavel Kučera',
    ]);
    expect([again.code, again.issues]).toEqual([0, []]);
    expect(await readFinders(home)).toEqual({
      R0: 'OS-000304',
      R1: 'OS-001507',
      R2: 'OS-000304',
      R3: 'OS-001507',
      R4: 'OS-000304',
    });
  });

  test('who are unknown are listed with the nearest people, and text that is not a person is an issue', async () => {
    const home = started.copy();
    const { code, issues, new_people } = await importing(home, [
      'Novak, Jam',
      'P. J. Novák',
      'Jana Nováková Svobodová',
      'Petr Novák st.',
      'Novák Jan, Eva Dvořáková',
      'parta z Lhoty',
      'Kolář Hrubý',
      'Novak, Jam',
    ]);
    expect(code).toBe(3);
    expect(new_people).toMatchObject([
      { name: 'Novak, Jam', finds: 2, nearest: [{ id: 'OS-001507', label: 'Novák, Jan' }] },
      { name: 'Novák, P. J.', finds: 1 },
      { name: 'Nováková Svobodová, Jana', finds: 1 },
      { name: 'Novák st., Petr', finds: 1 },
    ]);
    expect(issues.map(({ row, rule }) => `${row} ${rule}`)).toEqual([
      '6 finder-name',
      '7 finder-name',
      '8 finder-name',
    ]);
  });

  test('stay the same if the table is imported again after people were harvested, even if a find was sent', async () => {
    const home = await signedIn(mock.service);
    await home.pas('harvest-vocab', 'heslo', 'organizace', 'ruian_katastr', '--quiet');
    expect((await importing(home, ['Jan Novák'])).code).toBe(0);
    await expectEnded(home.pas('push'), 0);
    await home.pas('harvest-vocab', 'osoba', '--quiet');
    expect(await importing(home, ['Jan Novák'])).toMatchObject({
      code: 0,
      unchanged: 1,
      already_sent: 0,
    });
  });
});

describe('a single finder', () => {
  const find = (finder: string): string[] => [
    '--set',
    `finder=${finder}`,
    '--set',
    'project=C-202400101',
    '--set',
    'crs=4326',
  ];

  test('is matched by pas add as in a table', async () => {
    const home = started.copy();
    const added = await home.json<Reported>('add', '--draft', ...find('novák, jan'));
    expect(added).toMatchObject({ elements: { nalezce: { id: 'OS-001507' } } });
    expect(added.issues[0]).toMatchObject({ rule: 'finder-matched', written: 'novák, jan' });
    const two = await home.pas('add', ...find('Pavel Kučera'), '--json');
    await expectEnded(two, 3);
    expect((JSON.parse(two.stdout) as Reported).issues[0]).toMatchObject({
      rule: 'term-ambiguous',
      written: 'Pavel Kučera',
      candidates: [{ id: 'OS-000304' }, { id: 'OS-000305' }],
    });
  });

  test('is matched by pas edit as in a table, and untouched values stay', async () => {
    const home = started.copy();
    await importing(home, ['Novák, Jan']);
    const edited = await home.json<Reported>('edit', 'R0', '--set', 'nalezce=DVOŘÁKOVÁ Eva');
    expect(edited.issues).toMatchObject([{ rule: 'finder-matched' }]);
    expect(await readFinders(home)).toEqual({ R0: 'OS-001508' });
    const refused = await home.pas('edit', 'R0', '--set', 'nalezce=Kučera Pavel', '--json');
    expect([refused.code, (JSON.parse(refused.stdout) as Reported).issues[0]?.rule]).toEqual([
      3,
      'term-ambiguous',
    ]);
    await expectEnded(home.pas('edit', 'R0', '--set', 'nalezce=OS-000305'), 0);
    expect(await readFinders(home)).toEqual({ R0: 'OS-000305' });
  });

  test('is not changed by an edit of another element, even if it can no longer be resolved', async () => {
    const home = await signedIn(mock.service);
    await home.pas('harvest-vocab', 'heslo', 'organizace', 'ruian_katastr', '--quiet');
    await importing(home, ['Kučera, Pavel']);
    await home.pas('harvest-vocab', 'osoba', '--quiet');
    await expectEnded(home.pas('edit', 'R0', '--set', 'depth_cm=7'), 0);
    expect(await readFinders(home)).toEqual({ R0: '=Kučera, Pavel' });
  });
});

describe('a push that would create new people', () => {
  const pushed = async (home: Home, ...flags: string[]) => {
    const run = await home.pas('push', '--json', ...flags);
    return { code: run.code, lines: jsonLines(run.stdout) };
  };

  test('sends nothing before a person accepts them, and names them with the nearest known people', async () => {
    const home = started.copy();
    await importing(home, ['Novak, Jam', 'Novák, Jan', 'Novak, Jam']);
    const first = await pushed(home);
    expect(first.code).toBe(3);
    expect(first.lines).toMatchObject([
      {
        type: 'new_people',
        people: [
          {
            name: 'Novak, Jam',
            finds: 2,
            accepted: false,
            nearest: [{ id: 'OS-001507', label: 'Novák, Jan' }],
          },
        ],
      },
      { type: 'summary', accepted: 0, queued: 3, requests: 0 },
    ]);
    const run = await home.pas('push');
    await expectEnded(run, 3, 'Novak, Jam: 2 finds, the first is R0');
    expect(run.stderr).toContain('Nearest: Novák, Jan (OS-001507, 1961).');
    expect(run.stderr).toContain('pas push --accept-new-people');
    expect((await typed(home, run.stderr, /pas edit R0 --set nalezce=OS-001507/)).code).toBe(0);
    expect(await readFinders(home)).toMatchObject({ R0: 'OS-001507', R2: '=Novak, Jam' });
    const sent = await pushed(home, 'R0', 'R1', '--on-question', 'send');
    expect(sent.lines.at(-1)).toMatchObject({
      accepted: 2,
    });
  });

  test('is announced by push --dry-run, status and validate', async () => {
    const home = started.copy();
    await importing(home, ['Kolář, Jan']);
    const people = [{ name: 'Kolář, Jan', finds: 1, accepted: false }];
    expect(await home.json('push', '--dry-run')).toMatchObject({ new_people: people });
    expect(await home.json('status')).toMatchObject({ new_people: people });
    expect(await home.json('validate')).toMatchObject({ new_people: people });
    expect(await home.json('validate', 'R0')).toMatchObject({ new_people: people });
    for (const words of [['push', '--dry-run'], ['status'], ['validate']]) {
      const run = await home.pas(...words);
      expect(run.stdout + run.stderr).toContain('Kolář, Jan: 1 find');
    }
  });

  test('sends them once they were accepted, and remembers each acceptance', async () => {
    const home = started.copy();
    await importTable(home, makeTable(['Kolář, Jan', 'Horák, Petr'], 'A', 60));
    expect((await pushed(home, '--accept-new-people', '--limit', '1')).lines.at(-1)).toMatchObject({
      accepted: 1,
    });
    expect(await home.json('status')).toMatchObject({ new_people: [{ accepted: true }] });
    expect((await home.pas('status')).stdout).not.toContain('new person');
    expect(await pushed(home)).toMatchObject({ code: 0 });
    await importTable(home, makeTable(['Kolář, Jan', 'Nový, Karel'], 'M', 90));
    expect((await pushed(home)).lines[0]).toMatchObject({ people: [{ name: 'Nový, Karel' }] });
    expect(await pushed(home, 'M0')).toMatchObject({ code: 0 });
  });

  test('sends a finder as the person to whom the name was mapped since', async () => {
    const home = started.copy();
    await importing(home, ['Novak, Jam']);
    await home.do('vocab', 'map', 'set', 'osoba', 'Novak, Jam', 'OS-001507');
    expect(await home.json('status')).toMatchObject({ new_people: [] });
    const { code } = await pushed(home, '--accept-new-people', '--on-question', 'send');
    expect([code, await readFinders(home)]).toEqual([0, { R0: 'OS-001507' }]);
  });

  test('is not held if people were not harvested, since nothing can be compared', async () => {
    const home = await signedIn(mock.service);
    await home.pas('harvest-vocab', 'heslo', 'organizace', 'ruian_katastr', '--quiet');
    await importTable(home, makeTable(['Dlouhý, Karel'], 'D', 120));
    expect(await pushed(home)).toMatchObject({ code: 0 });
  });

  test('names people entered before the harvest who are known in another spelling', async () => {
    const home = await signedIn(mock.service);
    await home.pas('harvest-vocab', 'heslo', 'organizace', 'ruian_katastr', '--quiet');
    await importing(home, ['DVOŘÁKOVÁ, Eva']);
    await home.pas('harvest-vocab', 'osoba', '--quiet');
    expect((await pushed(home)).lines[0]).toMatchObject({
      people: [{ name: 'DVOŘÁKOVÁ, Eva', nearest: [{ id: 'OS-001508' }] }],
    });
  });
});

test('new people of one table whose names resemble each other are shown together', async () => {
  const home = started.copy();
  const table = makeTable(['Malina P.', 'Malina, Petr', 'Jiráková, Ema']);
  const imported = await home.pas('import', home.file('finders.csv', table));
  expect(imported.stderr).toContain('Perhaps the same person as Malina, Petr.');
  expect((await home.pas('push')).stderr).toContain('Perhaps the same person as Malina, Petr.');
});
