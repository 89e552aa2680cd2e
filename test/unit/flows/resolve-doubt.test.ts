import { describe, expect, test } from 'vitest';
import { resolveDoubts } from '../../../src/flows/reconcile/resolve-doubt.ts';
import { claim, type Settlement, settle } from '../../../src/outbox/claims.ts';
import { addPhoto, entryById } from '../../../src/outbox/entries.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { ACCOUNT_ID, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const OTHER = 'C-202400101-N00002';
const UNCERTAIN: Settlement = { state: 'uncertain', reason: 'no answer' };

function end(outbox: ServiceOutbox, entryId: number, settlement: Settlement): void {
  const claimed = claim(outbox, entryId, () => ({ method: 'POST', path: '/', accountId: ACCOUNT_ID }));
  if (claimed === undefined) throw new Error('the entry is not queued');
  settle(outbox, claimed, settlement, { outcome: settlement.state });
}

function uncertainPhoto(outbox: ServiceOutbox, name: string, byte: number): number {
  const photograph = { name, mediaType: 'image/jpeg', sha512: Buffer.alloc(64, byte), sizeBytes: 3 };
  const id = addPhoto(outbox, { findId: null, identCely: IDENT }, photograph);
  end(outbox, id, UNCERTAIN);
  return id;
}

const state = (outbox: ServiceOutbox, id: number): string | undefined => entryById(outbox, id)?.state;

test('a find cannot be settled as the record of another find', () => {
  using outbox = tempOutbox();
  end(outbox, queueImport(outbox, 'K-1').entryId, { state: 'accepted', identCely: IDENT });
  const { entryId } = queueImport(outbox, 'K-2');
  end(outbox, entryId, UNCERTAIN);
  expect(() => resolveDoubts(outbox, 'K-2', { kind: 'created', identCely: IDENT })).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/record of K-1 already/),
      hint: expect.stringMatching(/pas show K-1.*pas resolve K-2 --drop$/),
    }),
  );
  expect(state(outbox, entryId)).toBe('uncertain');
  resolveDoubts(outbox, 'K-2', { kind: 'created', identCely: OTHER });
  expect(entryById(outbox, entryId)).toMatchObject({ state: 'accepted', identCely: OTHER });
});

test('what a push that was killed left under way can be decided at once', () => {
  using outbox = tempOutbox();
  const { entryId } = queueImport(outbox, 'K-1');
  claim(outbox, entryId, () => ({ method: 'POST', path: '/', accountId: ACCOUNT_ID }));
  resolveDoubts(outbox, 'K-1', { kind: 'created', identCely: IDENT });
  expect(entryById(outbox, entryId)).toMatchObject({ state: 'accepted', identCely: IDENT });
});

describe('photographs of a record that is not kept here', () => {
  test('are settled each by itself', () => {
    using outbox = tempOutbox();
    const [there, missing] = [uncertainPhoto(outbox, 'a.jpg', 1), uncertainPhoto(outbox, 'b.jpg', 2)];
    resolveDoubts(outbox, IDENT, { kind: 'created', identCely: IDENT }, { entryId: there });
    resolveDoubts(outbox, IDENT, { kind: 'resend' }, { entryId: missing });
    expect([state(outbox, there), state(outbox, missing)]).toEqual(['accepted', 'queued']);
  });

  test('cannot be settled as another record’s', () => {
    using outbox = tempOutbox();
    uncertainPhoto(outbox, 'a.jpg', 1);
    expect(() => resolveDoubts(outbox, IDENT, { kind: 'created', identCely: OTHER })).toThrow(/sent to C-202400101-N00001/);
  });
});

describe('without a doubt', () => {
  test('what was refused is sent again as it is, when what was wrong was at the service', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    end(outbox, entryId, { state: 'refused', reason: 'no right to this project', issues: [] });
    resolveDoubts(outbox, 'K-1', { kind: 'resend' });
    expect(entryById(outbox, entryId)).toMatchObject({ state: 'queued', issues: [] });
  });

  test('what was given up is taken back', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    end(outbox, entryId, UNCERTAIN);
    resolveDoubts(outbox, 'K-1', { kind: 'drop' });
    expect(state(outbox, entryId)).toBe('dropped');
    resolveDoubts(outbox, 'K-1', { kind: 'resend' });
    expect(state(outbox, entryId)).toBe('queued');
  });

  test('there is nothing to decide about what is queued or accepted', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-1');
    expect(() => resolveDoubts(outbox, 'K-1', { kind: 'resend' })).toThrow(/Nothing here/);
  });
});
