import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DatabaseError } from '../../../src/base/errors.ts';
import { makeSafeFileName, removeTemps, writeFiles } from '../../../src/store/file-folder.ts';
import { tempFolder } from '../../support/temp-outbox.ts';

describe('the file name', () => {
  test.each(['C-202400101-N00001', 'HES-000253', 'ruian-676730', 'ADB-PRAH21-000001'])(
    'is the identifier %s itself',
    (ident) => {
      expect(makeSafeFileName(ident, '.xml')).toBe(`${ident}.xml`);
    },
  );

  test.each([
    '../../etc/passwd',
    '..\\..\\windows',
    '/etc/passwd',
    'C:\\x',
    '..',
    '.',
    '',
    '.harvest',
    'a/b',
    'NUL',
    'COM1',
    'A\u0000B',
    'A\nB',
    'x'.repeat(5000),
    'Č-1',
    'HES-1 ',
    'hes-1a',
    'a%2Fb',
  ])('of %j stays in its folder and differs from the plain one', (ident) => {
    const name = makeSafeFileName(ident, '.xml');
    expect(name).toMatch(/^[A-Za-z0-9_-]{0,120}~[0-9a-f]{16}\.xml$/);
  });

  test('never leaves its folder and belongs to one identifier only, even on case-insensitive disks', () => {
    const ident = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[A-Za-z0-9./\\-]{0,12}$/),
    );
    fc.assert(
      fc.property(ident, ident, (a, b) => {
        const folder = resolve('/somewhere/out');
        for (const text of [a, b]) {
          const path = resolve(folder, makeSafeFileName(text, '.xml'));
          expect(path.startsWith(folder + sep)).toBe(true);
          expect(path.slice(folder.length + 1)).not.toMatch(/[/\\]|^\.|^\s/);
        }
        const [one, other] = [a, b].map((text) => makeSafeFileName(text, '.xml').toLowerCase());
        if (a.toLowerCase() !== b.toLowerCase()) expect(one).not.toBe(other);
      }),
    );
  });
});

test('files are written completely, over the old content, and leave no temporary files', async () => {
  const folder = join(tempFolder(), 'deep', 'out');
  const files = Array.from({ length: 40 }, (_, n) => ({
    name: `F-${n}.xml`,
    content: `obsah ${n}`,
  }));
  writeFiles(folder, files);
  writeFiles(folder, [{ name: 'F-3.xml', content: 'nový' }]);
  expect(readdirSync(folder)).toHaveLength(40);
  expect(readFileSync(join(folder, 'F-3.xml'), 'utf8')).toBe('nový');
  expect(readFileSync(join(folder, 'F-39.xml'), 'utf8')).toBe('obsah 39');
});

test('a link with the name of a file is replaced, not followed', async () => {
  const folder = tempFolder();
  const outside = join(tempFolder(), 'precious');
  writeFileSync(outside, 'precious');
  symlinkSync(outside, join(folder, 'A-1.xml'));
  writeFiles(folder, [{ name: 'A-1.xml', content: 'record' }]);
  expect(readFileSync(outside, 'utf8')).toBe('precious');
  expect(readFileSync(join(folder, 'A-1.xml'), 'utf8')).toBe('record');
});

test('a partial file of a dead process is removed, and nothing else', async () => {
  const folder = tempFolder();
  for (const name of [
    '.1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed.tmp',
    'A-1.xml',
    '.hidden',
    'notes.tmp',
  ]) {
    writeFileSync(join(folder, name), '');
  }
  await removeTemps(folder);
  expect(readdirSync(folder).sort()).toEqual(['.hidden', 'A-1.xml', 'notes.tmp']);
});

test('an impossible folder is a clear error', async () => {
  const file = join(tempFolder(), 'file');
  writeFileSync(file, '');
  expect(() => writeFiles(file, [{ name: 'A.xml', content: '' }])).toThrow(DatabaseError);
});
