import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import type { Issue, Listed } from '../support/json-output.ts';
import { expectEnded, PROJECT, signedIn } from '../support/run-pas.ts';
import { shareMock, useVocabularies } from '../support/use-mock.ts';

/**
 * A term of a made-up museum's list, with the entry of the demo seed that it stands for; `id` is
 * empty where there is none.
 */
type MuseumTerm = {
  readonly element: string;
  readonly term: string;
  readonly id: string;
  readonly label: string;
};

const MUSEUM_TERMS = join(PROJECT, 'test', 'fixtures', 'museum-terms.csv');
/** Every third of the same list, which was held out while the comparison was improved. */
const UNSEEN_MUSEUM_TERMS = join(PROJECT, 'test', 'fixtures', 'museum-terms-unseen.csv');

function readMuseumTerms(path: string): MuseumTerm[] {
  const [, ...lines] = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [element = '', term = '', id = '', label = ''] = line.split(';');
    return { element, term, id, label };
  });
}

const mock = shareMock();
const home = useVocabularies(mock);

// Those that change a mapping have a copy of the home.

type Row = {
  set: string;
  term: string;
  id: string;
  label: string;
  note: string;
  confirmed: boolean;
};
type Tally = {
  added: number;
  changed: number;
  unconfirmed: number;
  issues: { rule: string; message: string }[];
};

test('the proposals for a list of terms can be imported', async () => {
  const homeCopy = home.copy();
  homeCopy.file('terms.txt', 'term\nfibule\nqqqxyzw\nsekyrka\n');
  const { proposals } = await homeCopy.json<{ proposals: { term: string }[] }>(
    'vocab',
    'map',
    'suggest',
    'terms.txt',
  );
  expect(proposals.map(({ term }) => term)).toEqual(['fibule', 'qqqxyzw', 'sekyrka']);
  await homeCopy.do('vocab', 'map', 'suggest', 'terms.txt', '--out', 'proposals.csv');
  expect(await homeCopy.json<Tally>('vocab', 'map', 'import', 'proposals.csv')).toMatchObject({
    added: 0,
    unconfirmed: 3,
    issues: [],
  });
  const output = readFileSync(join(homeCopy.folder, 'proposals.csv'), 'utf8').replace(
    /^((?:heslo:[^;]*);fibule;.*);;$/m,
    '$1;yes;',
  );
  homeCopy.file('reviewed.csv', output);
  expect(await homeCopy.json<Tally>('vocab', 'map', 'import', 'reviewed.csv')).toMatchObject({
    added: 1,
    issues: [],
  });
});

test('four terms that are mapped in parallel are all mapped', async () => {
  const homeCopy = home.copy();
  const terms = ['bronz', 'laten', 'neo', 'stredovek'];
  const codes = await Promise.all(
    terms.map((term) =>
      homeCopy
        .start('vocab', 'map', 'set', 'druh_nalezu', term, 'spona')
        .ended.then(({ code }) => code),
    ),
  );
  expect(codes).toEqual([0, 0, 0, 0]);
  const rows = await homeCopy.json<Row[]>('vocab', 'map', 'list');
  expect(rows.map(({ term }) => term).sort()).toEqual(terms);
});

test('a note stays if a table without notes is imported, or the term is mapped again', async () => {
  const homeCopy = home.copy();
  homeCopy.file(
    'noted.csv',
    'set;term;id;note;confirmed\ndruh_nalezu;fibule;HES-000605;podle kartotéky;yes\n',
  );
  await homeCopy.do('vocab', 'map', 'import', 'noted.csv');
  homeCopy.file('again.csv', 'set;term;id;confirmed\ndruh_nalezu;fibule;HES-000605;yes\n');
  await homeCopy.pas('vocab', 'map', 'import', 'again.csv');
  await homeCopy.do('vocab', 'map', 'set', 'druh_nalezu', 'fibule', 'mince');
  const rows = await homeCopy.json<Row[]>('vocab', 'map', 'list');
  expect(rows).toMatchObject([{ term: 'fibule', label: 'mince', note: 'podle kartotéky' }]);
});

test('a mapping that was saved in Windows-1250 is read', async () => {
  const homeCopy = home.copy();
  await homeCopy.do('vocab', 'map', 'set', 'druh_nalezu', 'přeska', 'přezka');
  const file = join(homeCopy.folder, 'pas', 'mapping.csv');
  writeFileSync(file, iconv.encode(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''), 'win1250'));
  const rows = await homeCopy.json<Row[]>('vocab', 'map', 'list');
  expect(rows).toMatchObject([{ term: 'přeska', label: 'přezka' }]);
  await homeCopy.do('vocab', 'map', 'set', 'druh_nalezu', 'fibule', 'spona');
  expect(readFileSync(file, 'utf8')).toContain('přeska');
});

test.each([
  ['a row too short', (mapping: string) => `${mapping}obdobi;bronz\n`, 'row 3'],
  [
    'a term twice',
    (mapping: string) => `${mapping}druh_nalezu;kroužek;HES-000605;spona;;yes\n`,
    'row 3: Rows 2 and 3 map "kroužek" to different entries',
  ],
  ['no table', () => '\0', 'Save it as CSV in UTF-8'],
  ['a folder in its place', () => undefined, 'mapping.csv is a folder, not a file. Save it'],
])('a mapping with %s changes no find, and stops no reading', async (_, damage, says) => {
  const homeCopy = home.copy();
  await homeCopy.do('vocab', 'map', 'set', 'druh_nalezu', 'kroužek', 'mince');
  homeCopy.file(
    't.csv',
    `local_id;projekt;stav;druh_nalezu;specifikace;obdobi;okolnosti;hloubka;datum_nalezu;nalezce;lokalizace;geom_system;geom_x;geom_y;pristupnost
M-1;C-202400101;2;kroužek;keramika;doba bronzová;sběr;5;2024-03-09;Nová, Jana;pole;4326;15.17;49.84;badatel\n`,
  );
  await homeCopy.do('import', 't.csv');
  const before = await homeCopy.json<Listed[]>('list');
  const path = join(homeCopy.folder, 'pas', 'mapping.csv');
  const damaged = damage(readFileSync(path, 'utf8'));
  rmSync(path);
  if (damaged === undefined) mkdirSync(path);
  else writeFileSync(path, damaged);
  for (const args of [
    ['import', 't.csv'],
    ['edit', 'M-1', '--set', 'druh_nalezu=kroužek'],
    ['add', '--set', 'druh_nalezu=kroužek'],
    ['push'],
  ]) {
    const run = await homeCopy.pas(...args);
    expect([args, run.code, run.stderr]).toEqual([args, 2, expect.stringContaining('mapping.csv')]);
    expect(run.stderr).toContain(says);
    expect(run.stderr).toContain('pas vocab map list');
  }
  expect(await homeCopy.json('list')).toEqual(before);
  for (const reading of ['validate', 'status', 'show']) {
    const named = reading === 'show' ? ['M-1'] : [];
    expect([reading, (await homeCopy.pas(reading, ...named)).code]).toEqual([reading, 0]);
  }
});

type Proposal = { row: number; set: string; term: string; id: string | null };
type Suggested = { terms: number; proposed: number; proposals: Proposal[] };
describe('a museum’s list of terms, with abbreviations and typing errors', () => {
  test.each([
    ['that was looked at', MUSEUM_TERMS, 200],
    ['that was not looked at', UNSEEN_MUSEUM_TERMS, 100],
  ])('%s: at least 85 % have the right entry first', async (_, path, least) => {
    const terms = readMuseumTerms(path);
    const named = terms.filter(({ id }) => id !== '');
    expect(named.length).toBeGreaterThan(least);
    const { proposals } = await home.json<Suggested>('vocab', 'map', 'suggest', path);
    const byRow = new Map(proposals.map((proposal) => [proposal.row, proposal]));
    const right = named.filter((term) => byRow.get(terms.indexOf(term) + 2)?.id === term.id);
    expect(right.length / named.length).toBeGreaterThanOrEqual(0.85);
  });

  test('accepts no wrong entry without a person’s confirmation', async () => {
    const terms = [...readMuseumTerms(MUSEUM_TERMS), ...readMuseumTerms(UNSEEN_MUSEUM_TERMS)];
    const unconfirmed = join(home.folder, 'proposals.csv');
    await home.do('vocab', 'map', 'suggest', MUSEUM_TERMS, '--out', unconfirmed);
    const { added, unconfirmed: left } = await home.json<{ added: number; unconfirmed: number }>(
      'vocab',
      'map',
      'import',
      unconfirmed,
    );
    expect({ added, left }).toEqual({ added: 0, left: readMuseumTerms(MUSEUM_TERMS).length });

    const run = await home.pas('import', home.file('museum.csv', makeTable(terms)), '--json');
    await expectEnded(run, 3);
    const { issues } = JSON.parse(run.stdout) as { issues: Issue[] };
    const finds = new Map(
      (await home.json<Listed<{ id: string }>[]>('list')).map((find) => [find.local_id, find]),
    );
    const refused = new Set(issues.map(({ find }) => find));
    terms.forEach((term, index) => {
      const find = finds.get(`M-${index}`);
      if (find === undefined) expect(refused).toContain(`M-${index}`);
      else expect([term.term, find.elements[term.element]?.id]).toEqual([term.term, term.id]);
    });
    // Only what is an entry's very name goes through by itself.
    expect(finds.size).toBeGreaterThan(20);
    expect(finds.size).toBeLessThan(terms.length / 2);
  });
});

/** A table with one find a term, which stands in its own element; everything else is well. */
function makeTable(terms: readonly MuseumTerm[]): string {
  const good = {
    projekt: 'C-202400101',
    stav: '1',
    geom_system: '4326',
    pristupnost: 'HES-000867',
    hloubka: '10',
    okolnosti: 'HES-000560',
    obdobi: 'HES-000253',
    druh_nalezu: 'HES-000605',
    specifikace: 'HES-000961',
    predano_organizace: 'ORG-000091',
    lon: '14.4',
    lat: '50.08',
    lokalizace: 'pole',
  };
  const rows = terms.map(({ element, term }, index) =>
    [`M-${index}`, ...Object.values({ ...good, [element]: term }).map((cell) => `"${cell}"`)].join(
      ';',
    ),
  );
  return [['local_id', ...Object.keys(good)].join(';'), ...rows].join('\n');
}

describe('a reviewed mapping', () => {
  const table = (term: string) =>
    home.file(
      'season.csv',
      `local_id;projekt;stav;geom_system;pristupnost;obdobi\nS-1;C-202400101;1;4326;HES-000867;${term}\nS-2;C-202400101;1;4326;HES-000867;HES-000253`,
    );

  test('is used by the import, and its entries are monitored afterwards', async () => {
    const proposals = join(home.folder, 'reviewed.csv');
    await home.do(
      'vocab',
      'map',
      'suggest',
      home.file('terms.csv', 'term;element\nlaten;obdobi\nprav.;obdobi\n'),
      '--out',
      proposals,
    );
    // A person says yes to the first line alone.
    const [header, first, ...rest] = readFileSync(proposals, 'utf8').trimEnd().split('\n');
    home.file(
      'reviewed.csv',
      [header, first?.replace(/;;$/, ';ano;z kartotéky'), ...rest].join('\n'),
    );
    await home.do('vocab', 'map', 'import', proposals);
    expect(readFileSync(join(home.folder, 'pas', 'mapping.csv'), 'utf8')).toBe(
      '\ufeffset;term;id;label;note;confirmed\nheslo:obdobi;laten;HES-000286;doba laténská;z kartotéky;yes\n',
    );

    await home.do('import', table('Laten'));
    const [find] = (await home.json('list')).filter(({ local_id }) => local_id === 'S-1');
    expect(find).toMatchObject({
      state: 'queued',
      elements: { obdobi: { id: 'HES-000286', text: 'doba laténská' } },
    });

    await moveEntry('areal');
    await reported(
      'mapping-moved',
      /HES-000286.*no entry of Period.*pas vocab map set heslo:obdobi laten ID/,
    );

    await moveEntry('obdobi');
    await expectEnded(home.pas('validate'), 0);
    await mock.service.control('POST', '/records/HES-000286/delete');
    await home.pas('harvest-vocab', 'heslo');
    await reported('mapping-deleted', /HES-000286.*is no entry of Period \(heslo:obdobi\)/);

    const again = await home.pas('import', table('laten'), '--json');
    await expectEnded(again, 3);
    const { issues } = JSON.parse(again.stdout) as { issues: Issue[] };
    expect(issues).toMatchObject([{ rule: 'term-mapping-conflict', row: 2, element: 'obdobi' }]);

    await home.do('vocab', 'map', 'set', 'obdobi', 'laten', 'doba železná');
    await home.do('import', table('laten'));
    expect((await home.json('list')).find(({ local_id }) => local_id === 'S-1')).toMatchObject({
      state: 'queued',
      elements: { obdobi: { id: 'HES-000282' } },
    });
  });

  test('a find whose term was deleted is a draft after the harvest, and queued again when the term is back', async () => {
    const readState = async () =>
      (await home.json('list')).find(({ local_id }) => local_id === 'S-1')?.state;
    await home.do('vocab', 'map', 'set', 'obdobi', 'laten', 'doba železná');
    await home.do('import', table('laten'));
    await mock.service.control('POST', '/records/HES-000282/delete');
    await expectEnded(home.pas('harvest-vocab', 'heslo'), 3, /Drafts until .*: S-1\./);
    expect(await readState()).toBe('draft');
    await mock.service.control('POST', '/records/HES-000282/restore');
    await home.do('harvest-vocab', 'heslo');
    expect(await readState()).toBe('queued');
  });

  async function moveEntry(vocabulary: string): Promise<void> {
    const changes = { nazev_heslare: { '@lang': 'cs', '#': vocabulary } };
    await mock.service.control('POST', '/records', { ident: 'HES-000286', changes });
    await home.pas('harvest-vocab', 'heslo');
  }

  /**
   * By `validate` for the mapping, with its row, as well as for the find that was made with it.
   */
  async function reported(rule: string, message: RegExp): Promise<void> {
    const run = await home.pas('validate', '--json');
    await expectEnded(run, 3);
    const { issues } = JSON.parse(run.stdout) as { issues: Issue[] };
    expect(issues.find((issue) => issue.rule === rule)).toMatchObject({
      severity: 'warning',
      row: 2,
      message: expect.stringMatching(message),
    });
    expect(
      issues.find(({ find, element }) => find === 'S-1' && element === 'obdobi')?.message,
    ).toMatch(/HES-000286/);
    const state = (await home.json('list')).find(({ local_id }) => local_id === 'S-1')?.state;
    expect(state).toBe('draft');
  }

  test('refuses what a person cannot have meant, and keeps the old mapping', async () => {
    const before = readFileSync(join(home.folder, 'pas', 'mapping.csv'), 'utf8');
    const rows = [
      'obdobi;halštat;HES-000283;doba laténská;;yes',
      'obdobi;spona;HES-000605;spona;;yes',
      'obdobi;nikde;HES-999999;;;yes',
    ];
    const file = home.file('wrong.csv', ['set;term;id;label;note;confirmed', ...rows].join('\n'));
    const run = await home.pas('vocab', 'map', 'import', file, '--json');
    await expectEnded(run, 3);
    const { added, issues } = JSON.parse(run.stdout) as { added: number; issues: Issue[] };
    expect(added).toBe(0);
    expect(issues.map(({ rule, row }) => [rule, row])).toEqual([
      ['mapping-renamed', 2],
      ['mapping-moved', 3],
      ['mapping-unknown', 4],
    ]);
    for (const [set, entry] of [
      ['obdobi', 'HES-000605'],
      ['obdobi', 'nesmysl'],
      ['okres!', 'HES-000283'],
    ] as const) {
      await expectEnded(home.pas('vocab', 'map', 'set', set, 'x', entry), 2);
    }
    expect(readFileSync(join(home.folder, 'pas', 'mapping.csv'), 'utf8')).toBe(before);
  });

  test('that was damaged by hand stops the import, and is not overwritten', async () => {
    const path = join('pas', 'mapping.csv');
    const before = readFileSync(join(home.folder, path), 'utf8');
    const damaged = `${before}obdobi;halštat;HES-000283;doba halštatská;;perhaps\n`;
    home.file(path, damaged);
    await expectEnded(home.pas('import', table('doba halštatská')), 2);
    await expectEnded(
      home.pas('vocab', 'map', 'set', 'obdobi', 'x', 'HES-000283'),
      2,
      /mapping\.csv, row 3: confirmed is "perhaps"/,
    );
    expect(readFileSync(join(home.folder, path), 'utf8')).toBe(damaged);
    home.file(path, before);
  });

  test('can be copied and imported unchanged, and edited', async () => {
    const file = join(home.folder, 'pas', 'mapping.csv');
    const exported = home.file('exported.csv', readFileSync(file, 'utf8'));
    expect(await home.json('vocab', 'map', 'import', exported)).toMatchObject({
      added: 0,
      changed: 0,
      unchanged: 1,
    });
    writeFileSync(file, readFileSync(file, 'utf8').split('\n')[0] ?? '');
    expect(await home.json('vocab', 'map', 'list')).toEqual([]);
    expect(await home.json('vocab', 'map', 'import', exported)).toMatchObject({
      added: 1,
    });
  });
});

test('nothing is proposed without harvested vocabularies', async () => {
  const fresh = await signedIn(mock.service);
  await expectEnded(fresh.pas('vocab', 'map', 'suggest', MUSEUM_TERMS), 2, /harvest-vocab/);
});

test('proposals can be piped', async () => {
  const run = await home.do('vocab', 'map', 'suggest', MUSEUM_TERMS);
  expect(run.stdout.split('\n')[0]).toBe('\ufeffset;term;id;label;score;others;confirmed;note');
  expect(run.stderr).toMatch(/Terms with a proposal: /);
});
