import { expect, test } from 'vitest';
import { addNumber, addPhoto, allEntries } from '../../../src/outbox/entries.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { findService, PROJECT, queueFind } from '../../support/find-service.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';

const OTHER = `${PROJECT}-N00002`;
const photograph = { name: 'K-1.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 };

const DAMAGES: readonly (readonly [string, string])[] = [
  ['a digit of a number', `update entries set value = 'INV-0043' where kind = 'number'`],
  ['the record of a number', `update entries set ident_cely = '${OTHER}' where kind = 'number'`],
  ['the find of a number', `update entries set find_id = (select max(id) from finds) where kind = 'number'`],
  ['the name of a photograph', `update entries set photo_name = 'K-9.jpg' where kind = 'photo'`],
  ['the type of a photograph', `update entries set photo_type = 'image/jpef' where kind = 'photo'`],
  ['the record of a photograph', `update entries set ident_cely = '${OTHER}' where kind = 'photo'`],
  [
    'a byte of a document',
    `update entries set document = cast(replace(cast(document as text), 'K-3', 'K-8') as blob) where state = 'queued' and kind = 'import'`,
  ],
];

async function sentSeason(outbox: ServiceOutbox, clock: ReturnType<typeof manualClock>) {
  const service = findService(clock);
  const { findId } = queueFind(outbox, 'K-1');
  queueFind(outbox, 'K-2');
  await service.push(outbox);
  addNumber(outbox, { findId, identCely: `${PROJECT}-N00001` }, 'INV-0042');
  addPhoto(outbox, { findId, identCely: `${PROJECT}-N00001` }, photograph);
  queueFind(outbox, 'K-3');
  service.writes.splice(0);
  return service;
}

test.each(DAMAGES)(
  'a disk that changes %s sends nothing else than what was queued: the entry is refused',
  async (_what, damage) => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = await sentSeason(outbox, clock);
    expect(outbox.sql(damage).run().changes).toBe(1);
    const damaged = allEntries(outbox).filter(({ state }) => state === 'queued').length;
    // A photograph that is not refused would be read from a disk, which no clock of a test waits for.
    await service.push(outbox, damage.includes('photo') ? {} : { kinds: ['import', 'number'] });
    const refused = allEntries(outbox).filter(
      ({ state, reason }) => state === 'refused' && /holds something else/.test(String(reason)),
    );
    expect([damaged, refused.length]).toEqual([3, 1]);
    expect(service.writes.join()).not.toMatch(/INV-0043|N00002|K-9|K-8/);
  },
);
