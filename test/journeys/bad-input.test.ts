import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { expectEnded } from '../support/expect-ended.ts';
import { findPhotographCopies } from '../support/outbox-files.ts';
import {
  type Home,
  jsonLines,
  makeHome,
  PROJECT,
  serviceAt,
  signedIn,
} from '../support/run-pas.ts';
import { importSeason, tinyPng, writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
let home: Home;

beforeEach(async () => {
  // An identical find of another test would be asked about.
  home = await signedIn(mock.service);
});

type Imported = {
  added: number;
  drafts: number;
  photos: number;
  issues: { rule: string; row: number | null; column: string | null; message: string }[];
};

/** One clear error: its exit code, and a message for people that holds these words and no stack. */
async function refused(code: number, words: RegExp, ...args: string[]): Promise<void> {
  const run = await home.pas(...args);
  expect(run.stderr).toMatch(words);
  expect(run.stderr).not.toMatch(/\n\s+at /);
  expect(run.code).toBe(code);
}

describe('a table that cannot be read', () => {
  test('because it is missing', () =>
    refused(2, /There is no file nowhere\.csv/, 'import', 'nowhere.csv'));
  test('because it is a folder', () => refused(2, /is a folder/, 'import', home.folder));
  test('because its UTF-8 is damaged', () =>
    refused(
      2,
      /UTF-8/,
      'import',
      home.file('old.csv', Buffer.from('local_id;poznamka\nK-1;N\xc3\xa1lez \xc5alud\n', 'latin1')),
    ));
});

describe('a path that cannot be used', () => {
  const table = join(PROJECT, 'examples', 'museum', 'nalezy.csv');
  test.each([
    ['photo add', /needs a file name/, ['photo', 'add', 'K-1', '-']],
    [
      'photo match, missing',
      /The folder nowhere does not exist/,
      ['photo', 'match', 'nowhere', '--yes'],
    ],
    ['photo match, a file', /is a file, not a folder/, ['photo', 'match', table, '--yes']],
    ['validate, a folder', /is a folder/, ['validate', PROJECT]],
    ['validate, a table', /pas import \S+ --dry-run/, ['validate', table]],
    ['export to a folder', /is a folder/, ['export', '--out', PROJECT, '--yes']],
    ['export to a device', /is not a regular file/, ['export', '--out', '/dev/null', '--yes']],
    [
      'export to a folder that is missing',
      /The folder nowhere/,
      ['export', '--out', 'nowhere/finds does not exist.csv'],
    ],
    ['issues to stdout', /needs a file name/, ['import', table, '--issues-to', '-']],
    ['backup to stdout', /cannot be written to standard output/, ['backup', '-']],
    ['restore from stdin', /cannot be read from standard input/, ['restore', '-']],
    [
      'a map that is missing',
      /There is no file nowhere/,
      ['import', table, '--map', 'nowhere.toml'],
    ],
    [
      'a map and a table from one standard input',
      /standard input is empty/,
      ['import', '-', '--map', '-'],
    ],
  ])('%s: one clear error', (_, words, args) => refused(2, words, ...args));

  test('an empty document is invalid', async () => {
    const run = await home.pas('validate', home.file('empty.xml', ''));
    expect(run.stdout).toContain('empty.xml is empty.');
    await expectEnded(run, 3);
  });
});

describe('a table with a mistake', () => {
  async function listIssues(
    ...lines: string[]
  ): Promise<{ code: number | null; issues: Imported['issues'] }> {
    const run = await home.pas('import', home.file('table.csv', lines.join('\n')), '--json');
    const parsed = run.stdout.startsWith('{') ? (JSON.parse(run.stdout) as Imported) : undefined;
    return { code: run.code, issues: parsed?.issues ?? [] };
  }

  test('in a column name suggests the intended one', async () => {
    const { code, issues } = await listIssues('local_id;hlubka', 'K-1;3');
    expect(code).toBe(3);
    expect(issues[0]?.message).toMatch(/hlubka.*hloubka/s);
  });

  test('with a repeated column name is reported', async () => {
    const { code, issues } = await listIssues('local_id;hloubka;hloubka', 'K-1;3;4');
    expect(code).toBe(3);
    expect(issues[0]?.message).toMatch(/hloubka/);
  });

  test('in a row with too many cells names the row and imports the others', async () => {
    const path = writeSeason(home, 2);
    const lines = readFileSync(path, 'utf8').split('\n');
    const result = await listIssues(lines[0] ?? '', `${lines[1]};too;many`, lines[2] ?? '');
    expect(result.code).toBe(3);
    expect(result.issues.find(({ row }) => row === 2)?.message).toMatch(/cells/);
    expect(await home.json<unknown[]>('list')).toHaveLength(1);
  });
});

describe('an ambiguous depth is refused with both readings,', () => {
  beforeEach(async () => {
    await importSeason(home, 1);
  });

  test('in a table', async () => {
    const table = home.file('depths.csv', 'local_id;hloubka\nP-1;"1,000"\nP-2;2.000\n');
    const { issues } = await home.json<Imported>(
      'import',
      table,
      '--set',
      'projekt=C-202400101',
      '--set',
      'stav=1',
      '--dry-run',
    );
    const texts = issues
      .filter(({ rule }) => rule === 'integer')
      .map(({ row, message }) => `${row} ${message}`);
    expect(texts).toEqual([
      expect.stringContaining('2 "1,000" is ambiguous: it can mean 1 or 1000'),
      expect.stringContaining('3 "2.000" is ambiguous: it can mean 2 or 2000'),
    ]);
  });
});

describe('a photograph', () => {
  async function photoIssue(name: string): Promise<string> {
    const run = await home.pas('photo', 'add', 'K-1', join(home.folder, name), '--json');
    await expectEnded(run, 3);
    const { queued, issues } = JSON.parse(run.stdout) as {
      queued: number;
      issues: { message: string }[];
    };
    expect(queued).toBe(0);
    return issues[0]?.message ?? '';
  }

  beforeEach(async () => {
    await importSeason(home, 1);
  });

  test('that is not an image is named before anything is sent', async () => {
    home.file('notes.jpg', 'this is a text');
    expect(await photoIssue('notes.jpg')).toMatch(/notes\.jpg/);
  });

  test('that is too large is named with the limit', async () => {
    const path = home.file('huge.png', tinyPng(1));
    truncateSync(path, 262_144_001);
    expect(await photoIssue('huge.png')).toMatch(/262.?144.?00[01]/);
  });

  test('in a table may not lead out of the table’s folder, also not through a link', async () => {
    mkdirSync(join(home.folder, 'elsewhere'));
    writeFileSync(join(home.folder, 'elsewhere', 'secret.png'), tinyPng(2));
    mkdirSync(join(home.folder, 'season'));
    symlinkSync(join(home.folder, 'elsewhere'), join(home.folder, 'season', 'photos'));
    for (const name of ['../elsewhere/secret.png', 'photos/secret.png']) {
      const table = home.file(
        'season/table.csv',
        `local_id;stav;projekt;geom_system;pristupnost;photos\nK-9;1;C-202400101;4326;HES-000867;${name}`,
      );
      const run = await home.pas('import', table, '--json');
      await expectEnded(run, 3);
      const report = JSON.parse(run.stdout) as Imported;
      expect(report.photos).toBe(0);
      expect(report.issues.find(({ column }) => column === 'photos')?.message).toMatch(/folder/);
    }
  });

  test('that was changed after it was queued is not sent, and is reported', async () => {
    await home.do('photo', 'add', 'K-1', home.file('queued.png', tinyPng(3)));
    for (const copy of findPhotographCopies(home)) writeFileSync(copy, tinyPng(4));
    const before = (await mock.service.state()).photos;
    const run = await home.pas('push', '--json');
    await expectEnded(run, 3);
    expect(run.stdout).toMatch(/removed or changed/);
    expect((await mock.service.state()).photos).toBe(before);
  });

  test('that was removed after it was queued is not sent, and is reported', async () => {
    await home.do('photo', 'add', 'K-1', home.file('queued.png', tinyPng(5)));
    for (const copy of findPhotographCopies(home)) rmSync(copy);
    const run = await home.pas('push', '--json');
    await expectEnded(run, 3);
    expect(run.stdout).toMatch(/removed or changed/);
  });
});

describe('a configuration', () => {
  test('without the requested profile', () =>
    refused(12, /no profile nobody/, 'status', '--profile', 'nobody'));
  test('that is not TOML', async () => {
    home.file('pas/config.toml', 'profiles = [');
    await refused(12, /config\.toml is not valid TOML/, 'status');
  });
  test('with a key that does not exist', async () => {
    home.file('pas/config.toml', '[profiles.a]\nbase_ulr = "https://x.example"\n');
    await refused(12, /unknown key base_ulr/, 'status');
  });
  test('with a text in the place of yes or no', async () => {
    home.file('pas/config.toml', '[profiles.a]\nallow_http = "true"\n');
    await refused(12, /allow_http must be true or false/, 'status');
  });
  test.each([
    ['the password', '--base-url', 'http://finds.example.org'],
    [
      'the password to a stranger whose name begins like an address of this machine',
      '--base-url',
      'http://127.evil.example',
    ],
    ['the same for harvesting', '--oai-base', 'http://127.0.0.1.evil.example/oai'],
  ])('that would send %s unencrypted', async (_what, flag, address) => {
    const settings = [
      '--kind',
      'training',
      '--base-url',
      'https://x.example',
      '--schema-base',
      'https://x.example/s',
    ];
    await refused(12, /unencrypted/, 'init', '--name', 'b', ...settings, flag, address);
  });
  test.each(['base-url', 'oai-base', 'schema-base'])(
    'with a password in --%s, which is not repeated',
    async (flag) => {
      const settings = [
        '--kind',
        'training',
        '--base-url',
        'https://x.example',
        '--schema-base',
        'https://x.example/s',
      ];
      const run = await home.pas(
        'init',
        '--name',
        'b',
        ...settings,
        `--${flag}`,
        'https://eva:kladivo-42@x.example',
      );
      await expectEnded(run, 12);
      expect(run.stdout + run.stderr).not.toContain('kladivo-42');
    },
  );
});

test('a second login with a wrong password is refused with 4 and keeps the old password', async () => {
  const run = await home.with({ PAS_PASSWORD: 'wrong' }).pas('login');
  await expectEnded(run, 4);
  await home.do('whoami');
});

test('a production profile is not written to without confirmation', async () => {
  await home.init(
    { base_url: 'https://finds.example.org', schema_base: mock.service.schema_base },
    '--name',
    'real',
    '--kind',
    'production',
  );
  await refused(2, /production.*\n.*--yes/, 'push', '--profile', 'real');
});

test('wrong usage is reported in one line, with the probably intended command', async () => {
  await expectEnded(home.pas('imprt', 'x.csv'), 2, /Did you mean `pas import`/);
});

test('under --json the last line on stderr gives the result', async () => {
  const run = await home.pas('import', 'nowhere.csv', '--json');
  expect(jsonLines(run.stderr).at(-1)).toMatchObject({ type: 'exit', code: 2 });
});

describe('a server other than the service', () => {
  test.each([
    ['HTML', 200, '<html><body>Welcome to our museum</body></html>'],
    ['an error page', 404, '<html><body>Not Found</body></html>'],
  ])(
    'that answers with %s is named as a web page at login, exit 5',
    async (_name, status, page) => {
      const server = createServer((_request, response) => {
        response.writeHead(status, { 'content-type': 'text/html' }).end(page);
      }).listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const stray = makeHome({ PAS_PASSWORD: 'x' });
      await stray.init(serviceAt(address), '--username', 'a');
      const run = await stray.pas('login');
      server.close();
      await expectEnded(run, 5, /web page[\s\S]*If it is the wrong address/);
    },
  );

  test('that does not answer is out of reach, exit 5', async () => {
    const stray = makeHome({ PAS_PASSWORD: 'x' });
    await stray.init(serviceAt('http://127.0.0.1:9'), '--username', 'a');
    await expectEnded(stray.pas('login'), 5);
  });
});

test('a file name cannot forge a line in the output of any command', async () => {
  const name = 'a\n29 finds accepted\u2028x\u061c';
  const table = home.file(
    `${name}.csv`,
    'local_id;projekt;"a\n29 finds accepted"\nK-1;C-202400101;"\u0000"\n',
  );
  const photo = home.file(`${name}.jpg`, 'none');
  home.file(`${name}.xml`, '<x/>');
  for (const args of [
    ['import', table, '--dry-run'],
    ['import', table],
    ['import', `${name}.none`],
    ['list'],
    ['status'],
    ['show', name],
    ['validate', table],
    ['validate', `${name}.xml`],
    ['photo', 'add', 'K-1', photo],
    ['photo', 'add', name, photo],
    ['export', table],
    ['export', 'finds.csv', '--columns', name],
    ['number', 'import', table],
    ['backup', photo],
    ['restore', table],
    ['vocab', 'list', name],
    ['harvest', name],
    ['remove', name],
    ['edit', name, '--set', 'stav=1'],
    ['profile', name],
    ['photo', 'match', home.folder],
    ['report', '--out', table],
  ]) {
    const { stdout, stderr } = await home.pas(...args);
    const forged = `${stdout}\n${stderr}`
      .split(/[\n\r\u0085\u2028\u2029]/)
      .filter((line) => line.startsWith('29 finds'));
    expect([args[0], forged]).toEqual([args[0], []]);
  }
});
