import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FileError } from '../../../src/base/errors.ts';
import { openAppendFile } from '../../../src/store/append-file.ts';
import { tempFolder } from '../../support/temp-outbox.ts';

const aPath = (): string => join(tempFolder(), 'file');

test('a file grows by what is appended, and ends with its tail', async () => {
  const path = aPath();
  const file = await openAppendFile(path, 0);
  await file.append(Buffer.from('první\n'));
  await file.append(Buffer.from('druhý\n'));
  expect(file.lengthBytes).toBe(Buffer.byteLength('první\ndruhý\n'));
  await file.close(file.lengthBytes, '</end>');
  expect(readFileSync(path, 'utf8')).toBe('první\ndruhý\n</end>');
});

test('what was not committed is cut off when the file is opened again, its tail included', async () => {
  const path = aPath();
  writeFileSync(path, 'committed half a li');
  const file = await openAppendFile(path, 9);
  expect(readFileSync(path, 'utf8')).toBe('committed');
  await file.append(Buffer.from(' more'));
  await file.close(14, '');
  expect(readFileSync(path, 'utf8')).toBe('committed more');
});

test('what was appended and never committed is taken back on closing', async () => {
  const path = aPath();
  const file = await openAppendFile(path, 0);
  await file.append(Buffer.from('one\n'));
  await file.append(Buffer.from('two\n'));
  await file.close(4, 'end');
  expect(readFileSync(path, 'utf8')).toBe('one\nend');
});

test('a file that lost bytes which were committed is refused and left as it is', async () => {
  const path = aPath();
  writeFileSync(path, 'short');
  await expect(openAppendFile(path, 50)).rejects.toBeInstanceOf(FileError);
  expect(readFileSync(path, 'utf8')).toBe('short');
});

test('a device is no file', async () => {
  await expect(openAppendFile('/dev/null', 0)).rejects.toBeInstanceOf(FileError);
  expect(existsSync('/dev/null')).toBe(true);
});
