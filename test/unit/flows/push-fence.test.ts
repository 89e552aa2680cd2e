import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UnavailableError, UsageError } from '../../../src/base/errors.ts';
import { adopt, storeSeparate } from '../../../src/flows/outbox/fence.ts';
import { listAllEntries } from '../../../src/outbox/entry-queries.ts';
import { type Outbox, readHeader } from '../../../src/outbox/open-outbox.ts';
import { resolveEntries } from '../../../src/push/resolve.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  aComputer,
  findService,
  getInnerText,
  PROJECT,
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

describe('an outbox that is pushed with another journal', () => {
  test('is not pushed from here until a person adopts it', async () => {
    using setup = await copied();
    const { copy, service } = setup;
    for (const more of [{}, { confirmAdoption: async () => false }]) {
      const refused = service.push(copy, more);
      await expect(refused).rejects.toBeInstanceOf(UsageError);
      await expect(refused).rejects.toMatchObject({
        hint: expect.stringContaining('pas outbox adopt --yes'),
      });
    }
    expect([service.writes, states(copy)]).toEqual([['K-1'], ['accepted', 'queued']]);
  });

  test('is looked up at the service before it is sent from here, and what the other place sent is held', async () => {
    using setup = await copied();
    const { clock, copy, office, service } = setup;
    await service.push(office.open());
    await clock.advance(40 * 86_400_000);
    adopt(copy, '');
    expect(readHeader(copy).mustLook).toBe(true);
    await service.push(copy);
    expect([service.writes, states(copy)]).toEqual([
      ['K-1', 'K-2'],
      ['accepted', 'held: equal-record'],
    ]);
    expect(readHeader(copy).mustLook).toBe(true);
    resolveEntries(
      copy,
      'K-2',
      { kind: 'created', identCely: `${PROJECT}-N00002` },
      undefined,
      (work) => work(true),
    );
    queueFind(copy, 'K-3');
    expect(await service.push(copy)).toMatchObject({ accepted: 1 });
    expect(readHeader(copy).mustLook).toBe(false);
  });

  test('is not sent without the scan that its adoption requires, even if the scan fails', async () => {
    using setup = await copied();
    const { copy, office, service } = setup;
    await service.push(office.open());
    adopt(copy, '');
    service.habits.beforeHarvest = async () => {
      throw new UnavailableError('closed for the night');
    };
    await expect(service.push(copy)).rejects.toMatchObject({
      hint: expect.stringContaining('pas must search the service'),
    });
    expect([service.writes, states(copy)]).toEqual([
      ['K-1', 'K-2'],
      ['accepted', 'queued'],
    ]);
  });

  test('is held if it cannot be looked up, until a person answers or a scan succeeds; later entries are not held', async () => {
    using setup = await copied();
    const { copy, office, service } = setup;
    await service.push(office.open());
    const { findId } = queueFind(copy, 'K-3');
    queuePhotograph(copy, { findId, identCely: null }, 'a.jpg', 'picture');
    adopt(copy, '');
    const blind = { harvesting: undefined };
    expect(await service.push(copy, blind)).toMatchObject({ accepted: 0 });
    const held = 'held: not-searched';
    expect(states(copy)).toEqual(['accepted', held, held, 'queued']);
    queueFind(copy, 'K-4');
    expect(await service.push(copy, blind)).toMatchObject({ accepted: 1 });
    resolveEntries(copy, 'K-3', { kind: 'resend' }, undefined, (work) => work(true));
    expect(await service.push(copy, blind)).toMatchObject({ accepted: 2 });
    await setup.clock.advance(40 * 86_400_000);
    await service.push(copy);
    expect(states(copy)).toEqual([
      'accepted',
      'held: equal-record',
      'accepted',
      'accepted',
      'accepted',
    ]);
  });

  test('is adopted by the push on request', async () => {
    using setup = await copied();
    expect(
      await setup.service.push(setup.copy, { confirmAdoption: async () => true }),
    ).toMatchObject({ accepted: 1 });
    expect(await setup.service.push(setup.copy)).toMatchObject({ requests: 0 });
    // The first place is foreign now.
    const first = setup.office.open();
    queueFind(first, 'K-9');
    expect(await setup.service.push(first)).toMatchObject({ requests: 1 });
  });
});

test('a lost journal on the pushing machine is rebuilt automatically, with a message', async () => {
  const clock = manualClock();
  const service = findService(clock);
  using computer = aComputer(clock);
  const outbox = computer.open();
  const machine = 'this-machine';
  queueFind(outbox, 'K-1');
  await service.push(outbox, { machine });
  queueFind(outbox, 'K-2', 'sent since');
  computer.save();
  for (const name of ['ledger.sqlite', 'journal.id'])
    rmSync(join(computer.folder, name), { force: true });
  service.make(getInnerText('sent since'));
  const again = computer.open();
  const lines: string[] = [];
  const onLostJournal = () => void lines.push('lost');
  await service.push(again, { machine, onLostJournal });
  expect([lines, service.writes, states(again)]).toEqual([
    ['lost'],
    ['K-1'],
    ['accepted', 'held: equal-record'],
  ]);
  expect(
    again.journal?.listEventsSince(readHeader(again).outbox, 0).map(({ event }) => event.kind),
  ).toContain('answered');
  await service.push(again, { machine, onLostJournal });
  expect(lines).toHaveLength(1);
});

describe('a new outbox on a machine with another outbox of the account', () => {
  const second = async () => {
    const clock = manualClock();
    const service = findService(clock);
    const computer = aComputer(clock);
    const first = computer.open('first');
    queueFind(first, 'K-1', 'fibula');
    await service.push(first);
    const outbox = computer.open('second');
    return {
      clock,
      service,
      outbox,
      first: readHeader(first).outbox,
      [Symbol.dispose]: () => computer[Symbol.dispose](),
    };
  };

  test('sends nothing before a person has related the two, and names both commands', async () => {
    using scene = await second();
    queueFind(scene.outbox, 'L-1');
    const refused = scene.service.push(scene.outbox);
    await expect(refused).rejects.toBeInstanceOf(UsageError);
    await expect(refused).rejects.toMatchObject({
      hint: expect.stringContaining(`pas outbox adopt --continue ${scene.first}`),
    });
    await expect(refused).rejects.toMatchObject({
      hint: expect.stringContaining('pas outbox adopt --separate'),
    });
    expect([scene.service.writes, states(scene.outbox)]).toEqual([['fibula'], ['queued']]);
    storeSeparate(scene.outbox, [scene.first]);
    expect(await scene.service.push(scene.outbox)).toMatchObject({ accepted: 1 });
  });

  test.each([
    ['that reads the same', 'L-1', 'fibula', 'attempted-elsewhere'],
    ['of the same local id', 'K-1', 'spindle', 'local-id-sent-elsewhere'],
  ])('asks about a find %s, even without a scan', async (_what, localId, note, basis) => {
    using scene = await second();
    const { outbox, service } = scene;
    storeSeparate(outbox, [scene.first]);
    queueFind(outbox, localId, note);
    queueFind(outbox, 'L-9');
    expect(await service.push(outbox, { harvesting: undefined })).toMatchObject({ accepted: 1 });
    expect(listAllEntries(outbox)[0]?.held).toMatchObject({
      basis,
      candidates: [`${PROJECT}-N00001`],
    });
    resolveEntries(outbox, localId, { kind: 'resend' }, undefined, (work) => work(true));
    expect(await service.push(outbox, { harvesting: undefined })).toMatchObject({ accepted: 1 });
  });
});
