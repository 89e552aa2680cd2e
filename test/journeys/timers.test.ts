import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inBash } from '../support/run-page.ts';
import { type Home, PROJECT, signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
const PAGE = readFileSync(join(PROJECT, 'docs', 'running.md'), 'utf8');

/** The file that the page shows under this name. */
function shownFile(name: string): string {
  const [, text] = new RegExp(`/${name}\`:\\n\\n\`\`\`ini\\n([\\s\\S]*?)\`\`\``).exec(PAGE) ?? [];
  if (text === undefined) throw new Error(`the page shows no ${name}`);
  return text;
}

/** `pas` where the archive's `install.sh` links it. */
function linkProgram(home: Home): void {
  const folder = join(home.folder, '.local', 'bin');
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'pas');
  writeFileSync(
    program,
    `#!/bin/sh\nexec "${process.execPath}" "${join(PROJECT, 'bin', 'pas.js')}" "$@"\n`,
  );
  chmodSync(program, 0o755);
}

/** Words after `pas`, for each system. */
const COMMANDS = [
  /^ExecStart=%h\/\.local\/bin\/pas (.+)$/m,
  /^\d.*bin\/pas" (.+?) >>/m,
  /-Argument '(.+)'$/m,
].map((pattern) => {
  const [, words] = pattern.exec(PAGE) ?? [];
  if (words === undefined) throw new Error(`the page shows no command like ${pattern}`);
  return words;
});

test.each([...new Set(COMMANDS)])(
  '`pas %s` from the page of timers sends what is queued',
  async (words) => {
    const home = await signedIn(mock.service);
    await importSeason(home, 1);
    await home.do(...words.replace('--profile field', '--profile mock').split(' '));
    await mock.expectMade({ finds: 1 });
  },
);

test.skipIf(process.platform === 'win32')(
  'the line for cron runs in the shell of cron and keeps the output of pas',
  async () => {
    const home = await signedIn(mock.service);
    await importSeason(home, 1);
    linkProgram(home);
    const [, line = ''] = /^(?:[\d*]+ ){5}(.+)$/m.exec(PAGE) ?? [];
    expect(line).not.toBe('');
    expect(line).not.toMatch(/(?<!\\)%/);
    const script = line.replace('--profile field', '--profile mock');
    await inBash(
      home.folder,
      `env -i HOME="$HOME" PATH=/usr/bin:/bin PAS_HOME="$PAS_HOME" XDG_STATE_HOME="$XDG_STATE_HOME" /bin/sh -c '${script}'`,
      home.env,
    );
    expect(readFileSync(join(home.folder, 'pas-push.log'), 'utf8')).toContain('1 accepted');
  },
);

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!hasSystemd)('systemd accepts the units on the page of timers', async () => {
  const home = await signedIn(mock.service);
  linkProgram(home);
  const units = ['pas-push.service', 'pas-push.timer'].map((name) =>
    home.file(join('units', name), shownFile(name)),
  );
  const { status, stdout, stderr } = spawnSync(
    'systemd-analyze',
    ['verify', '--user', '--man=no', ...units],
    {
      encoding: 'utf8',
      env: { ...process.env, HOME: home.folder, XDG_RUNTIME_DIR: home.folder },
    },
  );
  // Its statements about units of this machine do not apply to these.
  expect(`${stdout}${stderr}`.split('\n').filter((line) => line.includes('pas-push'))).toEqual([]);
  expect(status).toBe(0);
});
