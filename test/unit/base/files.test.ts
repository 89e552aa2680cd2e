import { randomUUID } from 'node:crypto';
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { replaceDatabaseFile } from '../../../src/base/disk/database-file.ts';
import { createFolder } from '../../../src/base/disk/files.ts';
import { writeOutputFile, writePrivateFile } from '../../../src/base/disk/output-file.ts';
import { DatabaseError, FileError } from '../../../src/base/errors.ts';
import { NOTHING_COMMITTED } from '../../../src/harvest/harvest-store.ts';
import { openAppendFile } from '../../../src/harvest/outputs.ts';
import { readKeptSchema, storeKeptSchema } from '../../../src/harvest/update-schema.ts';
import { makeContentStore } from '../../../src/outbox/changes/content-store.ts';
import { backUpOutbox } from '../../../src/outbox/repair-outbox.ts';
import { SLOW_RUNS } from '../../support/property-runs.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';
import { canLimitFiles, withFilesUpTo } from './file-limit.ts';
import { canWatchDisk, watchDisk } from './watched-disk.ts';

const photograph = (): Readable =>
  Readable.from([Buffer.from('one half, '), Buffer.from('the other')]);

function failing(code: string): () => never {
  return () => {
    throw Object.assign(new Error(`${code}: what the disk says, fsync`), { code });
  };
}

describe.runIf(canWatchDisk)('a power cut at any moment', () => {
  test('leaves settings, secrets and terms complete: flushed, then renamed, then the folder flushed', async () => {
    const folder = tempFolder();
    expect(await watchDisk(() => writePrivateFile(join(folder, 'config.toml'), 'new'))).toEqual([
      'flush draft',
      'name config.toml',
      `flush ${basename(folder)}`,
    ]);
  });

  test('leaves a file that a person had written', async () => {
    const folder = tempFolder();
    expect(
      await watchDisk(() =>
        writeOutputFile(join(folder, 'finds.csv'), ['new'], { overwrite: false }),
      ),
    ).toEqual(['flush draft', 'name finds.csv', `flush ${basename(folder)}`]);
  });

  test('leaves a queued photograph, with the folders that were made for it', async () => {
    const home = tempFolder();
    const store = makeContentStore(join(home, 'photos'));
    let place = '';
    const seen = await watchDisk(async () => {
      place = store.getPath((await store.add(photograph())).sha512);
    });
    expect(seen).toEqual([
      `flush ${basename(home)}`,
      'flush draft',
      'flush photos',
      `name ${basename(place)}`,
      `flush ${basename(dirname(place))}`,
    ]);
  });

  test('leaves the end of a growing file, and the file itself in its folder', async () => {
    const folder = tempFolder();
    const seen = await watchDisk(async () => {
      const file = await openAppendFile(join(folder, 'out.xml'), NOTHING_COMMITTED);
      file.append(Buffer.from('a page'));
      file.markEnd();
      await file.close(await file.flush(), '</end>');
    });
    expect(seen).toEqual([`flush ${basename(folder)}`, 'flush out.xml', 'flush out.xml']);
  });

  test('leaves a backup, and an outbox that was set aside before another replaces it', async () => {
    using outbox = tempOutbox();
    const folder = tempFolder();
    const backup = await watchDisk(() => backUpOutbox(outbox, join(folder, 'copy.sqlite')));
    expect(backup).toEqual(['flush draft', 'name copy.sqlite', `flush ${basename(folder)}`]);

    const home = tempFolder();
    writeFileSync(join(home, 'outbox.sqlite'), 'damaged');
    const replaced = await watchDisk(() =>
      replaceDatabaseFile(
        join(home, 'outbox.sqlite'),
        join(folder, 'copy.sqlite'),
        join(home, 'aside.sqlite'),
      ),
    );
    const folderFlushed = `flush ${basename(home)}`;
    // Between the two, the log of the old one is gone for good.
    expect(replaced).toEqual([
      'flush draft',
      'name aside.sqlite',
      folderFlushed,
      folderFlushed,
      'name outbox.sqlite',
      folderFlushed,
    ]);
  });

  test('a folder that cannot be created is an error of the disk, whatever Node calls it', () => {
    const folder = tempFolder();
    symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
    expect(() => writePrivateFile(join(folder, 'link', 'config.toml'), 'new')).toThrow(
      /config\.toml: the disk reported an error/,
    );
  });

  test('a drive without a flush for folders is accepted; one that cannot write the folder is not', async () => {
    const path = join(tempFolder(), 'config.toml');
    const onFolder = (report: () => never) => (flushed: string) =>
      flushed === dirname(path) ? report() : undefined;
    await watchDisk(() => writePrivateFile(path, 'new'), onFolder(failing('EINVAL')));
    expect(readFileSync(path, 'utf8')).toBe('new');
    const broken = watchDisk(() => writePrivateFile(path, 'newer'), onFolder(failing('EIO')));
    await expect(broken).rejects.toThrow(/config\.toml: the disk reported an error/);
  });

  test('a folder directly below the top of a drive is flushed with the top, once', async () => {
    const make = vi.spyOn(fs, 'mkdirSync').mockReturnValue('/new');
    const flushed: string[] = [];
    await watchDisk(
      () => createFolder('/new'),
      (path) => {
        flushed.push(path);
        if (flushed.length > 1) throw new Error('flushed again');
      },
    ).finally(() => make.mockRestore());
    syncBuiltinESMExports();
    expect(flushed).toEqual(['/']);
  });
});

describe.runIf(canWatchDisk)('a disk that returns other data than written', () => {
  const lie = (path: string): void => {
    if (statSync(path).isFile()) writeFileSync(path, 'X', { flag: 'r+' });
  };

  test('does not replace settings, secrets, terms or a stored answer', async () => {
    const path = join(tempFolder(), 'mapping.csv');
    writePrivateFile(path, 'what was there before');
    await expect(watchDisk(() => writePrivateFile(path, 'new'), lie)).rejects.toThrow(
      DatabaseError,
    );
    expect(readFileSync(path, 'utf8')).toBe('what was there before');
    expect(readdirSync(dirname(path))).toEqual(['mapping.csv']);
  });

  test('stores no photograph, whose original might be deleted', async () => {
    const folder = tempFolder();
    const adding = watchDisk(() => makeContentStore(folder).add(photograph()), lie);
    await expect(adding).rejects.toThrow(/returns other data than was written/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe.runIf(canWatchDisk)('a disk that reports an error', () => {
  test.each(['EIO', 'ENODEV', 'ESTALE'])('(%s) is reported with advice', async (code) => {
    const path = join(tempFolder(), 'secrets.json');
    const thrown: unknown = await watchDisk(
      () => writePrivateFile(path, '{}'),
      failing(code),
    ).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(DatabaseError);
    expect(thrown).toMatchObject({
      message: expect.stringContaining(path),
      hint: expect.stringContaining('Check the disk'),
    });
    expect(readdirSync(dirname(path))).toEqual([]);
  });
});

describe('a temporary file', () => {
  test('of secrets has an unpredictable name and its own permissions', () => {
    const folder = tempFolder();
    const secrets = join(folder, 'secrets.json');
    const config = join(folder, 'config.toml');
    const trap = join(tempFolder(), 'readable-by-all');
    writeFileSync(trap, '');
    symlinkSync(trap, `${secrets}.${process.pid}.tmp`);
    writeFileSync(`${config}.${process.pid}.tmp`, '');
    chmodSync(`${config}.${process.pid}.tmp`, 0o666);
    for (const path of [secrets, config]) {
      writePrivateFile(path, 'planted-password');
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
    expect(readFileSync(trap, 'utf8')).toBe('');
  });

  test('of another machine’s backup in the same folder is left alone', () => {
    using outbox = tempOutbox();
    const target = join(tempFolder(), 'copy.sqlite');
    const other = `${target}.${process.pid}.tmp`;
    writeFileSync(other, 'another’s');
    backUpOutbox(outbox, target);
    expect(readFileSync(other, 'utf8')).toBe('another’s');
  });

  test('never has a name that is too long', async () => {
    const path = join(tempFolder(), `${'ň'.repeat(125)}.csv`);
    await writeOutputFile(path, ['finds'], { overwrite: false });
    expect(readFileSync(path, 'utf8')).toBe('finds');
  });
});

test('a link to a file stays a link when the file is rewritten', async () => {
  const folder = tempFolder();
  const file = join(folder, 'elsewhere.csv');
  const link = join(folder, 'finds.csv');
  writeFileSync(file, 'old');
  symlinkSync(file, link);
  await writeOutputFile(link, ['new'], { overwrite: true });
  expect([readFileSync(file, 'utf8'), readFileSync(link, 'utf8')]).toEqual(['new', 'new']);
});

test('an unreadable photograph is named, and not reported as a fault of the target disk', async () => {
  const folder = tempFolder();
  const photo = join(tempFolder(), 'gone.jpg');
  await expect(makeContentStore(folder).add(photo)).rejects.toThrow(FileError);
  await expect(makeContentStore(folder).add(photo)).rejects.toThrow(
    /gone\.jpg cannot be read.*Copy it again/,
  );
  mkdirSync(photo);
  await expect(makeContentStore(folder).add(photo)).rejects.toThrow(/gone\.jpg cannot be read/);
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
});

describe('unfinished files of a killed process', () => {
  const days = (count: number): Date => new Date(Date.now() - count * 24 * 3600 * 1000);
  const leave = (folder: string, when: Date): string => {
    const name = `.${randomUUID()}.tmp`;
    writeFileSync(join(folder, name), 'half');
    utimesSync(join(folder, name), when, when);
    return name;
  };
  const writers = {
    settings: async (folder: string) => writePrivateFile(join(folder, 'config.toml'), 'new'),
    photographs: async (folder: string) => void (await makeContentStore(folder).add(photograph())),
    exports: async (folder: string) =>
      void (await writeOutputFile(join(folder, 'finds.csv'), ['new'], { overwrite: false })),
  };

  test.each(Object.entries(writers))(
    'are removed after a day by the next writer of %s',
    async (_what, write) => {
      const folder = tempFolder();
      const old = leave(folder, days(2));
      const young = leave(folder, days(0.5));
      await write(folder);
      expect(existsSync(join(folder, old))).toBe(false);
      expect(existsSync(join(folder, young))).toBe(true);
    },
  );
});

/** Every way to write a file as a whole, as `file` of a folder. */
const WRITERS: Readonly<
  Record<
    string,
    {
      readonly write: (folder: string, pieces: readonly string[]) => unknown;
      readonly read?: (folder: string) => string | undefined;
    }
  >
> = {
  'a file of settings, secrets or terms': {
    write: (folder, pieces) => writePrivateFile(join(folder, 'file'), pieces.join('')),
  },
  'a file that a person named': {
    write: (folder, pieces) => writeOutputFile(join(folder, 'file'), pieces, { overwrite: true }),
  },
  'a page that is made piece by piece': {
    write: (folder, pieces) =>
      writeOutputFile(join(folder, 'file'), Readable.from(pieces), { overwrite: true }),
  },
  'a fetched schema': {
    write: (folder, pieces) => storeKeptSchema(folder, Buffer.from(pieces.join(''))),
    read: (folder) => readKeptSchema(folder)?.bytes.toString(),
  },
};

const readWhole = (folder: string): string => readFileSync(join(folder, 'file'), 'utf8');

// Continuous integration runs where this can be done.
test.skipIf(!canLimitFiles && process.env['CI'] === undefined).each(Object.entries(WRITERS))(
  'a disk that fills up at any byte leaves %s complete or unchanged, and reports it',
  async (_, { write, read = readWhole }) => {
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 200, minLength: 1 }), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(texts, fc.nat({ max: 1500 }), async (pieces, room) => {
        const folder = tempFolder();
        await write(folder, ['what was there before']);
        const outcome = await withFilesUpTo(room, () => write(folder, pieces)).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        const isWhole = outcome === undefined;
        if (!isWhole) {
          expect(outcome).toBeInstanceOf(DatabaseError);
          expect(outcome).toMatchObject({
            message: expect.stringMatching(
              /has reached the limit of its size|disk is full|an error/,
            ),
            hint: expect.anything(),
          });
        }
        if (room < Buffer.byteLength(pieces.join(''))) expect(isWhole).toBe(false);
        expect(read(folder)).toBe(isWhole ? pieces.join('') : 'what was there before');
        expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
      }),
      SLOW_RUNS,
    );
  },
);
