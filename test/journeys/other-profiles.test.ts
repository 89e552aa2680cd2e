import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Home, signedIn } from '../support/run-pas.ts';
import { sendSeason, writeSeason } from '../support/season.ts';
import { startMock } from '../support/start-mock.ts';

/**
 * `mock`, a training profile, is the configured one; `the.museum` is production, where nothing was
 * sent yet.
 */
let home: Home;
let ident: string;

const MUSEUM = 'the.museum';

beforeAll(async () => {
  await using mock = await startMock();
  home = await signedIn(mock.server);
  await sendSeason(home, 2);
  const run = await home.init(
    {
      base_url: 'https://finds.example.org',
      oai_base: 'https://api.example.org/oai',
      schema_base: 'https://api.example.org/schema/svc',
    },
    '--name',
    MUSEUM,
    '--kind',
    'production',
    '--username',
    'archaeologist',
  );
  expect(run.stderr).toContain(`\`pas login --profile ${MUSEUM}\``);
  const [first] = await home.json('list');
  ident = first?.ident_cely ?? '';
});

describe('advised commands', () => {
  test('name the profile if it is not the default one', async () => {
    const draft = home.file('draft.csv', 'local_id;projekt;hloubka\nDR 1;C-202400101;5\n');
    const imported = await home.pas('import', draft, writeSeason(home, 1), '--profile', MUSEUM);
    expect(imported.stderr).not.toContain('`pas push`');
    const status = (await home.pas('status', '--profile', MUSEUM)).stdout;
    expect(status).toContain(`pas edit --profile ${MUSEUM} 'DR 1'\n`);
    expect((await home.pas('show', 'DR 1', '--profile', MUSEUM)).stdout).toContain(
      `pas edit --profile ${MUSEUM} 'DR 1'`,
    );
    const numbers = home.file('numbers.csv', 'local_id;evidencni_cislo\nDR 1;A 1\n');
    const numbered = await home.pas('number', 'import', numbers, '--profile', MUSEUM);
    expect(numbered.stderr).toMatch(/^PRODUCTION: /m);
    expect(numbered.stderr).toContain(`\`pas push --profile ${MUSEUM}\``);
    const own = (
      await home.pas(
        'number',
        'import',
        home.file('own.csv', 'local_id;evidencni_cislo\nK-2;A 2\n'),
        '--profile',
        'mock',
      )
    ).stderr;
    expect(own).toContain('`pas push`');
  });

  test('are listed with their purpose, in the language of the reader', async () => {
    expect((await home.pas('profile', 'list', '--lang', 'cs')).stdout).toMatch(
      /mock +cvičná instance[\s\S]*the\.museum +ostrá instance/,
    );
    expect(await home.json('profile', 'list')).toMatchObject([
      { kind: 'training' },
      { kind: 'production' },
    ]);
  });

  test('name the profile in texts made far from the command line too, and for programs', async () => {
    const unknown = await home.pas('show', 'NOPE', '--profile', MUSEUM, '--json');
    const list = `\`pas list --profile ${MUSEUM}\` shows`;
    const hint = `FIND is a local id (${list} them) or the identifier given by the service.`;
    expect(unknown.stderr).toContain(`     ${hint}\n`);
    expect(JSON.parse(unknown.stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
      type: 'exit',
      hint,
    });
    const checked = await home.json<{ checks: { name: string; todo: string }[] }>(
      'doctor',
      '--offline',
      '--profile',
      MUSEUM,
    );
    expect(checked.checks.find(({ name }) => name === 'vocabulary-age')?.todo).toContain(
      `pas harvest-vocab --profile ${MUSEUM}`,
    );
  });

  test('name the configured profile if PAS_PROFILE names another one', async () => {
    const elsewhere = home.with({ PAS_PROFILE: MUSEUM });
    const run = await elsewhere.pas('number', 'set', 'K-1', 'A 3', '--profile', 'mock');
    expect(run.code).toBe(0);
    expect((await elsewhere.pas('status', '--profile', 'mock')).stdout).toContain(
      '  pas push --profile mock\n',
    );
  });
});

test('an identifier from a training instance has no link in a report if harvesting is production’s', async () => {
  const text = async (): Promise<string> => {
    await home.do('report', join(home.folder, 'page.html'), '--yes');
    return readFileSync(join(home.folder, 'page.html'), 'utf8');
  };
  expect(await text()).toContain(`/id/${ident}`);
  const config = join(home.folder, 'pas', 'config.toml');
  const own = readFileSync(config, 'utf8');
  home.file(
    'pas/config.toml',
    own.replace(/^(oai_base = ")http:[^"]*(")/m, '$1https://api.example.org/oai$2'),
  );
  const page = await text();
  home.file('pas/config.toml', own);
  expect(page).toContain(ident);
  expect(page).not.toContain(`/id/${ident}`);
  expect(page).not.toContain('api.example.org');
});
