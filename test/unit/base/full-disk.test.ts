import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findDamage } from '../../../src/base/disk/database-file.ts';
import {
  hashSha512,
  readKeptFile,
  storeKeptFile,
  writePrivateFile,
} from '../../../src/base/disk/files.ts';
import { writeOutputFile } from '../../../src/base/disk/output-file.ts';
import { DatabaseError } from '../../../src/base/errors.ts';
import { openAppendFile } from '../../../src/harvest/outputs.ts';
import { openContentStore } from '../../../src/outbox/changes/kept-photographs.ts';
import { backUpOutbox } from '../../../src/outbox/repair-outbox.ts';
import { canLimitFiles, withFilesUpTo } from '../../support/file-limit.ts';
import { SLOW_RUNS } from '../../support/property-runs.ts';
import { queueImport, tempFolder, tempOutbox } from '../../support/temp-outbox.ts';

const OLD = 'what was there before';

/** Every way to write a file as a whole: how, and under which name. */
const WRITERS: Readonly<Record<string, (path: string, pieces: readonly string[]) => unknown>> = {
  'a file of settings, secrets or terms': (path, pieces) => writePrivateFile(path, pieces.join('')),
  'a file that a person named': (path, pieces) =>
    writeOutputFile(path, pieces, { overwrite: true }),
  'a page that is made piece by piece': (path, pieces) =>
    writeOutputFile(path, Readable.from(pieces), { overwrite: true }),
};

const somePieces = fc
  .array(fc.string({ unit: 'grapheme', maxLength: 200 }), { minLength: 1, maxLength: 12 })
  .filter((pieces) => pieces.join('') !== '');

/** A piece of text, and room on the disk for all of it or for less. */
const piecesAndRoom = somePieces.chain((pieces) => {
  const sizeBytes = Buffer.byteLength(pieces.join(''));
  return fc.record({
    pieces: fc.constant(pieces),
    sizeBytes: fc.constant(sizeBytes),
    room: fc.nat({ max: sizeBytes + 2 }),
  });
});

async function withRoom(bytes: number, work: () => unknown): Promise<unknown> {
  try {
    await withFilesUpTo(bytes, work);
    return 'written';
  } catch (thrown) {
    return thrown;
  }
}

function expectClear(outcome: unknown): void {
  expect(outcome).toBeInstanceOf(DatabaseError);
  const { message, hint } = outcome as DatabaseError;
  expect(message).toMatch(
    /: (the file has reached the limit of its size|the disk is full|the disk reported an error) \(/,
  );
  expect(hint).toBeDefined();
}

// Continuous integration runs where this can be done.
describe.skipIf(!canLimitFiles && process.env['CI'] === undefined)(
  'a disk that fills up at any byte',
  () => {
    test.each(Object.entries(WRITERS))(
      'leaves %s complete or unchanged, and reports it',
      async (_, write) => {
        await fc.assert(
          fc.asyncProperty(piecesAndRoom, async ({ pieces, sizeBytes, room }) => {
            const folder = tempFolder();
            const path = join(folder, 'file');
            writeFileSync(path, OLD);
            const outcome = await withRoom(room, () => write(path, pieces));
            if (room < sizeBytes) expectClear(outcome);
            else expect(outcome).toBe('written');
            expect(readFileSync(path, 'utf8')).toBe(room < sizeBytes ? OLD : pieces.join(''));
            expect(readdirSync(folder)).toEqual(['file']);
          }),
          SLOW_RUNS,
        );
      },
    );

    test('accepts no part of a photograph as the whole', async () => {
      await fc.assert(
        fc.asyncProperty(piecesAndRoom, async ({ pieces, sizeBytes, room }) => {
          const folder = join(tempFolder(), 'photos');
          const store = openContentStore(folder);
          const bytes = Buffer.from(pieces.join(''));
          const source = (): Readable =>
            Readable.from(
              pieces.filter((piece) => piece !== '').map((piece) => Buffer.from(piece)),
            );
          const outcome = await withRoom(room, () => store.add(source()));
          const place = store.getPath(hashSha512(bytes));
          if (room < sizeBytes) expectClear(outcome);
          expect(existsSync(place)).toBe(room >= sizeBytes);
          expect(filesIn(folder)).toHaveLength(room < sizeBytes ? 0 : 1);
          await store.add(source());
          expect(readFileSync(place).equals(bytes)).toBe(true);
        }),
        SLOW_RUNS,
      );
    });

    test('leaves the previous schema, or the new one', async () => {
      await fc.assert(
        fc.asyncProperty(piecesAndRoom, fc.nat({ max: 900 }), async ({ pieces }, room) => {
          const folder = join(tempFolder(), 'schema');
          storeKeptFile(folder, 'svc.xsd', 'https://schema.example.org/', Buffer.from(OLD), 0);
          const bytes = Buffer.from(pieces.join(''));
          const outcome = await withRoom(room, () =>
            storeKeptFile(folder, 'svc.xsd', 'https://schema.example.org/', bytes, 1),
          );
          if (outcome !== 'written') expectClear(outcome);
          expect(readKeptFile(folder)?.bytes).toEqual(
            outcome === 'written' ? bytes : Buffer.from(OLD),
          );
        }),
        SLOW_RUNS,
      );
    });

    test('leaves what was harvested and recorded before', async () => {
      await fc.assert(
        fc.asyncProperty(
          piecesAndRoom,
          fc.string({ minLength: 1 }),
          async ({ pieces, room }, tail) => {
            const path = join(tempFolder(), 'harvest.jsonl');
            const file = await openAppendFile(path, { lengthBytes: 0, digest: null }, undefined);
            file.append(Buffer.from(OLD));
            file.markEnd();
            let committed = await file.flush();
            const outcome = await withRoom(committed.lengthBytes + room, async () => {
              for (const piece of pieces) {
                file.append(Buffer.from(piece));
                file.markEnd();
                committed = await file.flush();
              }
              await file.close(committed, tail);
            });
            if (outcome !== 'written') {
              expectClear(outcome);
              await file.close(committed, '').catch(() => undefined);
            }
            const whole = OLD + pieces.join('');
            expect(readFileSync(path).subarray(0, committed.lengthBytes)).toEqual(
              Buffer.from(whole).subarray(0, committed.lengthBytes),
            );
            if (outcome === 'written') expect(readFileSync(path, 'utf8')).toBe(whole + tail);
          },
        ),
        SLOW_RUNS,
      );
    });

    test('leaves the previous backup, and nothing beside it', async () => {
      using outbox = tempOutbox();
      for (let n = 0; n < 40; n += 1) queueImport(outbox, `K-${n}`);
      const folder = tempFolder();
      backUpOutbox(outbox, join(folder, 'whole.sqlite'));
      const { size } = statSync(join(folder, 'whole.sqlite'));
      await fc.assert(
        fc.asyncProperty(fc.nat({ max: size + 64 * 1024 }), async (room) => {
          const target = join(folder, randomUUID());
          mkdirSync(target);
          writeFileSync(join(target, 'b.sqlite'), OLD);
          const outcome = await withRoom(room, () =>
            backUpOutbox(outbox, join(target, 'b.sqlite')),
          );
          if (outcome === 'written') expect(findDamage(join(target, 'b.sqlite'))).toEqual([]);
          else {
            expectClear(outcome);
            expect(readFileSync(join(target, 'b.sqlite'), 'utf8')).toBe(OLD);
          }
          expect(readdirSync(target)).toEqual(['b.sqlite']);
        }),
        SLOW_RUNS,
      );
    });
  },
);

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
}
