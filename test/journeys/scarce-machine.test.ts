import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { canMountDisks } from '../support/hostile-disk.ts';
import { type Home, makeHome, PROJECT } from '../support/run-pas.ts';

const BIN = join(PROJECT, 'bin', 'pas.js');
const ADDRESS = 'http://127.0.0.1:9';
const PROFILE = `default_profile = "a"
[profiles.a]
kind = "training"
base_url = "${ADDRESS}"
oai_base = "${ADDRESS}"
schema_base = "${ADDRESS}/schema"
username = "eva"
`;

function homeWithProfile(): Home {
  const home = makeHome({ PAS_KEYRING: 'off' });
  home.file('pas/config.toml', PROFILE);
  return home;
}

describe.skipIf(!canMountDisks && process.env['CI'] === undefined)('on a disk that is full', () => {
  let home: Home;
  beforeEach(() => {
    home = homeWithProfile();
  });
  const onFullDisk = (folder: 'pas' | 'state', ...args: string[]) => {
    mkdirSync(join(home.folder, 'state'), { recursive: true });
    const script = `
      cp -a ${folder} kept; mount -t tmpfs -o size=4m,mode=700 none ${folder}; cp -a kept/. ${folder}
      dd if=/dev/zero of=${folder}/filler bs=4k 2>/dev/null
      "${process.execPath}" "${BIN}" ${args.join(' ')}`;
    return spawnSync('unshare', [process.getuid?.() === 0 ? '-m' : '-rm', 'bash', '-c', script], {
      env: { ...home.env, PAS_PASSWORD: 'x' },
      cwd: home.folder,
      encoding: 'utf8',
    });
  };

  test.each([
    ['the pace', 'state', ['push', '--yes']],
    ['the outbox', 'pas', ['list']],
    ['the vocabulary', 'pas', ['vocab', 'search', 'hrnec']],
    [
      'the configuration',
      'pas',
      [
        'init',
        '--name',
        'b',
        '--kind',
        'training',
        '--base-url',
        ADDRESS,
        '--oai-base',
        ADDRESS,
        '--schema-base',
        ADDRESS,
      ],
    ],
  ] as const)('%s ends with 5 and reports the full disk', (_, folder, args) => {
    const run = onFullDisk(folder, ...args);
    expect(run.stdout + run.stderr).toContain('disk is full');
    expect(run.status).toBe(5);
  });
});
