import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deleteKeptFile, readKeptFile, storeKeptFile } from '../../../src/base/disk/files.ts';
import { ConfigError } from '../../../src/base/errors.ts';
import { tempFolder } from '../../support/temp-outbox.ts';

const URL = 'https://schema.example.org/svc/2.2/svc.xsd';
const MONDAY = Date.UTC(2025, 5, 2);
const TUESDAY = Date.UTC(2025, 5, 3);

function keptFolder(): string {
  const folder = join(tempFolder(), 'schemas', 'x');
  storeKeptFile(folder, 'svc.xsd', URL, Buffer.from('one'), MONDAY);
  return folder;
}

test('nothing is stored at first', () => {
  expect(readKeptFile(join(tempFolder(), 'none'))).toBeUndefined();
});

test('a file is stored with its source and time, for its owner alone', () => {
  const keptFile = readKeptFile(keptFolder());
  expect(keptFile).toMatchObject({ url: URL, fetchedAtMs: MONDAY, checkedAtMs: MONDAY });
  expect(keptFile?.bytes.toString()).toBe('one');
  expect(keptFile?.sha512Hex).toMatch(/^[0-9a-f]{128}$/);
  expect(statSync(keptFile?.path ?? '').mode & 0o777).toBe(0o600);
});

test('an unchanged file only gets a new check time, a changed one replaces it and leaves nothing behind', () => {
  const folder = keptFolder();
  storeKeptFile(folder, 'svc.xsd', URL, Buffer.from('one'), TUESDAY);
  expect(readKeptFile(folder)).toMatchObject({ fetchedAtMs: MONDAY, checkedAtMs: TUESDAY });
  storeKeptFile(folder, 'svc.xsd', URL, Buffer.from('two'), TUESDAY);
  expect(readKeptFile(folder)).toMatchObject({ bytes: Buffer.from('two'), fetchedAtMs: TUESDAY });
  expect(readdirSync(folder)).toHaveLength(2);
});

test('deleting it reports if there was one', () => {
  const folder = keptFolder();
  expect(deleteKeptFile(folder)).toBe(true);
  expect(readKeptFile(folder)).toBeUndefined();
  expect(deleteKeptFile(folder)).toBe(false);
});

describe('a file that was damaged since', () => {
  test.each([
    ['the file is gone', (path: string) => rmSync(path), /is missing/],
    [
      'the file was edited',
      (path: string) => writeFileSync(path, 'won'),
      /was changed since it was fetched/,
    ],
    [
      'the card is cut',
      (path: string) => writeFileSync(join(path, '..', 'current.json'), '{"file"'),
      /is damaged/,
    ],
    [
      'the card names another place',
      (path: string) => edit(path, { file: '../../../etc/passwd' }),
      /is damaged/,
    ],
    [
      'the card has no time',
      (path: string) => edit(path, { fetched_at: 'yesterday' }),
      /is damaged/,
    ],
  ])('is not used: %s', (_, damage, message) => {
    const folder = keptFolder();
    damage(readKeptFile(folder)?.path ?? '');
    expect(() => readKeptFile(folder)).toThrow(ConfigError);
    expect(() => readKeptFile(folder)).toThrow(message);
    storeKeptFile(folder, 'svc.xsd', URL, Buffer.from('new'), TUESDAY);
    expect(readKeptFile(folder)?.bytes.toString()).toBe('new');
  });

  function edit(path: string, changes: Record<string, string>): void {
    const card = join(path, '..', 'current.json');
    writeFileSync(
      card,
      JSON.stringify({ ...(JSON.parse(readFileSync(card, 'utf8')) as object), ...changes }),
    );
  }
});
