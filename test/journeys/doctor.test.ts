import { chmodSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pasAsOrdinaryUser } from '../support/hostile-disk.ts';
import { findPhotographCopies } from '../support/outbox-files.ts';
import { type Home, makeHome, serviceAt, signedIn } from '../support/run-pas.ts';
import { importSeason, sendSeason, tinyPng } from '../support/season.ts';
import { serve } from '../support/serve.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock);

type Report = {
  ok: boolean;
  checks: { name: string; level: string; message: string; todo: string | null }[];
};

async function diagnose(
  where: Home,
  ...flags: string[]
): Promise<{ code: number | null; levels: Record<string, string>; report: Report }> {
  const run = await where.pas('doctor', '--json', ...flags);
  const report = JSON.parse(run.stdout) as Report;
  return {
    code: run.code,
    report,
    levels: Object.fromEntries(report.checks.map(({ name, level }) => [name, level])),
  };
}

test('on a healthy system every line is positive and says something, and nothing changes at the service', async () => {
  await home.do('harvest-vocab', 'organizace');
  await sendSeason(home, 1);
  const before = await mock.service.state();
  const { code, levels, report } = await diagnose(home);
  expect(Object.entries(levels).filter(([, level]) => level !== 'ok')).toEqual([]);
  expect(Object.keys(levels)).toEqual(
    expect.arrayContaining([
      'home',
      'disk',
      'outbox',
      'profile',
      'pacing',
      'secrets',
      'vocabulary-age',
      'service',
      'clock',
      'account',
      'writing',
      'schema',
      'harvesting',
    ]),
  );
  expect(report.checks.filter(({ message }) => message === '')).toEqual([]);
  expect(report.ok).toBe(true);
  expect(code).toBe(0);
  const after = await mock.service.state();
  expect({ finds: after.finds, photos: after.photos }).toEqual({
    finds: before.finds,
    photos: before.photos,
  });
});

describe('what another user has made, and must not be read, is a problem', () => {
  test.each([
    ['an outbox', 'outbox', (path: string) => join(path, 'outboxes')],
    ['a photograph', 'photographs', () => findPhotographCopies(home)[0] ?? ''],
  ])('%s', async (_, name, getPath) => {
    await importSeason(home, 1, { photos: true });
    const path = getPath(join(home.folder, 'pas'));
    const mode = statSync(path).mode;
    chmodSync(path, 0);
    const { code, stdout } = pasAsOrdinaryUser(home, 'doctor', '--offline', '--json');
    chmodSync(path, mode);
    const { checks } = JSON.parse(stdout) as Report;
    expect([code, checks.find((check) => check.name === name)]).toMatchObject([
      12,
      { level: 'problem', message: expect.stringContaining('permission denied') },
    ]);
  });
});

test('a problem of the machine is named with advice', async () => {
  await importSeason(home, 1);
  await home.do('photo', 'add', 'K-1', home.file('p.png', tinyPng(1)));
  for (const copy of findPhotographCopies(home)) rmSync(copy);
  const { code, levels, report } = await diagnose(home, '--offline');
  expect(levels).toMatchObject({
    photographs: 'problem',
    outbox: 'ok',
    'vocabulary-age': 'warning',
  });
  expect(levels).not.toHaveProperty('service');
  expect(report.checks.filter(({ level, todo }) => level !== 'ok' && todo === null)).toEqual([]);
  expect(code).toBe(3);
});

test.each([
  ['a closed interface', { access_mode: 'closed' }, 5],
  ['a refused address', { access_rules: [{ rule_type: 'ip_blacklist', value: '127.0.0.1' }] }, 4],
])(
  '%s is reported as a problem of writing, while the account is fine',
  async (_name, settings, exitCode) => {
    await mock.service.settings(settings);
    const { code, levels, report } = await diagnose(home);
    expect(levels).toMatchObject({ service: 'ok', account: 'ok', writing: 'problem' });
    expect(report.checks.find(({ name }) => name === 'writing')?.message).toMatch(/[^.]\.$/);
    expect(code).toBe(exitCode);
  },
);

test('a wrong clock, a limited role and a wrong schema location are reported', async () => {
  await mock.service.clock({ advance_ms: 3_600_000 });
  const researcher = await signedIn(
    mock.service,
    ['--schema-base', `${mock.service.base_url}/elsewhere`],
    'researcher',
  );
  const { levels, report } = await diagnose(researcher);
  expect(levels).toMatchObject({ clock: 'warning', schema: 'problem' });
  expect(report.checks.find(({ name }) => name === 'clock')?.message).toMatch(/by −3[56]\d\d s/);
  expect(report.checks.find(({ name }) => name === 'account')?.message).toMatch(/state 1 only/);
});

test('a missing login, an unreachable service and a missing profile are each one problem, and the check continues', async () => {
  const stranger = makeHome();
  const empty = await diagnose(stranger);
  expect(empty.levels).toMatchObject({ profile: 'problem', home: 'warning' });
  expect(empty.code).toBe(12);
  const nowhere = { base_url: 'http://127.0.0.1:9', schema_base: 'http://127.0.0.1:9/s' };
  await stranger.init(nowhere, '--username', 'a');
  const offline = await diagnose(stranger);
  expect(offline.levels).toMatchObject({
    secrets: 'warning',
    service: 'problem',
    harvesting: 'warning',
  });
  expect(offline.code).toBe(5);
  expect(offline.levels).not.toHaveProperty('account');
  const { base_url, schema_base } = mock.service;
  await stranger.init({ base_url, schema_base }, '--username', 'a');
  const unknown = await diagnose(stranger);
  expect(unknown.levels).toMatchObject({ service: 'ok', account: 'problem' });
  expect(unknown.code).toBe(4);
});

test('a server that is not the service is recognised', async () => {
  const address = await serve((_, response) => response.end('<html>Welcome</html>'));
  const stray = makeHome({ PAS_PASSWORD: 'x' });
  await stray.init(serviceAt(address), '--username', 'a');
  const { levels } = await diagnose(stray);
  expect(levels).toMatchObject({ account: 'problem', harvesting: 'problem' });
});
