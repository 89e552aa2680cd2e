import { describe, expect, test } from 'vitest';
import { asServerMs } from '../../../src/base/clock.ts';
import { settle } from '../../../src/outbox/claims.ts';
import { addNumber, addPhoto } from '../../../src/outbox/entries.ts';
import type { ImportEntry } from '../../../src/outbox/entry.ts';
import {
  findEntryById,
  findImportOfRecord,
  listLatestAccepted,
} from '../../../src/outbox/entry-queries.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { listAcceptedSince, releaseRecord } from '../../../src/outbox/ownership.ts';
import { makeDecision, recordEvents, recordEvidence } from '../../../src/outbox/record-events.ts';
import { acceptEntry, attemptEntry, claimEntry } from '../../support/attempted-entries.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const OTHER = 'C-202400101-N00002';
const PHOTOGRAPH = {
  name: 'a.jpg',
  mediaType: 'image/jpeg',
  sha512: Buffer.alloc(64, 1),
  sizeBytes: 3,
};
const UNCERTAIN = { state: 'uncertain', reason: 'no answer' } as const;
const EVIDENCE = { basis: 'x', candidates: [], serverAt: null, reason: 'looked at' };

function getEntry(outbox: Outbox, id: number) {
  const entry = findEntryById(outbox, id);
  if (entry === undefined) throw new Error('no such entry');
  return entry;
}

/**
 * A find with its record, and with a number and a photograph that the record has, and such that
 * wait.
 */
function owned(outbox: Outbox) {
  const { findId, entryId } = queueImport(outbox, 'K-1');
  acceptEntry(outbox, entryId, IDENT);
  const target = { findId, identCely: IDENT };
  const sentIds = [addNumber(outbox, target, 'A 1', ''), addPhoto(outbox, target, PHOTOGRAPH)];
  for (const id of sentIds) acceptEntry(outbox, id, IDENT);
  const waiting = addPhoto(outbox, target, { ...PHOTOGRAPH, sha512: Buffer.alloc(64, 2) });
  const elsewhere = addPhoto(
    outbox,
    { findId, identCely: OTHER },
    { ...PHOTOGRAPH, sha512: Buffer.alloc(64, 3) },
  );
  return { entryId, ids: [entryId, ...sentIds, waiting, elsewhere] };
}

function release(outbox: Outbox): void {
  const owner = findImportOfRecord(outbox, IDENT);
  if (owner === undefined) throw new Error('it has an owner');
  releaseRecord(outbox, owner, 'it was given to another find');
}

describe('the owner of a record', () => {
  test('is the import that was accepted with it', () => {
    using outbox = tempOutbox();
    const { entryId } = owned(outbox);
    acceptEntry(outbox, addNumber(outbox, { findId: null, identCely: OTHER }, 'B 1', ''), OTHER);
    expect([findImportOfRecord(outbox, IDENT)?.id, findImportOfRecord(outbox, OTHER)]).toEqual([
      entryId,
      undefined,
    ]);
  });

  test('is gone once the service assigned it to another find: all that was sent to it is uncertain, and waiting entries wait', () => {
    using outbox = tempOutbox();
    const { ids } = owned(outbox);
    release(outbox);
    const after = ids.map((id) => getEntry(outbox, id));
    expect(after.map(({ state }) => state)).toEqual([
      'uncertain',
      'uncertain',
      'uncertain',
      'queued',
      'queued',
    ]);
    expect(after.map(({ identCely }) => identCely)).toEqual([null, null, null, null, OTHER]);
    expect(after.map(({ reason }) => reason).slice(0, 3)).toEqual(
      Array.from({ length: 3 }, () => 'it was given to another find'),
    );
    expect(findImportOfRecord(outbox, IDENT)).toBeUndefined();
  });

  test.each(['absent', 'send'] as const)(
    'is sent again after that if that is settled by "%s"',
    (how) => {
      using outbox = tempOutbox();
      const { entryId } = owned(outbox);
      release(outbox);
      const entry = getEntry(outbox, entryId);
      if (how === 'absent') recordEvidence(outbox, entry, { kind: 'absent' }, EVIDENCE, null);
      else
        recordEvents(outbox, [
          makeDecision(outbox, entry, { answer: 'send', by: 'person', group: 'g' }, 'send'),
        ]);
      expect(getEntry(outbox, entryId)).toMatchObject({ state: 'queued', unknownAttempts: 0 });
    },
  );

  test('can get another record after that, and waiting entries follow', () => {
    using outbox = tempOutbox();
    const { entryId, ids } = owned(outbox);
    release(outbox);
    recordEvidence(
      outbox,
      getEntry(outbox, entryId),
      { kind: 'found', identCely: 'C-202400101-N00003' },
      EVIDENCE,
      null,
    );
    expect(getEntry(outbox, entryId)).toMatchObject({ state: 'accepted', unknownAttempts: 0 });
    expect(ids.map((id) => getEntry(outbox, id).identCely)).toEqual([
      ...Array.from({ length: 4 }, () => 'C-202400101-N00003'),
      OTHER,
    ]);
  });

  test('by evidence gives back all attempts that it explained, and none that was refused', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    attemptEntry(outbox, entryId, { state: 'queued', reason: 'busy', notBeforeAt: 0 });
    attemptEntry(outbox, entryId, UNCERTAIN);
    recordEvidence(
      outbox,
      getEntry(outbox, entryId),
      { kind: 'found', identCely: IDENT },
      EVIDENCE,
      null,
    );
    expect(getEntry(outbox, entryId).unknownAttempts).toBe(0);
    releaseRecord(outbox, getEntry(outbox, entryId) as ImportEntry, 'x');
    expect(getEntry(outbox, entryId)).toMatchObject({
      state: 'uncertain',
      unknownAttempts: 1,
      attempts: 2,
    });
  });
});

describe('accepted entries', () => {
  test('are listed last first, as many as requested', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (const localId of ['K-1', 'K-2', 'K-3']) {
      acceptEntry(outbox, queueImport(outbox, localId).entryId, `C-1-N${localId}`);
      await clock.advance(1000);
    }
    queueImport(outbox, 'K-4');
    expect(listLatestAccepted(outbox, 2).map(({ localId }) => localId)).toEqual(['K-3', 'K-2']);
  });

  test('since a time are selected by the service’s clock, and not at all without its time', () => {
    using outbox = tempOutbox();
    const end = (localId: string, identCely: string, serverDateAt?: number) =>
      settle(
        outbox,
        claimEntry(outbox, queueImport(outbox, localId).entryId),
        { state: 'accepted', identCely },
        {
          outcome: 'accepted',
          ...(serverDateAt === undefined ? {} : { serverDateAt: asServerMs(serverDateAt) }),
        },
      );
    end('K-1', 'dated', 5000);
    end('K-2', 'undated');
    attemptEntry(outbox, queueImport(outbox, 'K-3').entryId, {
      state: 'refused',
      reason: 'no',
      issues: [],
    });
    acceptEntry(outbox, addNumber(outbox, { findId: null, identCely: OTHER }, 'A 1', ''), OTHER);
    expect([listAcceptedSince(outbox, 5000), listAcceptedSince(outbox, 5001)]).toEqual([
      new Map([['dated', 5000]]),
      new Map(),
    ]);
  });
});
