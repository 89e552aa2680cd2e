import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HAS_REDIS, type RedisProcess, startRedis } from '../pace/redis-process.ts';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { expectEnded, type Home, jsonLines, makeHome, signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';

const SECRET = 'sesame-open';
const PLACES = [
  '--base-url',
  'https://a.example.org',
  '--schema-base',
  'https://a.example.org/schema/svc',
  '--kind',
  'training',
];

type Report = { checks: { name: string; level: string; message: string; todo: string | null }[] };
const readPacing = async (home: Home, ...flags: string[]) =>
  (await home.json<Report>('doctor', ...flags)).checks.find(({ name }) => name === 'pacing');

test('an address with a password is refused with 12, in a flag and in the file, and is not repeated', async () => {
  const home = makeHome();
  const flag = await home.pas('init', ...PLACES, '--set', `pacing=redis://:${SECRET}@127.0.0.1/0`);
  await expectEnded(flag, 12, 'contains a password');
  await home.do('init', ...PLACES, '--set', 'pacing=redis://127.0.0.1/0');
  const file = join(home.folder, 'pas', 'config.toml');
  const sound = readFileSync(file, 'utf8');
  writeFileSync(file, sound.replace('redis://', `redis://eva:${SECRET}@`));
  const inFile = await home.pas('status');
  await expectEnded(inFile, 12, 'PAS_PACING_PASSWORD');
  writeFileSync(file, sound.replace('redis://', `redis://eva:${SECRET}@`).replace('/0"', '/0'));
  const malformed = await home.pas('profile', 'show', '--json');
  await expectEnded(malformed, 12);
  expect(JSON.stringify([flag, inFile, malformed])).not.toContain(SECRET);
});

describe.skipIf(!HAS_REDIS)('with a redis-server that requires a password', () => {
  let service: RunningMock;
  let redis: RedisProcess;
  let home: Home;
  beforeAll(async () => {
    service = await serveMock('--min-interval', '10');
    redis = await startRedis('--requirepass', SECRET);
    home = await signedIn(service, ['--set', `pacing=${redis.url}`]);
    await importSeason(home, 2);
  });
  afterAll(async () => {
    await service.stop();
    await redis[Symbol.asyncDispose]();
  });

  test('a wrong or missing one ends a push with 12 before anything is sent', async () => {
    const none = await home.pas('push');
    const wrong = await home
      .with({ PAS_PACING_PASSWORD: 'sesame-shut' })
      .pas('push', '--json', '--verbose');
    await expectEnded(none, 12, 'NOAUTH');
    await expectEnded(wrong, 12, 'WRONGPASS');
    expect(jsonLines(wrong.stderr).at(-1)).toMatchObject({ type: 'exit', code: 12 });
    expect(JSON.stringify(wrong)).not.toContain('sesame');
    expect((await service.journal()).filter(({ path }) => path.startsWith('/api/pas/'))).toEqual(
      [],
    );
    expect(await readPacing(home)).toMatchObject({
      level: 'problem',
      message: expect.stringContaining('refuses'),
    });
  });

  test('the right one is stored and printed nowhere', async () => {
    const knowing = home.with({ PAS_PACING_PASSWORD: SECRET });
    await knowing.do('login');
    const debugged = await knowing.with({ DEBUG: '*' }).do('push', '--json', '--verbose');
    expect(jsonLines(debugged.stdout).at(-1)).toMatchObject({ type: 'summary', accepted: 2 });
    const shown = await knowing.do('profile', 'show', '--json');
    const doctor = await knowing.pas('doctor', '--json', '--verbose');
    expect(JSON.stringify([debugged, shown, doctor])).not.toContain(SECRET);
    for (const file of ['config.toml', 'secrets.json'])
      expect(readFileSync(join(home.folder, 'pas', file), 'utf8')).not.toContain(SECRET);
    expect(await readPacing(knowing)).toMatchObject({
      level: 'ok',
      message: expect.stringMatching(/^Redis at 127\.0\.0\.1:\d+\/0 answers$/),
    });
    expect(await readPacing(knowing, '--offline')).toBeUndefined();
  });

  test('doctor warns that it travels unencrypted, except on this machine', async () => {
    const far = await signedIn(service, ['--set', `pacing=redis://0.0.0.0:${redis.port}/0`]);
    expect(await readPacing(far.with({ PAS_PACING_PASSWORD: SECRET }))).toMatchObject({
      level: 'warning',
      message: expect.stringContaining('the password is sent unencrypted'),
      todo: expect.stringContaining('rediss://'),
    });
  });

  test('a server that hangs during a push is given up after a second, and Ctrl-C still works', async () => {
    await importSeason(home, 40);
    const knowing = home.with({ PAS_PACING_PASSWORD: SECRET });
    const push = knowing.start('push', '--json');
    await push.until(({ stdout }) => jsonLines(stdout).length >= 3);
    redis.pause();
    await push.until(({ stderr }) => stderr.includes('it does not answer'));
    push.child.kill('SIGINT');
    const run = await push.ended;
    redis.resume();
    expect(run).toMatchObject({ code: 130, signal: null });
    expect(jsonLines(run.stdout).at(-1)).toMatchObject({
      type: 'summary',
      uncertain: 0,
      refused: 0,
    });
    await knowing.do('push');
  });

  test('if no server answers, doctor says so, and a push with nothing to send ends at once', async () => {
    await redis.kill();
    expect(await readPacing(home)).toMatchObject({
      level: 'problem',
      message: expect.stringContaining('ECONNREFUSED'),
      todo: expect.stringContaining('one request every 2 s'),
    });
    const push = await home.do('push');
    expect(push.stderr).toContain('cannot be used');
  });
});
