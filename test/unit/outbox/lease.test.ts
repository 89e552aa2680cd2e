import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OutboxLeasedError } from '../../../src/base/errors.ts';
import { leaseHolder, takeLease } from '../../../src/outbox/lease.ts';
import { openOutbox } from '../../../src/outbox/open-outbox.ts';
import { type ProcessTable, processTable } from '../../../src/outbox/process-table.ts';
import { openService } from '../../../src/outbox/services.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { type Machine, playMachine } from '../../support/played-machine.ts';
import { ADDRESS, queueImport, tempFolder, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';

/** A process that is started on the machine now. */
const startOn = (machine: Machine, pid: number): ProcessTable => processTable(machine.seenBy(machine.start({ pid })));

test('a second pusher is refused and told who holds the outbox', () => {
  using outbox = tempOutbox();
  const laptop = playMachine('linux');
  takeLease(outbox, { processes: startOn(laptop, 10) });
  const second = { processes: startOn(laptop, 20) };
  expect(() => takeLease(outbox, second)).toThrow(OutboxLeasedError);
  expect(() => takeLease(outbox, second)).toThrow(/process 10, since 2024-06-01T/);
  expect(() => takeLease(outbox, { ...second, takeOver: true })).toThrow(OutboxLeasedError);
});

test('whoever cannot know the holder is told where to look for it and what to add', () => {
  using outbox = tempOutbox();
  takeLease(outbox, { processes: startOn(playMachine('win32', { host: 'office', id: '2' }), 10) });
  const asking = { processes: startOn(playMachine('win32'), 20) };
  expect(hintOf(() => takeLease(outbox, asking))).toMatch(/Look on office whether process 10 is a pas.*--take-over/);
});

test('a damaged outbox is taken by nobody', () => {
  const path = join(tempFolder(), 'outbox.sqlite');
  const opened = () => openService(openOutbox(path, manualClock()), { address: ADDRESS, username: USERNAME });
  const whole = opened();
  queueImport(whole, 'F-1');
  const [page, sizeBytes] = [
    `select rootpage from sqlite_schema where type = 'index' and tbl_name = 'entries' and sql not like '%where%' order by name limit 1`,
    'pragma page_size',
  ].map((text) => Number(whole.sql(text).pluck().get()));
  whole.close();
  const bytes = readFileSync(path);
  // The index says that it has no entries.
  bytes.writeUInt16BE(0, ((page ?? 0) - 1) * (sizeBytes ?? 0) + 3);
  writeFileSync(path, bytes);
  const damaged = opened();
  try {
    expect(() => takeLease(damaged)).toThrow(/the database is damaged \(/);
    expect(leaseHolder(damaged)).toBeUndefined();
  } finally {
    damaged.close();
  }
});

test('a process holds the outbox once, also against itself', () => {
  using outbox = tempOutbox();
  const processes = startOn(playMachine('darwin'), 10);
  takeLease(outbox, { processes });
  for (const takeOver of [false, true]) expect(() => takeLease(outbox, { processes, takeOver })).toThrow(/process 10, since/);
});

test('a released lease is free, and releasing late takes it from nobody', () => {
  using outbox = tempOutbox();
  const laptop = playMachine('linux');
  const [ten, twenty] = [startOn(laptop, 10), startOn(laptop, 20)];
  const first = takeLease(outbox, { processes: ten });
  first.release();
  takeLease(outbox, { processes: twenty });
  first.release();
  expect(() => takeLease(outbox, { processes: ten })).toThrow(/process 20/);
});

test('releasing late takes it from nobody of the same number either, where nothing else is known of both', () => {
  using outbox = tempOutbox();
  const [first, second] = ['laptop', 'office'].map((host) => startOn(playMachine('openbsd', { host }), 10));
  const lease = takeLease(outbox, { processes: first as ProcessTable });
  takeLease(outbox, { processes: second as ProcessTable, takeOver: true });
  lease.release();
  expect(leaseHolder(outbox)).toMatchObject({ pid: 10, host: 'office' });
});

test('of two that find the holder gone, the second finds the first', () => {
  using outbox = tempOutbox();
  const laptop = playMachine('linux');
  const holder = laptop.start({ pid: 10 });
  takeLease(outbox, { processes: processTable(laptop.seenBy(holder)) });
  laptop.end(holder);
  const [first, second] = [startOn(laptop, 20), startOn(laptop, 30)];
  const overtaken: ProcessTable = {
    ...second,
    seen(pid) {
      if (pid === 10) takeLease(outbox, { processes: first });
      return second.seen(pid);
    },
  };
  expect(() => takeLease(outbox, { processes: overtaken })).toThrow(/process 20, since/);
});

test('of two that take over what a person says is left, the second finds the first', () => {
  using outbox = tempOutbox();
  takeLease(outbox, { processes: startOn(playMachine('linux', { host: 'lost', id: '0' }), 10) });
  const [first, second] = [startOn(playMachine('linux', { host: 'office' }), 20), startOn(playMachine('linux', { id: '2' }), 30)];
  let asked = 0;
  const overtaken: ProcessTable = {
    ...second,
    machine() {
      asked += 1;
      if (asked === 2) takeLease(outbox, { processes: first, takeOver: true });
      return second.machine();
    },
  };
  expect(() => takeLease(outbox, { processes: overtaken, takeOver: true })).toThrow(/process 20 on office/);
});

describe('a lease of an earlier pas', () => {
  const hold = (outbox: ReturnType<typeof tempOutbox>, machine: string, mark: string) =>
    outbox
      .sql(`insert into lease (only, pid, host, machine, process_mark, taken_at) values (1, 10, 'laptop', ?, ?, 0)`)
      .run(machine, mark);

  test('that proved nothing is left to a person', () => {
    using outbox = tempOutbox();
    hold(outbox, '', 'alive');
    const asking = { processes: startOn(playMachine('win32'), 20) };
    expect(() => takeLease(outbox, asking)).toThrow(/process 10 on laptop/);
    takeLease(outbox, { ...asking, takeOver: true });
  });

  test('on Linux is understood', () => {
    using outbox = tempOutbox();
    const laptop = playMachine('linux');
    const holder = laptop.start({ pid: 10 });
    const { boot, start } = processTable(laptop.seenBy(holder)).self();
    hold(outbox, '', `${boot}:${start}:pid:[4026531836]`);
    expect(() => takeLease(outbox, { processes: startOn(laptop, 20) })).toThrow(/process 10, since/);
    laptop.end(holder);
    takeLease(outbox, { processes: startOn(laptop, 30) });
  });
});

function hintOf(work: () => unknown): string | undefined {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof OutboxLeasedError) return thrown.hint;
    throw thrown;
  }
  return undefined;
}
