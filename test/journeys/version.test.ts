import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeHome, PROJECT } from '../support/run-pas.ts';

const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
  version: string;
};

test('pas --version prints the version alone', async () => {
  expect(await makeHome().pas('--version')).toMatchObject({
    code: 0,
    stdout: `${version}\n`,
    stderr: '',
  });
});

test.each([[['--version', '--json']], [['--json', '--version']]])(
  'pas %j describes the installation for a bug report',
  async (args) => {
    const { code, stdout } = await makeHome().pas(...args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      version,
      runtime: {
        name: 'node',
        version: process.version.slice(1),
        platform: process.platform,
        architecture: process.arch,
      },
      sqlite: expect.stringMatching(/^3\.\d+\.\d+$/),
      libxml2_wasm: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      installed_from: { kind: 'source', folder: PROJECT },
    });
  },
);
