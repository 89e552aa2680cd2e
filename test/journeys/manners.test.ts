import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { measureDisplayWidth } from '../../src/base/characters.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openOutbox } from '../../src/outbox/open-outbox.ts';
import { recordNewFind } from '../../src/outbox/wishes.ts';
import { outboxFile } from '../support/outbox-files.ts';
import { inBash } from '../support/run-page.ts';
import { expectEnded, type Home, makeHome, PROJECT, serviceAt } from '../support/run-pas.ts';
import { startTerminal, whyNoTerminal } from '../support/terminal-session.ts';

const PAS = `"${process.execPath}" "${join(PROJECT, 'bin', 'pas.js')}"`;
const NOBODY = 'http://127.0.0.1:9';
let home: Home;

beforeAll(async () => {
  home = makeHome();
  const service = { base_url: NOBODY, schema_base: 'http://127.0.0.1:8099/schema/svc' };
  await home.init(service, '--name', 'field', '--username', 'a');
});

test.skipIf(process.platform !== 'linux')(
  'an export with a closed standard output fails with a message, and one to the null device does not',
  async () => {
    const text = await inBash(
      home.folder,
      `${PAS} export >&- 2> said || code=$?; cat said; echo "ended with $code"; ${PAS} export > /dev/null`,
      home.env,
    );
    expect(text).toMatch(
      /^pas: Standard output is closed, so nothing can be written to it\.\n.*--out.*\nended with [1-9]/,
    );
  },
);

test.each([
  [['vocab', 'serch', 'x'], /Did you mean search\?/],
  [['help', 'imprt'], /Did you mean import\?/],
])('a mistyped %j suggests the intended one', async (args, suggestion) => {
  const run = await home.pas(...args);
  expect(run.stderr).toMatch(suggestion);
  await expectEnded(run, 2);
});

test.each([
  [['help', 'vocab', 'search'], /^Usage: pas vocab search /],
  [['help', 'search'], /^Usage: pas vocab search /],
  [['vocab', 'help', 'map'], /^Usage: pas vocab map /],
  [['help', 'help'], /^Usage: pas \[options\] \[command\]/],
  [['--lang', 'cs', 'help', 'photo', 'add'], /^Použití: pas photo add /],
])('%j shows the help of that command', async (args, page) => {
  const run = await home.pas(...args);
  expect(run.stdout).toMatch(page);
  await expectEnded(run, 0);
});

test.each([[['--lang', 'en']], [['help']], [['--help']]])(
  '%j shows few commands, in the order of a first push',
  async (args) => {
    const run = await home.pas(...args);
    const page = run.stdout + run.stderr;
    expect(page.match(/^ {2}\S+(?= {2})/gm)?.map((name) => name.trim())).toEqual([
      'demo',
      'init',
      'login',
      'harvest-vocab',
      'import',
      'validate',
      'push',
      'status',
      'add',
      'report',
      'doctor',
    ]);
    expect(page).toMatch(/^Steps to the first push:\n {2}init [\s\S]+^ {2}push /m);
    expect(page).toContain('`pas help --all`');
    expect(page.split('\n').length).toBeLessThan(30);
  },
);

test('`pas help --all` shows every command and the exit codes', async () => {
  const { code, stdout } = await home.pas('help', '--all');
  expect(stdout).toMatch(
    /^ {2}resolve \[options\] \[find\.{3}\] [\s\S]+^ {2}completion [\s\S]+^Exit codes:\n/m,
  );
  expect(code).toBe(0);
  expect((await home.pas('--lang', 'cs', '--help', '--all')).stdout).toMatch(
    /^Příkazy:\n {2}demo \[options\] /m,
  );
});

test('a profile is shown with the keys of config.toml', async () => {
  const { stdout } = await home.pas('profile', 'show');
  expect(stdout).toMatch(/^base_url: http.*\n[\s\S]*^schema_base: [\s\S]*^min_interval_ms: 100$/m);
});

test('a watch with nothing queued says so, and does not mention a missing network', async () => {
  const watch = home.start('push', '--watch');
  await watch.until(({ stderr }) => stderr.includes('Waiting for new entries'));
  watch.child.kill('SIGINT');
  const { stderr, code } = await watch.ended;
  expect(stderr).toContain('Nothing can be sent now;');
  expect(stderr).not.toMatch(/sent\. Waiting|reached/);
  expect(code).toBe(0);
});

test('a watch ends where its data home is removed, and says so', async () => {
  const lost = home.copy();
  const watch = lost.start('push', '--watch');
  await watch.until(({ stderr }) => stderr.includes('Waiting for new entries'));
  rmSync(join(lost.folder, 'pas', 'outboxes'), { recursive: true });
  await expectEnded(watch.ended, 12, 'was removed or replaced while it was watched');
});

test('a reader that closes early causes no error', async () => {
  const text = await inBash(
    home.folder,
    `set -o pipefail; ${PAS} doctor --offline | head -1; ${PAS} --help | head -1`,
    home.env,
  );
  expect(text).toMatch(/^✓ home .*\nUsage: pas /);
});

test('a reader that closes early ends an export without an error', async () => {
  const many = makeHome();
  await many.init(serviceAt(NOBODY), '--name', 'field');
  await many.do('list');
  const outbox = openOutbox(outboxFile(many, 'field'), systemClock);
  outbox.change(() => {
    for (let n = 1; n <= 1000; n += 1)
      recordNewFind(
        outbox,
        {
          localId: `K-${n}`,
          elements: { poznamka: 'x'.repeat(100) },
          rows: [],
        },
        { document: null, issues: [] },
      );
  });
  outbox.close();
  const output = await inBash(
    many.folder,
    `set -o pipefail; ${PAS} export | head -c 11; echo " ended with $?"`,
    many.env,
  );
  expect(output).toBe('\ufefflocal_id ended with 0\n');
});

test('a document is validated from standard input', async () => {
  const document = join(PROJECT, 'examples', 'find-state-2.xml');
  const run = await inBash(
    home.folder,
    `${PAS} validate - < "${document}" && ${PAS} validate - <<< '<a>' || echo "ended with $?"`,
    home.env,
  );
  expect(run).toMatch(
    /^1 valid, 0 invalid\.\n✗ standard input, .*\n0 valid, 1 invalid\.\nended with 3\n$/m,
  );
});

test('the language in config.toml applies if nothing else names one, and is kept when pas writes the file', async () => {
  const file = join(home.folder, 'pas', 'config.toml');
  const unsaid = home.with({ PAS_LANG: '', LANG: 'en_GB.UTF-8' });
  const before = readFileSync(file, 'utf8');
  try {
    writeFileSync(file, `lang = "cs"\n${before}`);
    await expectEnded(unsaid.pas('profile', 'use', 'field'), 0);
    expect(readFileSync(file, 'utf8')).toContain('lang = "cs"');
    expect((await unsaid.pas('list', '--help')).stdout).toMatch(/^Použití: /);
    expect((await unsaid.pas('list', '--help', '--lang', 'en')).stdout).toMatch(/^Usage: /);
    writeFileSync(file, `lang = "čeština"\n${before}`);
    await expectEnded(unsaid.pas('list'), 12, /config\.toml: lang must be one of en, cs\./);
  } finally {
    writeFileSync(file, before);
  }
});

test('a narrow terminal without colours gets lines that fit, with whole commands and paths', async ({
  skip,
}) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  const plain = home.with({ NO_COLOR: '1', PAS_LANG: 'cs' });
  await using terminal = await startTerminal(['doctor', '--offline'], plain, {
    columns: 60,
    rows: 60,
  });
  const { screen } = await terminal.ended();
  expect(screen).toContain('Připraveno k odesílání');
  expect(Math.max(...screen.split('\n').map(measureDisplayWidth))).toBeLessThanOrEqual(60);
});

const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
  version: string;
};

test.each(['--version', 'version'])('pas %s prints the version alone', async (word) => {
  expect(await makeHome().pas(word)).toMatchObject({
    code: 0,
    stdout: `${version}\n`,
    stderr: '',
  });
});
