import {
  appendFileSync,
  existsSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { FileError } from '../../../src/base/errors.ts';
import { type CommittedPart, NOTHING_COMMITTED } from '../../../src/harvest/harvest-store.ts';
import { openAppendFile } from '../../../src/harvest/outputs.ts';
import { SLOW_RUNS } from '../../support/property-runs.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const aPath = (): string => join(tempFolder(), 'file');
const known = (lengthBytes: number): CommittedPart => ({ ...NOTHING_COMMITTED, lengthBytes });

test('a file grows by what is appended, and ends with its tail', async () => {
  const path = aPath();
  const file = await openAppendFile(path, NOTHING_COMMITTED);
  file.append(Buffer.from('první\n'));
  file.markEnd();
  file.append(Buffer.from('druhý\n'));
  file.markEnd();
  expect((await file.flush()).lengthBytes).toBe(Buffer.byteLength('první\ndruhý\n'));
  await file.close(await file.flush(), '</end>');
  expect(readFileSync(path, 'utf8')).toBe('první\ndruhý\n</end>');
});

test('uncommitted data are cut off when the file is opened again, including its tail', async () => {
  const path = aPath();
  writeFileSync(path, 'committed half a li');
  const file = await openAppendFile(path, known(9));
  expect(readFileSync(path, 'utf8')).toBe('committed');
  file.append(Buffer.from(' more'));
  file.markEnd();
  await file.close(await file.flush(), '');
  expect(readFileSync(path, 'utf8')).toBe('committed more');
});

test('appended but uncommitted data are removed on closing', async () => {
  const path = aPath();
  const file = await openAppendFile(path, NOTHING_COMMITTED);
  file.append(Buffer.from('one\n'));
  file.markEnd();
  const committed = await file.flush();
  file.append(Buffer.from('two\n'));
  await file.close(committed, 'end');
  expect(readFileSync(path, 'utf8')).toBe('one\nend');
});

test('a file that lost committed bytes is refused and left unchanged', async () => {
  const path = aPath();
  writeFileSync(path, 'short');
  await expect(openAppendFile(path, known(50))).rejects.toBeInstanceOf(FileError);
  expect(readFileSync(path, 'utf8')).toBe('short');
});

test('a device is not a file', async () => {
  await expect(openAppendFile('/dev/null', NOTHING_COMMITTED)).rejects.toBeInstanceOf(FileError);
  expect(existsSync('/dev/null')).toBe(true);
});

const somePages = fc.array(fc.nat(200_000), { minLength: 1, maxLength: 6 });

/** Pages of so many bytes, written over several runs. */
async function grown(
  path: string,
  pages: readonly number[],
): Promise<{ closed: CommittedPart; bytes: Buffer }> {
  let closed = NOTHING_COMMITTED;
  const bytes = pages.map((size, index) => Buffer.alloc(size, `page ${index} `));
  for (const page of bytes) {
    const file = await openAppendFile(path, closed);
    file.append(page);
    file.markEnd();
    closed = await file.close(await file.flush(), 'tail');
  }
  return {
    closed,
    bytes: Buffer.concat(bytes),
  };
}

test('a file that grew over many runs is recognised, also where a run was not closed', async () => {
  await fc.assert(
    fc.asyncProperty(somePages, async (pages) => {
      const path = aPath();
      const { closed, bytes } = await grown(path, pages);
      const open = { ...closed, closedBytes: null };
      expect(readFileSync(path).equals(Buffer.concat([bytes, Buffer.from('tail')]))).toBe(true);
      for (const committed of [closed, open]) {
        const again = await openAppendFile(path, committed);
        expect(await again.flush()).toEqual(open);
        await again.close(open, 'tail');
      }
    }),
    SLOW_RUNS,
  );
});

test('a changed byte, anywhere in a file, is detected', async () => {
  await fc.assert(
    fc.asyncProperty(somePages, fc.nat(), fc.boolean(), async (pages, chosen, wasClosed) => {
      const path = aPath();
      const { closed } = await grown(path, [...pages, 1]);
      const bytes = readFileSync(path);
      const place = chosen % closed.lengthBytes;
      bytes[place] = (bytes[place] ?? 0) ^ 1;
      writeFileSync(path, bytes);
      await expect(
        openAppendFile(path, wasClosed ? closed : { ...closed, closedBytes: null }),
      ).rejects.toThrow(/was changed/);
      expect(readFileSync(path).equals(bytes)).toBe(true);
    }),
    SLOW_RUNS,
  );
});

test('a change by another program right after a write is detected, whatever the file times', async () => {
  const path = join(tempFolder(), 'out');
  const file = await openAppendFile(path, NOTHING_COMMITTED);
  const handles = await open(path, 'r');
  const prototype = Object.getPrototypeOf(handles) as typeof handles;
  await handles.close();
  const flushed = vi.spyOn(prototype, 'datasync').mockImplementationOnce(async () => {
    writeFileSync(path, 'Alpha\n', { flag: 'r+' });
  });
  file.append(Buffer.from('alpha\n'));
  file.markEnd();
  await file.flush();
  flushed.mockRestore();
  file.append(Buffer.from('beta\n'));
  file.markEnd();
  await expect(file.close(await file.flush(), '')).rejects.toThrow(
    'changed, removed or replaced by another program',
  );
});

test.each<readonly [string, RegExp, (path: string) => void]>([
  ['is cut', /was changed/, (path) => truncateSync(path, 3)],
  ['gets more', /was changed/, (path) => appendFileSync(path, 'more')],
  ['is changed', /was changed/, (path) => writeFileSync(path, 'ONE\n')],
  ['is deleted', /removed or replaced/, (path) => rmSync(path)],
])(
  'a file that was %s by another program while it is written fails on closing',
  async (_, words, change) => {
    const path = aPath();
    const file = await openAppendFile(path, NOTHING_COMMITTED);
    file.append(Buffer.from('one\n'));
    file.markEnd();
    change(path);
    await expect(file.close(await file.flush(), '')).rejects.toThrow(words);
  },
);
