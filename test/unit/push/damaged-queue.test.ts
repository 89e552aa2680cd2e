import { expect, test } from 'vitest';
import { DatabaseError } from '../../../src/base/errors.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { PHOTOGRAPH, queueNumber, queuePhoto, tempOutbox } from '../../support/temp-outbox.ts';
import { findService, PROJECT, queueFind } from './find-service.ts';

const OTHER = `${PROJECT}-N00002`;
const photograph = { ...PHOTOGRAPH, name: 'K-1.jpg' };

async function damagedQueue(damage: string) {
  const clock = manualClock();
  const outbox = tempOutbox(clock);
  const service = findService(clock);
  const { findId } = queueFind(outbox, 'K-1');
  queueFind(outbox, 'K-2');
  await service.push(outbox);
  queueNumber(outbox, findId, 'INV-0042');
  queuePhoto(outbox, findId, photograph);
  queueFind(outbox, 'K-3');
  service.writes.splice(0);
  expect(outbox.sql(damage).run().changes).toBeGreaterThan(0);
  return { outbox, service, [Symbol.dispose]: () => outbox[Symbol.dispose]() };
}

const DAMAGED_WRITES = /INV-0043|N00002|K-9|K-8/;

test.each<readonly [what: string, damage: string]>([
  [
    'a digit of a number',
    `update intents set content = replace(content, 'INV-0042', 'INV-0043') where kind = 'number'`,
  ],
  [
    'the content of a find',
    `update intents set content = replace(content, 'K-3', 'K-8') where kind = 'import'`,
  ],
  [
    'the name of a photograph',
    `update facts set body = replace(body, 'K-1.jpg', 'K-9.jpg') where slot like 'photo %'`,
  ],
])(
  'a disk that changes %s stops the push, and only what was queued is sent',
  async (_what, damage) => {
    using scene = await damagedQueue(damage);
    await expect(scene.service.push(scene.outbox)).rejects.toSatisfy(
      (thrown) => thrown instanceof DatabaseError && thrown.exitCode === 12,
    );
    expect(scene.service.writes.join()).not.toMatch(DAMAGED_WRITES);
  },
);

test.each<readonly [what: string, damage: string]>([
  ['a digit of a number', `update entries set value = 'INV-0043' where kind = 'number'`],
  ['the record of a number', `update entries set ident_cely = '${OTHER}' where kind = 'number'`],
  ['the record of a photograph', `update entries set ident_cely = '${OTHER}' where kind = 'photo'`],
])('a disk that changes %s in the cache changes nothing that is sent', async (_what, damage) => {
  using scene = await damagedQueue(damage);
  await scene.service.push(scene.outbox).catch(() => {});
  expect(scene.service.writes.join()).not.toMatch(DAMAGED_WRITES);
});
