import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import { readKeptFile, storeKeptFile } from '../../../src/harvest/update-schema.ts';
import { tempFolder } from '../../support/temp-folder.ts';

test('a file that was edited since is not used, and is replaced by the next one', () => {
  const folder = join(tempFolder(), 'schemas', 'x');
  storeKeptFile(folder, Buffer.from('one'));
  writeFileSync(readKeptFile(folder)?.path ?? '', 'won');
  expect(() => readKeptFile(folder)).toThrow(ConfigError);
  expect(() => readKeptFile(folder)).toThrow(/is damaged/);
  storeKeptFile(folder, Buffer.from('new'));
  expect(readKeptFile(folder)?.bytes.toString()).toBe('new');
});
