import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/base/errors.ts';
import { readKeptFile, storeKeptFile } from '../../../src/harvest/update-schema.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const URL = 'https://schema.example.org/svc/2.2/svc.xsd';
const MONDAY = Date.UTC(2025, 5, 2);
const TUESDAY = Date.UTC(2025, 5, 3);

function makeFile(text: string, nowMs: number) {
  return { url: URL, bytes: Buffer.from(text), fetchedAtMs: nowMs, checkedAtMs: nowMs };
}

function keptFolder(): string {
  const folder = join(tempFolder(), 'schemas', 'x');
  storeKeptFile(folder, makeFile('one', MONDAY));
  return folder;
}

describe('a file that was damaged since', () => {
  test.each([
    ['the file is gone', (path: string) => rmSync(path), /is damaged/],
    ['the file was edited', (path: string) => writeFileSync(path, 'won'), /is damaged/],
    [
      'the card is cut',
      (path: string) => writeFileSync(join(path, '..', 'current.json'), '{"file"'),
      /is damaged/,
    ],
    [
      'the card has no time',
      (path: string) => edit(path, { fetchedAtMs: 'yesterday' }),
      /is damaged/,
    ],
  ])('is not used: %s', (_, damage, message) => {
    const folder = keptFolder();
    damage(readKeptFile(folder)?.path ?? '');
    expect(() => readKeptFile(folder)).toThrow(ConfigError);
    expect(() => readKeptFile(folder)).toThrow(message);
    storeKeptFile(folder, makeFile('new', TUESDAY));
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
