import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { writeSeason } from '../support/a-season.ts';
import { expectDone, type Home, makeHome, PROJECT, type Run, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '0');
let home: Home;
let units: string;

/** A `systemctl` that notes what it is told, and refuses what it is to refuse. */
function withSystemctl(from: Home, refusal = ''): Home {
  const script = from.file('bin/systemctl', `#!/bin/sh\necho "$@" >> "$HOME/told"\n${refusal}\n`);
  chmodSync(script, 0o755);
  return from.with({ PATH: `${join(from.folder, 'bin')}:${process.env['PATH']}` });
}

const told = (): string[] => readFileSync(join(home.folder, 'told'), 'utf8').trim().split('\n');

beforeEach(async () => {
  home = withSystemctl(await signedIn(mock.service, 'archaeologist', WITHOUT_PAUSES));
  units = join(home.folder, '.config', 'systemd', 'user');
});

/** What systemd would start, in the little environment that it gives. */
async function runOnce(): Promise<Pick<Run, 'code'>> {
  const [service = ''] = readdirSync(units).filter((name) => name.endsWith('.service'));
  const line = /^ExecStart=(.*)$/m.exec(readFileSync(join(units, service), 'utf8'))?.[1] ?? '';
  const child = spawn('/bin/sh', ['-c', `exec ${line}`], { cwd: '/', env: { HOME: home.folder }, stdio: 'ignore' });
  return { code: await new Promise((end) => child.on('close', end)) };
}

describe.runIf(process.platform === 'linux')('a push that runs by itself', () => {
  test('is begun by systemd, sends what is queued, and its end is told by status', async () => {
    await expectDone(home.pas('import', writeSeason(home, 3)));
    const made = await expectDone(home.pas('schedule', 'push', '--every', '30m'));
    expect(made.stdout).toMatch(/^pas push now runs by itself, every 30 min\. Its log: .*\.log\n$/);
    const [service = '', timer = ''] = readdirSync(units).sort();
    expect(timer).toMatch(/^pas-push-mock-[\da-f]{8}\.timer$/);
    expect(readFileSync(join(units, timer), 'utf8')).toContain('OnUnitActiveSec=1800s');
    expect(service).toBe(timer.replace('timer', 'service'));
    expect(told()).toEqual(['--user daemon-reload', `--user enable --now ${timer}`]);
    expect((await home.pas('status')).stdout).toContain(
      'pas push (profile mock) runs by itself every 30 min; it has not run yet.',
    );

    expect(await runOnce()).toEqual({ code: 0 });
    expect(await mock.made()).toMatchObject({ finds: 3 });
    const after = await home.pas('status');
    expect(after.stdout).toMatch(/every 30 min; the last run began \d\d:\d\d and ended with 0: everything requested is done\./);
    expect(await home.json('status')).toMatchObject({
      schedules: [{ command: 'push', profile: 'mock', every_ms: 1_800_000, last: { exit_code: 0 } }],
    });
    const log = /Its log: (.*)\n/.exec(made.stdout)?.[1] ?? '';
    expect(readFileSync(log, 'utf8')).toMatch(/3 accepted, 0 refused.*\n== .*: 0\n$/s);
  });

  test('keeps the exit code of a run that failed, and its reason in the log', async () => {
    await expectDone(home.pas('schedule', 'push'));
    await expectDone(home.pas('logout'));
    await expectDone(home.pas('import', writeSeason(home, 1)));
    expect(await runOnce()).toEqual({ code: 4 });
    expect((await home.pas('status')).stdout).toMatch(/ended with 4: the account is not signed in or not allowed/);
    expect(await mock.made()).toMatchObject({ finds: 0 });
  });

  test('is taken away again, with its log left', async () => {
    await expectDone(home.pas('schedule', 'push'));
    await runOnce();
    const removed = await expectDone(home.pas('schedule', 'push', '--remove'));
    expect(told().slice(2)).toEqual([expect.stringMatching(/^--user disable --now pas-push-.*\.timer$/), '--user daemon-reload']);
    expect(readdirSync(units)).toEqual([]);
    expect(existsSync(/stays: (.*)\n/.exec(removed.stdout)?.[1] ?? '')).toBe(true);
    expect(await home.json('status')).toMatchObject({ schedules: [] });
    expect(await home.pas('schedule', 'push', '--remove')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not scheduled'),
    });
  });

  test('is one for each home, profile and command; a second time changes how often', async () => {
    await expectDone(home.pas('schedule', 'push', '--every', '1h'));
    await expectDone(home.pas('schedule', 'pull', '--every', '1d'));
    await expectDone(home.pas('schedule', 'push', '--every', '6h'));
    expect(readdirSync(units)).toHaveLength(4);
    expect((await expectDone(home.pas('schedule'))).stdout.split('\n').map((line) => line.replace(/;.*/, ''))).toEqual([
      'pas pull (profile mock) runs by itself every 1 d',
      'pas push (profile mock) runs by itself every 6 h',
      '',
    ]);
    const other = home.with({ PAS_HOME: join(home.folder, 'other') });
    expect((await expectDone(other.pas('schedule'))).stdout).toMatch(/^Nothing runs by itself/);
  });

  test('is shown before anything is changed', async () => {
    const shown = await expectDone(home.pas('schedule', 'push', '--dry-run'));
    expect(shown.stdout).toMatch(/ExecStart="[^"]*" "[^"]*pas\.js" "__scheduled" "[^"]*"/);
    expect(shown.stdout).toContain('systemctl --user enable --now');
    expect(existsSync(units)).toBe(false);
    expect(existsSync(join(home.folder, 'told'))).toBe(false);
  });

  test('leaves nothing where the system refuses, and says what else there is', async () => {
    const refused = await withSystemctl(home, 'echo "Failed to connect to bus" >&2; exit 1').pas(
      'schedule',
      'push',
      '--every',
      '30m',
    );
    expect(refused).toMatchObject({ code: 12, stderr: expect.stringContaining('Failed to connect to bus') });
    expect(refused.stderr.replaceAll(/\s+/g, ' ')).toMatch(/crontab -e.*\*\/30 \* \* \* \* /);
    expect(readdirSync(units)).toEqual([]);
    expect(await home.json('schedule')).toEqual([]);
  });

  test('is not made for a production service without a word, and then says yes each time', async () => {
    const config = join(home.folder, 'pas', 'config.toml');
    writeFileSync(config, readFileSync(config, 'utf8').replace('kind = "training"', 'kind = "production"\nallow_http = true'));
    const asked = await home.pas('schedule', 'push');
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('Add --yes') });
    expect(existsSync(units)).toBe(false);
    await expectDone(home.pas('schedule', 'push', '--yes'));
    await expectDone(home.pas('import', writeSeason(home, 1)));
    expect(await runOnce()).toEqual({ code: 0 });
    expect(await mock.made()).toMatchObject({ finds: 1 });
  });
});

test.each([
  [['schedule', 'push', '--every', '3'], /from 5m to 7d/],
  [['schedule', 'push', '--every', '1m'], /from 5m to 7d/],
  [['schedule', 'add'], /push, pull, harvest-vocab, reconcile/],
])('pas %j says what can be written', async (args, said) => {
  expect(await home.pas(...args)).toMatchObject({ code: 2, stderr: expect.stringMatching(said) });
});

test('a job of which the file is damaged is named', async () => {
  const file = home.file('job.json', '{"command":');
  expect(await home.pas('__scheduled', file)).toMatchObject({ code: 12, stderr: expect.stringContaining('holds no job of pas') });
});

describe.runIf(process.platform !== 'win32')('setup-path', () => {
  const bare = (more: NodeJS.ProcessEnv = {}): Home => makeHome(more);
  const links = (of: Home): string => join(of.folder, '.local', 'bin');

  test('links the programs to where shells look, and takes the links away', async () => {
    const own = bare();
    const said = await expectDone(own.pas('setup-path'));
    expect(said.stderr).toContain('export PATH="$HOME/.local/bin:$PATH"');
    const shell = spawn('sh', ['-c', 'pas --version'], { env: { ...own.env, PATH: `${links(own)}:${process.env['PATH']}` } });
    let printed = '';
    shell.stdout.on('data', (bytes) => (printed += String(bytes)));
    await new Promise((end) => shell.on('close', end));
    expect(printed.trim()).toBe((JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { version: string }).version);
    const again = await expectDone(own.with({ PATH: `${links(own)}:${process.env['PATH']}` }).pas('setup-path'));
    expect(again.stderr).toBe('');
    await expectDone(own.pas('setup-path', '--remove'));
    expect(readdirSync(links(own))).toEqual([]);
    expect((await expectDone(own.pas('setup-path', '--remove'))).stdout).toMatch(/There are no links/);
  });

  test('leaves a program of another kind alone', async () => {
    const own = bare();
    const other = own.file('.local/bin/pas', '#!/bin/sh\n');
    expect(await own.pas('setup-path')).toMatchObject({ code: 2, stderr: expect.stringContaining('is another program') });
    expect(readFileSync(other, 'utf8')).toBe('#!/bin/sh\n');
    expect(existsSync(join(links(own), 'pas-mock-server'))).toBe(false);
  });
});
