import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ODD_SET, startOddService } from '../endurance/odd-service.ts';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import {
  expectEnded,
  findStates,
  type Home,
  makeHome,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';

type Entry = {
  id: string;
  set: string;
  label: string;
  label_en: string | null;
  gone: string | null;
};
type Harvested = {
  sets: { set: string; pass: string; records: number; deleted: number; vanished: number }[];
};
type ServerState = { counts: { records: Record<string, number> } };

const SETS = [
  'heslo',
  'organizace',
  'osoba',
  'ruian_kraj',
  'ruian_okres',
  'ruian_katastr',
  'projekt',
];

async function harvest(home: Home, ...args: string[]): Promise<Harvested> {
  return home.json<Harvested>('harvest-vocab', ...args);
}

async function entries(home: Home, set: string, ...flags: string[]): Promise<Entry[]> {
  return home.json<Entry[]>('vocab', 'list', set, ...flags);
}

describe.each([
  ['as the contract has it', []],
  ['as it is deployed', ['--deployed']],
])('a service %s', (_, flags) => {
  let service: RunningMock;
  beforeAll(async () => {
    service = await serveMock('--page-size', '50', ...flags);
  });
  afterAll(() => service.stop());

  test.each(['2.0', '2.2'])(
    'is harvested completely in version %s, with and without an account',
    async (version) => {
      for (const auth of ['none', 'basic']) {
        const home = await signedIn(
          service,
          [...WITHOUT_PAUSES, '--set', `schema_version=${version}`, '--oai-auth', auth],
          'researcher',
        );
        const { sets } = await harvest(home);
        expect(sets.map(({ set, pass }) => [set, pass])).toEqual(SETS.map((set) => [set, 'full']));
        const { counts } = await service.control<ServerState>('GET', '/state');
        const { sets: kept } = await home.json<{ sets: { set: string; entries: number }[] }>(
          'vocab',
          'list',
        );
        for (const { set, records, deleted } of sets) {
          const entriesOfSet = kept
            .filter((one) => one.set === set || one.set.startsWith(`${set}:`))
            .map((one) => one.entries);
          expect([set, records - deleted]).toEqual([set, counts.records[set]]);
          expect([set, entriesOfSet.reduce((sum, entries) => sum + entries, 0)]).toEqual([
            set,
            counts.records[set],
          ]);
        }
      }
    },
  );

  test('says which projects are surveys, for every account that sees them', async () => {
    const home = await signedIn(service, WITHOUT_PAUSES, 'archivist');
    const { sets } = await harvest(home, 'projekt');
    const { counts } = await service.control<ServerState>('GET', '/state');
    expect(sets).toEqual([expect.objectContaining({ set: 'projekt', broken: [] })]);
    expect(sets.map(({ records, deleted }) => records - deleted)).toEqual([
      counts.records['projekt'],
    ]);
    const projects = await home.json<(Entry & { survey: boolean })[]>('vocab', 'list', 'projekt');
    expect(new Set(projects.map(({ survey }) => survey))).toEqual(new Set([true, false]));
    // An account that may see less is not told that the records are broken.
    const stranger = await signedIn(
      service,
      [...WITHOUT_PAUSES, '--oai-auth', 'none'],
      'researcher',
    );
    expect((await harvest(stranger, 'projekt')).sets[0]).toMatchObject({ broken: [] });
  });
});

describe('a service', () => {
  let service: RunningMock;
  beforeAll(async () => {
    service = await serveMock('--page-size', '50', '--deployed');
  });
  afterAll(() => service.stop());

  test('has its projects read in full again by an account whose role has grown', async () => {
    const home = await signedIn(service, WITHOUT_PAUSES, 'researcher');
    await harvest(home, 'projekt');
    const surveys = async () =>
      (await home.json<(Entry & { survey?: boolean })[]>('vocab', 'list', 'projekt')).filter(
        ({ survey }) => survey === true,
      ).length;
    const before = await surveys();
    expect((await harvest(home, 'projekt')).sets).toMatchObject([{ pass: 'changes' }]);
    await service.control('PUT', '/accounts/researcher', { role: 'archivist' });
    try {
      expect((await harvest(home, 'projekt')).sets).toMatchObject([{ pass: 'full' }]);
      expect(await surveys()).toBeGreaterThan(before);
      expect((await harvest(home, 'projekt')).sets).toMatchObject([{ pass: 'changes' }]);
    } finally {
      await service.control('PUT', '/accounts/researcher', { role: 'researcher' });
    }
  });

  test('has a mistyped project refused offline, and a hidden one pointed out', async () => {
    const home = await signedIn(service);
    await harvest(home);
    const table = readFileSync(writeSeason(home, 1), 'utf8').replace('C-202400101', 'C-202499999');
    type Validated = { issues: { rule: string; severity: string }[] };
    const judged = (
      await home.json<Validated>('import', home.file('typo.csv', table), '--dry-run')
    ).issues.filter(({ rule }) => rule === 'survey-project');
    expect(judged).toMatchObject([{ severity: 'error' }]);
    // An account that harvested nothing itself judges by the list of another.
    const other = await signedIn(service, [...WITHOUT_PAUSES, '--oai-auth', 'none'], 'researcher');
    await harvest(other, 'projekt');
    const shown = (
      await other.json<Validated>('import', writeSeason(other, 1), '--dry-run')
    ).issues.filter(({ rule }) => rule === 'survey-project');
    expect(shown).toMatchObject([{ severity: 'warning' }]);
  });

  test('is later asked only for changes; deletions arrive', async () => {
    const home = await signedIn(service);
    await harvest(home);
    const [first, second] = await entries(home, 'heslo:predmet_druh');
    if (first === undefined || second === undefined)
      throw new Error('the seed has no object types');
    await service.clock({ advance_ms: 3_600_000 });
    await service.control('POST', '/records', {
      ident: first.id,
      changes: { heslo: { '@xml:lang': 'cs', '#': 'přejmenováno' } },
    });
    await service.control('POST', `/records/${second.id}/delete`);
    const { sets } = await harvest(home, 'heslo');
    expect(sets).toEqual([expect.objectContaining({ set: 'heslo', pass: 'changes', deleted: 1 })]);
    expect(sets[0]?.records).toBeLessThan(10);
    expect(await home.json('vocab', 'show', first.id)).toMatchObject({
      label: 'přejmenováno',
      gone: null,
    });
    expect(await home.json('vocab', 'show', second.id)).toMatchObject({
      label: second.label,
      gone: 'deleted',
    });
    const { sets: again } = await harvest(home, 'heslo', '--full');
    expect(again[0]).toMatchObject({ pass: 'full', vanished: 0 });
  });
});

describe('harvested vocabularies', () => {
  let home: Home;
  beforeAll(async () => {
    await using service = await serveMock();
    home = await signedIn(service);
    await harvest(home);
  });

  // From here on there is no service any more.
  test('an entry shows its position in the hierarchy', async () => {
    const [spona] = await home.json<Entry[]>('vocab', 'search', 'spona');
    const shown = await home.json<{ path: { label: string }[]; above: { label: string }[] }>(
      'vocab',
      'show',
      spona?.id ?? '',
    );
    expect(shown.above).toHaveLength(1);
    const { stdout } = await home.do('vocab', 'show', spona?.id.toLowerCase() ?? '');
    expect(stdout).toContain([...shown.path.map(({ label }) => label), 'spona'].join(' > '));
  });

  test('entries are exported as a table and as JSON', async () => {
    const listed = await entries(home, 'heslo:obdobi');
    const table = await home.do('vocab', 'export', 'heslo:obdobi');
    expect(table.stdout.split('\n').filter((line) => line.includes('HES-'))).toHaveLength(
      listed.length,
    );
    expect(await home.json<Entry[]>('vocab', 'export', 'heslo:obdobi')).toHaveLength(listed.length);
    await home.do('vocab', 'export', '--out', 'all.csv');
    expect(
      readFileSync(join(home.folder, 'all.csv'), 'utf8').match(/^HES-/gm)?.length,
    ).toBeGreaterThan(listed.length);
    await expectEnded(home.pas('vocab', 'export', '--out', 'all.csv'), 2, '--yes');
    await expectEnded(home.pas('vocab', 'export', '--out', 'no/such/folder.csv'), 2);
  });

  test('the sets are listed with their figures', async () => {
    const { sets, harvests } = await home.json<{
      sets: { set: string; entries: number }[];
      harvests: { set: string; unfinished: boolean }[];
    }>('vocab', 'list');
    expect(harvests.map(({ set, unfinished }) => [set, unfinished])).toEqual(
      [...SETS].sort().map((set) => [set, false]),
    );
    for (const set of [
      'heslo:obdobi',
      'heslo:nalezove_okolnosti',
      'heslo:predmet_druh',
      'heslo:predmet_specifikace',
      'heslo:pristupnost',
      'osoba',
    ]) {
      expect(sets.find((one) => one.set === set)?.entries, set).toBeGreaterThan(0);
    }
  });

  test.each([
    ['an entry that is not there', ['vocab', 'show', 'HES-999999'], /not among/],
    ['a set that was not harvested', ['vocab', 'list', 'let'], /Nothing of the set/],
    ['a mistyped set', ['vocab', 'search', 'spona', '--set', 'heslo:obdoby'], /Nothing of the set/],
    ['a limit of nothing', ['vocab', 'search', 'spona', '--limit', '0'], /1 or more/],
  ])('%s is refused with advice', async (_, args, words) => {
    await expectEnded(home.pas(...args), 2, words);
  });
});

test('a damaged vocabulary is deleted and harvested again, as its error says', async () => {
  await using service = await serveMock();
  const home = await signedIn(service);
  home.file('pas/vocabulary.sqlite', 'damaged '.repeat(2000));
  const says =
    /\/vocabulary\.sqlite: [\s\S]*vocabulary\.sqlite: delete it, then `pas harvest-vocab/;
  await expectEnded(home.pas('harvest-vocab'), 12, says);
  rmSync(join(home.folder, 'pas/vocabulary.sqlite'));
  await expectEnded(home.pas('search', 'spona'), 0, /Nothing was harvested yet/);
  await home.do('harvest-vocab', 'heslo:obdobi');
});

test('identifiers that were not checked at the import are checked by the harvest, and faulty finds become drafts', async () => {
  await using service = await serveMock();
  const home = await signedIn(service);
  const [head = '', first = '', second = ''] = readFileSync(writeSeason(home, 2), 'utf8').split(
    '\n',
  );
  // A period is no kind of object.
  const faulty = second.replace('HES-000691', 'HES-000253');
  await home.do('import', home.file('season.csv', [head, first, faulty].join('\n')));
  expect(await findStates(home)).toEqual({ 'K-1': 'queued', 'K-2': 'queued' });
  const run = await home.pas('harvest-vocab');
  await expectEnded(run, 3, 'Drafts until you correct what is marked ✗: K-2.');
  expect(run.stderr).toMatch(/✗ K-2.*druh_nalezu.*HES-000253/);
  expect(await findStates(home)).toEqual({ 'K-1': 'queued', 'K-2': 'draft' });
  await expectEnded(home.pas('harvest-vocab'), 0);
  await home.do('push');
  expect(await findStates(home)).toEqual({ 'K-1': 'accepted', 'K-2': 'draft' });
});

test('of many records that are not terms the first are named, and JSON names all', async () => {
  await using service = await startOddService();
  const names = Array.from({ length: 45 }, (_, nth) => `A-${nth}`);
  service.sane(names);
  const home = makeHome();
  await home.init(service, '--name', 'odd', '--oai-auth', 'none');
  const { code, stderr } = await home.pas('harvest-vocab', ODD_SET);
  expect([code, stderr]).toEqual([
    3,
    expect.stringMatching(
      /A-0 was skipped: it came without content that pas can read\. Add --full to request it again\.\n(?:.*\n){19} {2}… and 25 more/,
    ),
  ]);
  expect(stderr).not.toContain('A-9 ');
  service.sane(names);
  const run = await home.pas('harvest-vocab', ODD_SET, '--full', '--json');
  const { broken } = JSON.parse(run.stdout).sets[0];
  expect(broken.map((identifier: string) => identifier.split('/').at(-1)).sort()).toEqual(
    names.toSorted(),
  );
});
