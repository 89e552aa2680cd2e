import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Language } from '../../src/base/message.ts';
import { expectEnded, type Home, makeHome, serviceAt } from '../support/run-pas.ts';

/** The help of every command, by its words, as a person sees it. */
async function helpIn(language: Language): Promise<Map<string, string[]>> {
  const worker = new Worker(new URL('help-pages.mjs', import.meta.url), { workerData: language });
  const [pages] = await once(worker, 'message');
  return pages;
}

describe('the help of every command', () => {
  /** Two words in a row, in what is neither an example nor one that goes on. */
  const isEnglish = (line: string, english: readonly string[]): boolean =>
    english.includes(line) &&
    /\p{L}{2,} \p{L}{2,}/u.test(line) &&
    !/^ +\$ |^ {6}--|^ +(-h|--)[^ ]* *$/.test(line);

  test('is Czech from its first line to its last, except for the flags of the mock server, which describes itself', async () => {
    const english = await helpIn('en');
    const czech = await helpIn('cs');
    czech.delete('pas mock-server');
    english.delete('pas mock-server');
    expect([...czech.keys()]).toEqual([...english.keys()]);
    const left = [...czech].flatMap(([command, lines]) =>
      lines
        .filter((line) => isEnglish(line, english.get(command) ?? []))
        .map((line) => `${command}: ${line}`),
    );
    expect(left).toEqual([]);
    const heads = [...czech].flatMap(([command, [head]]) => (command === 'pas' ? [] : [head]));
    expect(heads.filter((head) => head?.startsWith('Použití: pas ') !== true)).toEqual([]);
  });
});

describe('a Czech pas', () => {
  let home: Home;

  const season = (from: number, count: number): string => {
    const rows = Array.from(
      { length: count },
      (_, index) => `CZ-${from + index},C-202400101,1,4326,15.1,50.1`,
    );
    return ['local_id,projekt,stav,geom_system,geom_x,geom_y', ...rows, ''].join('\n');
  };

  beforeAll(async () => {
    home = makeHome({ PAS_LANG: 'cs' });
    const address = 'http://127.0.0.1:9';
    const run = await home.init(serviceAt(address), '--name', 'muzeum');
    expect(run.stdout).toBe(`Profil muzeum je v ${home.env['PAS_HOME']}/config.toml.\n`);
    expect(run.stderr).toBe('Dále: `pas login` a potom `pas harvest-vocab`.\n');
  });

  test.each([
    [1, '1 nález'],
    [3, '3 nálezy'],
    [8, '8 nálezů'],
  ])('uses the Czech form for %i: %s', async (count, counted) => {
    const counting = home.copy();
    const run = await counting.pas('import', counting.file('season.csv', season(1, count)));
    expect(run.stdout).toContain(`Importováno ${counted}: ${count} přidáno`);
    expect((await counting.pas('status')).stdout).toContain(
      `${counted}; profil muzeum, cvičná instance`,
    );
  });

  test('translates states for people, and prints their codes for programs', async () => {
    const listing = home.copy();
    await listing.pas('import', listing.file('season.csv', season(1, 2)));
    const list = await listing.pas('list');
    expect(list.stdout).toMatch(/^NÁLEZ +STAV +VE SLUŽBĚ/);
    const states = await listing.json('list');
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['draft']));
    expect(list.stdout).toContain('rozepsáno');
  });

  test('reports data as the English one does: other words, but the same places, rules and keys', async () => {
    const table = home.file(
      'wrong.csv',
      'local_id,projekt,stav,hloubka\nX-1,C-202400101,9,mělká\nX-1,C-202400101,1,3\n',
    );
    type Said = { readonly issues: readonly { readonly message: string }[] };
    const czech = await home.json<Said>('import', table, '--dry-run');
    const english = await home.json<Said>('import', table, '--dry-run', '--lang', 'en');
    const withoutMessages = ({ issues, ...rest }: Said): unknown => ({
      ...rest,
      issues: issues.map(({ message, ...issue }) => issue),
    });
    expect(withoutMessages(czech)).toEqual(withoutMessages(english));
    expect(czech.issues.length).toBeGreaterThan(0);
    const shared = czech.issues.filter(
      ({ message }, index) => message === english.issues[index]?.message,
    );
    expect(shared).toEqual([]);
  });

  test('ends with a Czech message and the same code and keys', async () => {
    const run = await home.pas('show', 'K-1', '--json');
    await expectEnded(run, 2);
    expect(JSON.parse(run.stderr.trimEnd().split('\n').at(-1) ?? '')).toEqual({
      type: 'exit',
      code: 2,
      message: 'Nález K-1 tu není.',
      hint: expect.stringMatching(/vypíše.*`pas list`/),
    });
  });

  test('puts a name into a sentence unchanged, whatever its characters', async () => {
    const name = `K$&-\${0}-$1 „dýka“`;
    expect((await home.pas('show', name)).stderr).toContain(`Nález ${name} tu není.`);
  });

  test('explains wrong command lines in Czech', async () => {
    const unknown = await home.pas('list', '--limti', '3');
    expect(unknown).toMatchObject({ code: 2, stdout: '' });
    expect(unknown.stderr).toBe(
      'pas: Neznámý přepínač „--limti“.\n     Neměli jste na mysli --limit?\n',
    );
    expect((await home.pas('show')).stderr).toContain('pas: Chybí „find“.');
    expect((await home.pas('list', '--limit', 'x')).stderr).toContain(
      'Hodnota „x“ pro „--limit <n>“ je neplatná. Zadejte celé číslo.',
    );
    const tooMany = await home.pas('show', 'a', 'b', '--json');
    expect(tooMany.stderr).toContain('"message":"Příliš mnoho argumentů: zadáno 2, nejvýše 1."');
  });
});

describe('the language', () => {
  const opening = async (environment: NodeJS.ProcessEnv, ...args: string[]): Promise<string> => {
    const run = await makeHome({ PAS_LANG: '', ...environment }).start(...args, 'list', '--help')
      .ended;
    return run.stdout.slice(0, run.stdout.indexOf(' '));
  };

  test('is that of --lang, else of PAS_LANG, else of the locale, else English', async () => {
    const openings = await Promise.all([
      opening({ LC_ALL: 'en_GB.UTF-8', PAS_LANG: 'en' }, '--lang', 'cs'),
      opening({ LC_ALL: 'en_GB.UTF-8', PAS_LANG: 'cs' }),
      opening({ LANG: 'cs_CZ.UTF-8' }),
      opening({ LANG: 'cs_CZ.UTF-8', LC_ALL: 'C' }),
      opening({ LANG: 'de_DE.UTF-8' }),
      opening({ PAS_LANG: 'cs' }, '--lang=en'),
    ]);
    expect(openings).toEqual(['Použití:', 'Použití:', 'Použití:', 'Usage:', 'Usage:', 'Usage:']);
  });

  test('that pas does not have is wrong usage, and the available ones are named', async () => {
    await expectEnded(makeHome().pas('list', '--lang', 'xx'), 2, 'Choose from en, cs.');
    const variable = await makeHome({ PAS_LANG: 'xx' }).pas('list', '--json');
    await expectEnded(variable, 2);
    expect(JSON.parse(variable.stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      message: 'PAS_LANG is xx, but pas has no such language.',
      hint: 'Choose from en, cs.',
    });
  });
});
