import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { piecesOfTexts } from '../support/in-words.ts';
import { type Home, signedIn } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();

const TABLE = [
  'local_id;projekt;hloubka;okolnosti;obdobi;druh_nalezu;specifikace;nalezce;datum_nalezu;stav;geom_system;pristupnost;lokalizace;lon;lat;photos',
  'K-1;C-202400101;20;HES-000560;HES-000253;HES-000691;HES-000988;OS-001507;2024-06-01;1;4326;HES-000867;pole;14.4;50.08;a.png',
  'K-2;C-202400101;20;HES-000560;HES-000253;HES-000691;HES-000988;OS-001507;2024-06-01;2;4326;HES-000867;pole;14.41;50.08;',
  'K-3;C-202400101;1,5;HES-999;spona;HES-000691;;OS-001507;03/04/2024;2;4326;HES-000867;pole;50.08;14.4;',
  'K-4;C-202400101;;HES-000560;;;;OS-001507;2099-06-01;3;4326;HES-000867;;;;',
  'K-5;C-202400101;30;HES-000560;HES-000253;HES-000691;HES-000988;OS-001507;2024-06-02;1;4326;HES-000867;pole;14.42;50.08;b.png',
  'K-6;C-202400101;31;HES-000560;HES-000253;HES-000691;HES-000988;OS-001507;2024-06-02;1;4326;HES-000867;pole;14.43;50.08;',
].join('\n');

/**
 * Rows that cannot be read, refusals, answers of unknown end, a look at the service, a decision.
 */
async function work(home: Home): Promise<string> {
  home.file('a.png', tinyPng(1));
  home.file('b.png', tinyPng(2));
  const runs = [await home.pas('import', home.file('season.csv', TABLE))];
  await mock.service.faults(
    { endpoint: 'import', when: { nth: 2 }, times: 1, fault: '500-before-save' },
    { endpoint: 'import', when: { nth: 3 }, times: 1, fault: 'reset-after-save' },
    { endpoint: 'photo', when: { nth: 1 }, times: 1, fault: 'virus' },
  );
  const copy = `${home.folder}/copy.sqlite`;
  for (const words of [
    ['push', '--dry-run'],
    ['push'],
    ['reconcile'],
    ['number', 'set', 'K-1', 'INV 1'],
    ['resolve', 'K-1', '--drop'],
    ['backup', copy],
    ['restore', copy, '--replace'],
  ])
    runs.push(await home.pas(...words));
  return runs.map(({ stdout, stderr }) => stdout + stderr).join('\n');
}

/** Report about it afterwards. */
async function told(home: Home): Promise<string> {
  const report = `${home.folder}/season.html`;
  const runs = [
    await home.pas('status'),
    await home.pas('status', '--json'),
    await home.pas('list'),
    await home.pas('validate'),
    await home.pas('export', '--format', 'csv'),
    await home.pas('report', report, '--yes'),
  ];
  for (const find of ['K-1', 'K-2', 'K-3', 'K-4', 'K-5', 'K-6'])
    runs.push(await home.pas('show', find), await home.pas('show', find, '--json'));
  return [...runs.map(({ stdout, stderr }) => stdout + stderr), readFileSync(report, 'utf8')].join(
    '\n',
  );
}

const PIECES = piecesOfTexts();

test.each([
  ['en', 'cs'],
  ['cs', 'en'],
] as const)(
  'an error stored by a pas in %s is shown in %s to a reader of that language',
  async (spoken, read) => {
    const home = await signedIn(mock.service, [
      '--set',
      'min_interval_ms=10',
      '--set',
      'settle_ms=600000',
    ]);
    const said = await work(home.with({ PAS_LANG: spoken }));
    expect(PIECES[read].filter((piece) => said.includes(piece))).toEqual([]);
    const text = await told(home.with({ PAS_LANG: read }));
    expect(PIECES[read].filter((piece) => text.includes(piece)).length).toBeGreaterThan(20);
    expect(PIECES[spoken].filter((piece) => text.includes(piece))).toEqual([]);
  },
);
