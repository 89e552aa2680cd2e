import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import { readKeptSchema, storeKeptSchema } from '../../../src/harvest/update-schema.ts';
import { tempFolder } from '../../support/temp-folder.ts';

test('a file that was edited since is not used, and is replaced by the next one', () => {
  const folder = join(tempFolder(), 'schemas', 'x');
  storeKeptSchema(folder, Buffer.from('one'));
  writeFileSync(readKeptSchema(folder)?.path ?? '', 'won');
  expect(() => readKeptSchema(folder)).toThrow(ConfigError);
  expect(() => readKeptSchema(folder)).toThrow(/is damaged/);
  storeKeptSchema(folder, Buffer.from('new'));
  expect(readKeptSchema(folder)?.bytes.toString()).toBe('new');
});
