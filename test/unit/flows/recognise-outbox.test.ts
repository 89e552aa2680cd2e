import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { OutboxLeasedError } from '../../../src/base/errors.ts';
import type { Copied } from '../../../src/flows/push/recognise-outbox.ts';
import { backUpOutbox } from '../../../src/outbox/backup-copy.ts';
import { allEntries } from '../../../src/outbox/entries.ts';
import { historyOf, noteLook, openMemory } from '../../../src/outbox/history.ts';
import { openOutbox, type ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { openService } from '../../../src/outbox/services.ts';
import { findService, queueFind } from '../../support/find-service.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { ADDRESS, newMachine, tempFolder, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';

function copyOf(outbox: ServiceOutbox, clock: ManualClock): ServiceOutbox {
  const path = join(tempFolder(), 'outbox.sqlite');
  backUpOutbox(outbox.path, path, clock);
  return openService(openOutbox(path, clock), { address: ADDRESS, username: USERNAME });
}

const states = (outbox: ServiceOutbox): string[] => allEntries(outbox).map(({ state }) => state);

describe('two copies of one outbox on one machine', () => {
  test('send each find once, whichever is pushed first, and go on side by side', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    for (const name of ['K-1', 'K-2', 'K-3']) queueFind(outbox, name);
    const copy = copyOf(outbox, clock);
    await service.push(outbox);
    await service.push(copy);
    expect([service.writes, states(copy)]).toEqual([
      ['K-1', 'K-2', 'K-3'],
      ['accepted', 'accepted', 'accepted'],
    ]);
    queueFind(copy, 'K-4');
    await service.push(copy);
    queueFind(outbox, 'K-5');
    expect(await service.push(outbox)).toMatchObject({ accepted: 1, stopCause: undefined });
    expect(service.writes).toEqual(['K-1', 'K-2', 'K-3', 'K-4', 'K-5']);
    copy.close();
  });

  test('send nothing twice where the first was stopped in the middle: the second goes on, and the first leaves what both have', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    for (const name of ['K-1', 'K-2', 'K-3']) queueFind(outbox, name);
    const copy = copyOf(outbox, clock);
    await service.push(outbox, { limit: 1 });
    await service.push(copy, { limit: 0 });
    const told: Copied[] = [];
    await service.push(outbox, { recognition: { ...service.machine, onCopy: (found) => void told.push(found) } });
    expect([service.writes, states(outbox), told]).toEqual([
      ['K-1'],
      ['accepted', 'uncertain', 'uncertain'],
      [{ from: 'divided', doubtful: 2 }],
    ]);
    await service.push(copy);
    queueFind(outbox, 'K-4');
    await service.push(outbox);
    expect([service.writes, states(outbox), states(copy)]).toEqual([
      ['K-1', 'K-2', 'K-3', 'K-4'],
      Array(4).fill('accepted'),
      Array(3).fill('accepted'),
    ]);
    copy.close();
  });

  test('send nothing twice where the same old copy is put back twice, and what was sent since is added again', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    const [first, second] = [copyOf(outbox, clock), copyOf(outbox, clock)];
    queueFind(outbox, 'K-1');
    await service.push(outbox);
    await service.push(first, { limit: 0 });
    queueFind(second, 'K-1');
    await service.push(second);
    expect([service.writes, states(second)]).toEqual([['K-1'], ['uncertain']]);
    first.close();
    second.close();
  });

  test('are not pushed at once: the one that begins later goes on, and the other is told', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    const names = Array.from({ length: 8 }, (_, index) => `K-${index}`);
    for (const name of names) queueFind(outbox, name);
    const copy = copyOf(outbox, clock);
    const first = service.push(outbox, {}, 0);
    first.catch(() => {});
    await clock.advance(350);
    await service.push(copy);
    await expect(first).rejects.toThrow('A copy of this outbox is pushed as well. Nothing more is sent from this one now.');
    const { hint } = (await first.catch((thrown: unknown) => thrown)) as OutboxLeasedError;
    expect(String(hint)).toBe('pas push looks for what was sent from there, and goes on with the rest.');
    await service.push(copy);
    await service.push(outbox);
    expect([service.writes.toSorted(), states(outbox), states(copy)]).toEqual([
      names,
      Array(8).fill('accepted'),
      Array(8).fill('accepted'),
    ]);
    copy.close();
  });

  test('leave to a person what no harvest can tell', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    queueFind(outbox, 'K-1');
    const copy = copyOf(outbox, clock);
    await service.push(outbox, { harvesting: undefined });
    const told: Copied[] = [];
    const recognition = { ...service.machine, onCopy: (found: Copied) => void told.push(found) };
    await service.push(copy, { harvesting: undefined, recognition });
    await service.push(copy, { harvesting: undefined, recognition });
    expect([service.writes, states(copy), told]).toEqual([['K-1'], ['uncertain'], [{ from: 'earlier', doubtful: 1 }]]);
    copy.close();
  });
});

describe('an outbox that comes from another machine', () => {
  const brought = async (wasMoved: boolean) => {
    const clock = manualClock();
    const outbox = tempOutbox(clock);
    const service = findService(clock);
    outbox.sql(`update history set machine = 'office'`).run();
    queueFind(outbox, 'K-1');
    let asked = 0;
    const recognition = {
      ...newMachine(),
      machine: 'laptop',
      wasMoved: async () => {
        asked += 1;
        return wasMoved;
      },
    };
    for (let turn = 0; turn < 2; turn += 1) await service.push(outbox, { recognition, harvesting: undefined });
    return { asked, writes: service.writes, states: states(outbox) };
  };

  test('goes on where a person says that it was moved', async () => {
    expect(await brought(true)).toEqual({ asked: 1, writes: ['K-1'], states: ['accepted'] });
  });

  test('leaves what it shares with the one that it is a copy of to that one, whichever is pushed first', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    outbox.sql(`update history set machine = 'office'`).run();
    for (const name of ['K-1', 'K-2']) queueFind(outbox, name);
    const copy = copyOf(outbox, clock);
    const recognition = { ...newMachine(), machine: 'laptop' };
    await service.push(copy, { recognition });
    queueFind(copy, 'K-3');
    await service.push(copy, { recognition });
    await service.push(outbox);
    await service.push(copy, { recognition });
    expect([service.writes.toSorted(), states(outbox), states(copy)]).toEqual([
      ['K-1', 'K-2', 'K-3'],
      ['accepted', 'accepted'],
      ['accepted', 'accepted', 'accepted'],
    ]);
    copy.close();
  });

  test('is in doubt where it is a copy, and nobody is asked again', async () => {
    expect(await brought(false)).toEqual({ asked: 1, writes: [], states: ['uncertain'] });
  });
});

test('copies that nothing tells apart meet at the service: what has waited since the last look is looked for before it is sent', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  const service = findService(clock);
  for (const name of ['K-1', 'K-2']) queueFind(outbox, name);
  await clock.advance(1000);
  noteLook(outbox);
  const copy = copyOf(outbox, clock);
  await service.push(outbox, { limit: 1 });
  await service.push(copy, { recognition: newMachine() });
  expect([service.writes, states(copy)]).toEqual([
    ['K-1', 'K-2'],
    ['accepted', 'accepted'],
  ]);
  copy.close();
});

test('what the machine remembers is made anew where its file is damaged, and holds no push up', () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  const path = join(tempFolder(), 'outboxes.sqlite');
  writeFileSync(path, 'not a database at all, '.repeat(400));
  const memory = openMemory(path);
  expect(memory.advance(outbox)).toBe(true);
  expect(memory.recall(historyOf(outbox).id)).toMatchObject({ attempts: 0 });
  memory.close();
});
