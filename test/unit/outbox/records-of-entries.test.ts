import { describe, expect, test } from 'vitest';
import { claim, type Settlement, settle } from '../../../src/outbox/claims.ts';
import { addNumber, addPhoto, entryById } from '../../../src/outbox/entries.ts';
import { OPEN_END_MS } from '../../../src/outbox/entry.ts';
import {
  dropOutdated,
  lastNumber,
  latestNumber,
  mayHaveArrived,
  numbersThatStand,
  stragglers,
} from '../../../src/outbox/latest-number.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { acceptedSince, disown, latestAccepted, madeElsewhere, ownerOf } from '../../../src/outbox/owners.ts';
import { rememberStanding } from '../../../src/outbox/pulled.ts';
import { sealOf } from '../../../src/outbox/seal.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { ACCOUNT_ID, asSeenBy, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const OTHER = 'C-202400101-N00002';
const PHOTOGRAPH = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 };

function entryOf(outbox: ServiceOutbox, id: number) {
  const entry = entryById(outbox, id);
  if (entry === undefined) throw new Error('no such entry');
  return entry;
}

function end(outbox: ServiceOutbox, id: number, settlement: Settlement, serverDateAt?: number): number {
  const claimed = claim(outbox, id, () => ({ method: 'POST', path: '/', accountId: ACCOUNT_ID }));
  if (claimed === undefined) throw new Error('the entry is not queued');
  settle(outbox, claimed, settlement, { outcome: settlement.state, ...(serverDateAt === undefined ? {} : { serverDateAt }) });
  return id;
}

const accepted = (identCely = IDENT): Settlement => ({ state: 'accepted', identCely });
const UNCERTAIN: Settlement = { state: 'uncertain', reason: 'no answer' };
const REFUSED: Settlement = { state: 'refused', reason: 'said', issues: [] };

function addNumberTo(outbox: ServiceOutbox, value: string, identCely = IDENT): number {
  return addNumber(outbox, { findId: null, identCely }, value);
}

function numberOf(outbox: ServiceOutbox, id: number) {
  const entry = entryOf(outbox, id);
  if (entry.kind !== 'number') throw new Error('it is no number');
  return entry;
}

describe('the owner of a record', () => {
  test('is the import that was accepted with it, at this service', () => {
    using outbox = tempOutbox();
    const id = end(outbox, queueImport(outbox, 'K-1').entryId, accepted());
    end(outbox, addNumberTo(outbox, 'INV 1', OTHER), accepted(OTHER));
    const training = asSeenBy(outbox, { address: 'https://training.example.org' });
    expect([ownerOf(outbox, IDENT)?.id, ownerOf(outbox, OTHER), ownerOf(training, IDENT)]).toEqual([id, undefined, undefined]);
  });

  test('elsewhere is the find that another service gave the identifier, unless this service has the record', () => {
    using outbox = tempOutbox();
    const training = asSeenBy(outbox, { address: 'https://training.example.org' });
    end(training, queueImport(training, 'K-1').entryId, accepted());
    expect(madeElsewhere(outbox, IDENT)).toMatchObject({ localId: 'K-1', address: 'https://training.example.org' });
    expect([madeElsewhere(training, IDENT), madeElsewhere(outbox, OTHER)]).toEqual([undefined, undefined]);
    end(outbox, queueImport(outbox, 'K-2').entryId, accepted(OTHER));
    end(training, queueImport(training, 'K-3').entryId, accepted(OTHER));
    expect(madeElsewhere(outbox, OTHER)).toBeUndefined();
    rememberStanding(outbox, { identCely: IDENT, standing: 'withheld', datestampMs: 1 });
    expect(madeElsewhere(outbox, IDENT)).toBeUndefined();
  });

  test('is none any more where the service gave the record to another find, and nothing of it goes there', () => {
    using outbox = tempOutbox();
    const { findId, entryId } = queueImport(outbox, 'K-1');
    const waiting = addNumber(outbox, { findId, identCely: null }, 'INV 1');
    const sent = addPhoto(outbox, { findId, identCely: null }, PHOTOGRAPH);
    const elsewhere = addPhoto(outbox, { findId, identCely: OTHER }, { ...PHOTOGRAPH, sha512: Buffer.alloc(64, 2) });
    end(outbox, entryId, accepted());
    end(outbox, sent, accepted());
    const owner = ownerOf(outbox, IDENT);
    if (owner === undefined) throw new Error('it has an owner');
    disown(outbox, owner, 'it was lost');
    const after = [entryId, waiting, sent, elsewhere].map((id) => entryOf(outbox, id));
    expect(after.map(({ state }) => state)).toEqual(['uncertain', 'queued', 'uncertain', 'queued']);
    expect(after.map(({ identCely }) => identCely)).toEqual([null, null, null, OTHER]);
    expect([after[0]?.reason, after[2]?.reason]).toEqual(['it was lost', 'it was lost']);
    expect(ownerOf(outbox, IDENT)).toBeUndefined();
  });
});

describe('what was accepted', () => {
  test('last comes first, as many as were asked for', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (const localId of ['K-1', 'K-2', 'K-3']) {
      end(outbox, queueImport(outbox, localId).entryId, accepted(`C-1-N${localId}`));
      await clock.advance(1000);
    }
    queueImport(outbox, 'K-4');
    expect(latestAccepted(outbox, 2).map(({ localId }) => localId)).toEqual(['K-3', 'K-2']);
  });

  test('since some time counts by the service’s clock, or by this machine’s as far as that is wrong', () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const now = clock.now();
    end(outbox, queueImport(outbox, 'K-1').entryId, accepted('dated'), now - 5000);
    end(outbox, queueImport(outbox, 'K-2').entryId, accepted('undated'));
    end(outbox, queueImport(outbox, 'K-3').entryId, REFUSED, now);
    end(outbox, addNumberTo(outbox, 'INV 1'), accepted('number'), now);
    expect(acceptedSince(outbox, now - 5000, -1000)).toEqual(
      new Map([
        ['dated', now - 5000],
        ['undated', now - 1000],
      ]),
    );
    expect([...acceptedSince(outbox, now - 4999, -1000).keys()]).toEqual(['undated']);
    expect([...acceptedSince(asSeenBy(outbox, { address: 'https://training.example.org' }), 0, 0)]).toEqual([]);
  });
});

describe('the numbers of a record', () => {
  test('are the last one that was not given up or refused, whoever asks', () => {
    using outbox = tempOutbox();
    end(outbox, addNumberTo(outbox, 'ONE'), REFUSED);
    addNumberTo(outbox, 'TWO');
    addNumberTo(outbox, 'OTHER', OTHER);
    const target = { findId: null, identCely: IDENT };
    expect(lastNumber(outbox, target, [])?.value).toBe('TWO');
    expect(lastNumber(outbox, target, ['queued'])?.value).toBe('ONE');
    expect(lastNumber(outbox, target, ['refused', 'queued'])).toBeUndefined();
    expect(numbersThatStand(outbox).map(({ value }) => value)).toEqual(['TWO', 'OTHER']);
    const photo = entryOf(outbox, addPhoto(outbox, target, PHOTOGRAPH));
    const entry = numberOf(outbox, addNumberTo(outbox, 'THREE'));
    expect(
      latestNumber([entry, { ...entry, state: 'dropped', value: 'x' }, { ...entry, state: 'refused', value: 'y' }, photo]),
    ).toBe('THREE');
    expect(latestNumber([photo])).toBeUndefined();
  });

  test('before one that is sent are given up, of its record and of no other', () => {
    using outbox = tempOutbox();
    const [first, other] = [addNumberTo(outbox, 'ONE'), addNumberTo(outbox, 'OTHER', OTHER)];
    const last = end(outbox, addNumberTo(outbox, 'TWO'), accepted());
    dropOutdated(outbox, outbox.serviceId);
    expect([first, other, last].map((id) => entryOf(outbox, id).state)).toEqual(['dropped', 'queued', 'accepted']);
    expect(`${entryOf(outbox, first).reason}`).toBe('a later number of the record takes its place');
  });

  test('are given up of one record alone where only that is asked for', () => {
    using outbox = tempOutbox();
    const numbers = [IDENT, OTHER].map(
      (ident) => [addNumberTo(outbox, 'ONE', ident), addNumberTo(outbox, 'TWO', ident)] as const,
    );
    for (const [, last] of numbers) outbox.sql("update entries set state = 'accepted' where id = ?").run(last);
    const states = () => numbers.map(([first]) => entryOf(outbox, first).state);
    dropOutdated(outbox, outbox.serviceId, OTHER);
    expect(states()).toEqual(['queued', 'dropped']);
    dropOutdated(outbox, outbox.serviceId);
    expect(states()).toEqual(['dropped', 'dropped']);
  });

  test('may have arrived where an attempt had no clear answer, or where nothing is known of some time', () => {
    using outbox = tempOutbox();
    const waits = addNumberTo(outbox, 'ONE');
    expect(mayHaveArrived(outbox, entryOf(outbox, waits))).toBe(false);
    expect(mayHaveArrived(outbox, { ...entryOf(outbox, waits), doubt: { fromMs: 1, untilMs: 2 } })).toBe(true);
    const refused = end(outbox, addNumberTo(outbox, 'TWO', OTHER), REFUSED);
    expect(mayHaveArrived(outbox, entryOf(outbox, refused))).toBe(false);
    const open = end(outbox, addNumberTo(outbox, 'THREE', 'C-1-N00003'), UNCERTAIN);
    expect(mayHaveArrived(outbox, entryOf(outbox, open))).toBe(true);
    const lost = addNumberTo(outbox, 'FOUR', 'C-1-N00004');
    claim(outbox, lost, () => ({ method: 'POST', path: '/', accountId: ACCOUNT_ID }));
    expect(mayHaveArrived(outbox, entryOf(outbox, lost))).toBe(true);
    outbox.sql("update attempts set outcome = 'lost', ended_at = 1 where entry_id = ?").run(lost);
    expect(mayHaveArrived(outbox, entryOf(outbox, lost))).toBe(true);
  });

  test('that may still overwrite one are the others of its record, with another value', () => {
    using outbox = tempOutbox();
    const queue = (value: string, settlement: Settlement, identCely = IDENT) =>
      end(outbox, addNumberTo(outbox, value, identCely), settlement);
    const open = queue('ONE', UNCERTAIN);
    queue('TWO', REFUSED);
    queue('SAME', UNCERTAIN);
    queue('OTHER', UNCERTAIN, OTHER);
    const doubted = addNumberTo(outbox, 'THREE');
    outbox.sql('update entries set doubt_from_at = 1, doubt_until_at = 2 where id = ?').run(doubted);
    const entry = numberOf(outbox, addNumberTo(outbox, 'SAME'));
    expect(stragglers(outbox, entry)).toMatchObject([{ attempt: { entryId: open } }, { doubt: { fromMs: 1, untilMs: 2 } }]);
    outbox.sql('update entries set doubt_until_at = ? where id = ?').run(OPEN_END_MS, doubted);
    expect(stragglers(outbox, entry)).toMatchObject([{ attempt: { entryId: open } }]);
  });
});

test('the seal of an entry is another for whatever it is to do, and to which record', () => {
  const photo = { kind: 'photo', recordKey: 'r1', photograph: PHOTOGRAPH } as const;
  const number = { kind: 'number', recordKey: 'r1', value: 'INV 1' } as const;
  const sealed = [
    number,
    { ...number, value: 'INV 2' },
    { ...number, recordKey: 'r2' },
    photo,
    { ...photo, recordKey: 'r2' },
    { ...photo, photograph: { ...PHOTOGRAPH, name: 'b.jpg' } },
    { ...photo, photograph: { ...PHOTOGRAPH, mediaType: 'image/png' } },
    { ...photo, photograph: { ...PHOTOGRAPH, sha512: Buffer.alloc(64, 2) } },
  ].map((entry) => sealOf(entry).toString('hex'));
  expect(new Set(sealed).size).toBe(sealed.length);
  // What earlier outboxes hold was sealed so.
  expect(sealed[0]).toBe('e1b3208feb22d55125ad143325a1adc8de05effd6b2069843002072334dd620b');
});
