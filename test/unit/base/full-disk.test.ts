import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeOutputFile, writePrivateFile } from '../../../src/base/disk/output-file.ts';
import { DatabaseError } from '../../../src/base/errors.ts';
import { readKeptFile, storeKeptFile } from '../../../src/harvest/update-schema.ts';
import { canLimitFiles, withFilesUpTo } from '../../support/file-limit.ts';
import { SLOW_RUNS } from '../../support/property-runs.ts';
import { tempFolder } from '../../support/temp-outbox.ts';

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
    write: (folder, pieces) =>
      storeKeptFile(folder, {
        url: 'https://x.example/',
        bytes: Buffer.from(pieces.join('')),
        fetchedAtMs: 1,
        checkedAtMs: 1,
      }),
    read: (folder) => readKeptFile(folder)?.bytes.toString(),
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
