import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { asStranger } from './as-other-user.ts';

const PYTHON = '/usr/bin/python3';
const hasPytest = spawnSync(PYTHON, ['-c', 'import pytest']).status === 0;

test.skipIf(!hasPytest && process.env['CI'] === undefined)(
  'a Python client is tested by pytest with its fixtures (needs python3-pytest)',
  async () => {
    const stranger = asStranger('library');
    const bin = join(stranger.folder, 'bin');
    mkdirSync(bin);
    symlinkSync(
      join(stranger.folder, 'node_modules', 'pas-finds', 'bin', 'pas-mock-server.js'),
      join(bin, 'pas-mock-server'),
    );
    const path = `${bin}:${process.env['PATH']}`;
    const { code, stdout, stderr } = await stranger.run('env', [
      `PATH=${path}`,
      PYTHON,
      '-m',
      'pytest',
      '-q',
    ]);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain('4 passed');
  },
);
