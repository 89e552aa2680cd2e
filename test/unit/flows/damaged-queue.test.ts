import { expect, test } from 'vitest';
import { DatabaseError } from '../../../src/base/errors.ts';
import { addNumber, addPhoto } from '../../../src/outbox/entries.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';
import { findService, PROJECT, queueFind } from './find-service.ts';

const IDENT = `${PROJECT}-N00001`;
const OTHER = `${PROJECT}-N00002`;
const photograph = {
  name: 'K-1.jpg',
  mediaType: 'image/jpeg',
  sha512: Buffer.alloc(64, 1),
  sizeBytes: 3,
};

test.each<readonly [what: string, damage: string]>([
  ['a digit of a number', `update entries set value = 'INV-0043' where kind = 'number'`],
  ['the record of a number', `update entries set ident_cely = '${OTHER}' where kind = 'number'`],
  [
    'the find of a number',
    `update entries set find_id = (select max(id) from finds) where kind = 'number'`,
  ],
  ['the name of a photograph', `update entries set photo_name = 'K-9.jpg' where kind = 'photo'`],
  ['the type of a photograph', `update entries set photo_type = 'image/jpef' where kind = 'photo'`],
  ['the record of a photograph', `update entries set ident_cely = '${OTHER}' where kind = 'photo'`],
  [
    'a byte of a document',
    `update entries set document = cast(replace(cast(document as text), 'K-3', 'K-8') as blob) where state = 'queued' and kind = 'import'`,
  ],
])(
  'a disk that changes %s stops the push, and only what was queued is sent',
  async (_what, damage) => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    const { findId } = queueFind(outbox, 'K-1');
    queueFind(outbox, 'K-2');
    await service.push(outbox);
    addNumber(outbox, { findId, identCely: IDENT }, 'INV-0042', null);
    addPhoto(outbox, { findId, identCely: IDENT }, photograph);
    queueFind(outbox, 'K-3');
    service.writes.splice(0);
    expect(outbox.sql(damage).run().changes).toBe(1);
    await expect(service.push(outbox)).rejects.toSatisfy(
      (thrown) => thrown instanceof DatabaseError && thrown.exitCode === 12,
    );
    expect(service.writes.join()).not.toMatch(/INV-0043|N00002|K-9|K-8/);
  },
);
