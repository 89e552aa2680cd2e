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
