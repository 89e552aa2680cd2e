import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { photoWithGps } from '../support/photo-with-gps.ts';
import { expectEnded, makeHome } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';
import { shareMock, useVocabularies } from '../support/use-mock.ts';

const mock = shareMock();
const home = useVocabularies(mock);

type Added = {
  readonly local_id: string;
  readonly state: string | null;
  readonly elements: Record<string, unknown>;
  readonly photos: number;
  readonly issues: readonly {
    readonly rule: string;
    readonly message: string;
    readonly element: string | null;
  }[];
};

function sets(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
}

const COMPLETE = {
  project: 'C-202400101',
  target_state: '2',
  object_type: 'brooch',
  specifikace: 'železo',
  period: 'la tene period',
  context: 'sběr',
  finder: 'Novák, Jan',
  found_on: '9. 3. 2024',
  location: 'Field behind the mill',
  depth_cm: '35',
  accessibility: 'badatel',
};

describe('a find is added from flags', () => {
  test('with a photograph and a point in degrees, and is sent like any other', async () => {
    home.file('a.png', tinyPng(1));
    const added = await home.json<Added>(
      'add',
      ...sets({ local_id: 'K-017', ...COMPLETE }),
      '--point',
      `49°50'25.8"N 15°10'16.3"E`,
      '--set',
      'photos=a.png',
    );
    expect(added).toMatchObject({
      local_id: 'K-017',
      state: 'queued',
      photos: 1,
      issues: [],
      elements: {
        druh_nalezu: { id: 'HES-000605' },
        hloubka: 35,
        datum_nalezu: '2024-03-09',
        geom_wkt: 'POINT (15.1711944 49.8405)',
      },
    });
    await home.do('push', 'K-017');
    expect((await home.json('show', 'K-017')).entries).toMatchObject([
      { kind: 'import', state: 'accepted' },
      { kind: 'photo', state: 'accepted' },
    ]);
  });

  test.each(['#N/A', 'x'.repeat(32_768)])(
    'a value that no table may have is refused: %.8s',
    async (value) => {
      const words = sets({ local_id: 'K-018', ...COMPLETE, note: value });
      await expectEnded(home.pas('add', ...words), 3);
      expect((await home.json('list')).map(({ local_id }) => local_id)).not.toContain('K-018');
    },
  );

  test('the next one repeats all values except number, point, note and those given explicitly', async () => {
    home.file('b.jpg', photoWithGps(49.8406, 15.1713));
    const added = await home.json<Added>(
      'add',
      '--same-as',
      'K-017',
      '--set',
      'depth_cm=40',
      '--point',
      'b.jpg',
    );
    expect(added).toMatchObject({ local_id: 'K-018', state: 'queued', photos: 0 });
    expect(added.elements).toMatchObject({
      druh_nalezu: { id: 'HES-000605' },
      hloubka: 40,
      geom_wkt: 'POINT (15.1713 49.8406)',
    });
  });

  test('the same find again changes nothing, and other values under its number are refused', async () => {
    const again = () =>
      home.pas('add', ...sets({ local_id: 'K-020', ...COMPLETE }), '--point', '15.1712 49.8405');
    expect((await again()).code).toBe(0);
    expect((await again()).code).toBe(0);
    await expectEnded(
      home.pas(
        'add',
        ...sets({ local_id: 'K-020', ...COMPLETE, depth_cm: '1' }),
        '--point',
        '15.1712 49.8405',
      ),
      2,
      'There is already a find K-020',
    );
  });

  test('again after it was sent, which changes nothing', async () => {
    const place = ['--point', '15.2712 49.9405'];
    const again = () => home.do('add', ...sets({ local_id: 'K-021', ...COMPLETE }), ...place);
    await again();
    // Another find of this file is held.
    await home.pas('push', 'K-021');
    expect((await again()).stdout).toContain('K-021 was here before (accepted) and stays as it is');
  });
});

describe('nothing is saved, and the error is reported, if', () => {
  test.each([
    ['a value is none', ['--set', 'depth_cm=deep'], ['not a whole number']],
    [
      'a term is unknown, and axes are swapped',
      ['--set', 'object_type=broch', '--point', '49.8405123 15.1712'],
      ['spona (HES-000605)', 'If you mean 49.8405123 N 15.1712 E, write it that way.'],
    ],
    ['a photograph is not there', ['--set', 'photos=none.jpg'], ['none.jpg']],
    ['something is missing', ['--set', 'depth_cm='], ['needs hloubka']],
    [
      'a point lies outside the country',
      ['--point', '48.2N 16.37E'],
      ['is not in any known cadastral area'],
    ],
    [
      'a point is given twice',
      ['--set', 'lon=15.17', '--set', 'lat=49.84', '--point', '50.0871N 14.4208E'],
      ['The point is given twice, in lon and lat, and in wkt.'],
    ],
    ['a photograph has no place', ['--point', 'a.png'], ['contains no position']],
  ])('%s', async (_why, flags, messages) => {
    const changed = flags.filter((flag) => flag.includes('=')).map((flag) => flag.split('=')[0]);
    const others = Object.fromEntries(
      Object.entries(COMPLETE).filter(([name]) => !changed.includes(name)),
    );
    const point = flags.some((flag) => flag.startsWith('--point'))
      ? []
      : ['--point', '15.1712 49.8405'];
    const run = await home.pas(
      'add',
      ...sets({ local_id: 'K-099', ...others }),
      ...point,
      ...flags,
    );
    await expectEnded(run, 3);
    for (const message of messages) expect(run.stdout).toContain(message);
    expect(run.stdout).not.toContain('needs geom_system');
    expect(run.stdout).toContain('Nothing was saved.');
  });

  test('and the outbox stays empty', async () => {
    expect((await home.json('list')).some((find) => find.local_id === 'K-099')).toBe(false);
  });
});

test.each([
  ['an element that does not exist', 'dept_cm=35', 'Did you mean depth_cm?'],
  ['an element that is given twice', 'hloubka=3', 'hloubka is given twice. Keep one.'],
])('%s is a wrong usage', async (_what, setting, message) => {
  const flags = [...sets({ local_id: 'D 3', ...COMPLETE }), '--set', setting, '--draft'];
  await expectEnded(home.pas('add', ...flags), 2, message);
});

test('with --draft an incomplete find is kept as far as it can be read, and completed later', async () => {
  const draft = await home.pas(
    'add',
    ...sets({ local_id: 'D 1', ...COMPLETE, depth_cm: 'deep' }),
    '--draft',
  );
  await expectEnded(draft, 3);
  expect(draft.stdout).toMatch(/Depth \(hloubka\): "deep" is not a whole number/);
  expect(draft.stdout).toContain("D 1 is kept as a draft. To finish it: pas edit 'D 1'\n");
  const point = ['--point', '15.1712 49.8405'];
  const done = await home.json('edit', 'D 1', '--set', 'depth_cm=12', ...point);
  expect(done).toMatchObject({ changed: [{ find: 'D 1', state: 'queued' }] });
});

test('a complete find that is kept as a draft is queued by an edit that changes nothing', async () => {
  const values = sets({ local_id: 'D-2', ...COMPLETE });
  const draft = await home.json<Added>('add', ...values, '--point', '15.1712 49.8405', '--draft');
  expect(draft.state).toBe('draft');
  const setting = `context=${COMPLETE.context}`;
  const done = await home.json('edit', 'D-2', '--set', setting);
  expect(done).toMatchObject({ changed: [{ find: 'D-2', state: 'queued', changed: [] }] });
});

test('defaults in config.toml apply to every find, project before profile, and survive pas profile', async () => {
  const config = join(home.folder, 'pas', 'config.toml');
  const { finder, context, project, accessibility, ...others } = COMPLETE;
  home.file(
    'pas/config.toml',
    `${readFileSync(config, 'utf8')}
[profiles.mock.defaults]
project = "${project}"
finder = "${finder}"
context = "povrch"
[projects."${project}"]
okolnosti = "${context}"
pristupnost = "${accessibility}"
`,
  );
  await home.do('profile', 'use', 'mock');
  const added = await home.json<Added>(
    'add',
    ...sets({ local_id: 'E-1', ...others }),
    '--point',
    '15.1712 49.8405',
  );
  expect(added).toMatchObject({
    state: 'queued',
    elements: { okolnosti: { text: 'sběr' }, nalezce: { text: 'Novák, Jan' } },
  });
  home.file('pas/config.toml', readFileSync(config, 'utf8').replace('finder', 'findre'));
  await expectEnded(home.pas('add', ...sets({ local_id: 'E-2' })), 12, 'Did you mean finder?');
  home.file('pas/config.toml', readFileSync(config, 'utf8').replace('findre', 'finder'));
});

test('without a terminal and without flags pas add explains how to describe a find', async () => {
  await expectEnded(home.pas('add'), 2, '--set element=value');
});

test('without harvested vocabularies identifiers are accepted with a warning, and names are not', async () => {
  const bare = makeHome();
  await bare.init({ base_url: mock.service.base_url, schema_base: mock.service.schema_base });
  const {
    object_type: _object,
    specifikace: _material,
    period: _period,
    context: _context,
    accessibility: _who,
    ...others
  } = COMPLETE;
  const identifiers = {
    druh_nalezu: 'HES-000605',
    specifikace: 'HES-000964',
    obdobi: 'HES-000286',
    okolnosti: 'HES-000563',
    pristupnost: 'HES-000866',
  };
  const run = await bare.pas(
    'add',
    ...sets({ local_id: 'N-1', ...others, ...identifiers }),
    '--point',
    '15.1712 49.8405',
  );
  expect([run.code, run.stdout]).toEqual([
    0,
    expect.stringContaining('Identifiers that were not checked'),
  ]);
  const named = await bare.pas(
    'add',
    ...sets({ local_id: 'N-2', ...others, ...identifiers, druh_nalezu: 'spona' }),
  );
  expect([named.code, named.stdout]).toEqual([3, expect.stringContaining('was not harvested yet')]);
});
