import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Outbox, readHeader } from '../../../src/outbox/open-outbox.ts';
import { findByLocalId } from '../../../src/outbox/stored-finds.ts';
import { resolveEntries } from '../../../src/push/resolve-entries.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { listAllEntries, listFactsInLedger } from '../../support/temp-outbox.ts';
import {
  aComputer,
  findService,
  getInnerText,
  queueFind,
  queuePhotograph,
} from './find-service.ts';

const states = (outbox: Outbox): string[] =>
  listAllEntries(outbox).map(({ state, held }) => (held === null ? state : `held: ${held.basis}`));

/** An outbox that was pushed on one computer, and a copy of it on another. */
async function copied() {
  const clock = manualClock();
  const service = findService(clock);
  const office = aComputer(clock);
  const laptop = aComputer(clock);
  const outbox = office.open();
  for (const name of ['K-1', 'K-2']) queueFind(outbox, name);
  await service.push(outbox, { limit: 1 });
  office.save();
  cpSync(join(office.folder, 'outbox.sqlite'), join(laptop.folder, 'outbox.sqlite'));
  return {
    clock,
    service,
    office,
    copy: laptop.open(),
    [Symbol.dispose]: () => {
      for (const each of [office, laptop]) each[Symbol.dispose]();
    },
  };
}

const TAKEN = { confirmTakeOver: async () => true };

describe('an outbox that was pushed from another place', () => {
  test('is held if the service cannot be searched, until a person answers; later entries are not', async () => {
    using setup = await copied();
    const { copy, office, service } = setup;
    await service.push(office.open());
    const { findId } = queueFind(copy, 'K-3');
    queuePhotograph(copy, findId, 'a.jpg', 'picture');
    const blind = { harvesting: undefined };
    expect(await service.push(copy, { ...blind, ...TAKEN })).toMatchObject({ accepted: 0 });
    const held = 'held: not-searched';
    expect(states(copy)).toEqual(['accepted', held, held, 'queued']);
    queueFind(copy, 'K-4');
    expect(await service.push(copy, blind)).toMatchObject({ accepted: 1 });
    resolveEntries(copy, 'K-3', { kind: 'resend' }, undefined, true);
    expect(await service.push(copy, blind)).toMatchObject({ accepted: 2 });
  });
});

test('a lost ledger on the pushing machine is made again, and the service is searched', async () => {
  const clock = manualClock();
  const service = findService(clock);
  using computer = aComputer(clock);
  const outbox = computer.open();
  const machine = 'this-machine';
  queueFind(outbox, 'K-1');
  await service.push(outbox, { machine });
  queueFind(outbox, 'K-2', 'sent since');
  computer.save();
  rmSync(join(computer.folder, 'ledger.sqlite'));
  service.make(getInnerText('sent since'));
  const again = computer.open();
  await service.push(again, { machine });
  expect([service.writes, states(again)]).toEqual([['K-1'], ['accepted', 'held: equal-record']]);
  const { uuid = '' } = findByLocalId(again, 'K-1') ?? {};
  expect(listFactsInLedger(again, uuid).map(({ kind }) => kind)).toContain('answered');
});

test('an outbox that was first pushed without an identifier of the machine gets it with the next push', async () => {
  const clock = manualClock();
  const service = findService(clock);
  using computer = aComputer(clock);
  const outbox = computer.open();
  await service.push(outbox, { machine: '' });
  await service.push(outbox, { machine: 'this-machine' });
  await service.push(outbox, { machine: '' });
  expect(readHeader(outbox)).toMatchObject({ machine: 'this-machine', mustLook: false });
});
