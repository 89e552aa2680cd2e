import { describe, expect, test } from 'vitest';
import { OutboxLeasedError } from '../../../src/base/errors.ts';
import { takeLease } from '../../../src/outbox/lease.ts';
import { type ProcessTable, systemProcesses } from '../../../src/outbox/process-table.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';

type Machine = { readonly host?: string; readonly machine?: string };

/** A machine on which the given processes run. */
function machine(pid: number, running: Record<number, string>, { host = 'laptop', machine: id }: Machine = {}): ProcessTable {
  return { pid, host, machine: id, markOf: (asked) => running[asked] };
}

/** A mark as Linux gives them: boot, start, name space of process numbers. */
const mark = (boot: string, start: number, nameSpace = 'own'): string => `${boot}:${start}:${nameSpace}`;

test('a second pusher is refused and told who holds the outbox', () => {
  using outbox = tempOutbox();
  const running = { 10: mark('boot', 1), 20: mark('boot', 2) };
  takeLease(outbox, { processes: machine(10, running) });
  const second = { processes: machine(20, running) };
  expect(() => takeLease(outbox, second)).toThrow(OutboxLeasedError);
  expect(() => takeLease(outbox, second)).toThrow(/process 10, since 2024-06-01T/);
  expect(() => takeLease(outbox, { ...second, takeOver: true })).toThrow(OutboxLeasedError);
});

describe('the lease of a process that died is taken over', () => {
  test('also when its number was given to another since', () => {
    using outbox = tempOutbox();
    takeLease(outbox, { processes: machine(10, { 10: mark('boot', 5) }) });
    takeLease(outbox, { processes: machine(20, { 10: mark('boot', 9), 20: mark('boot', 7) }) });
    expect(() => takeLease(outbox, { processes: machine(30, { 20: mark('boot', 7), 30: mark('boot', 8) }) })).toThrow(
      /process 20/,
    );
  });

  test('also when the machine was renamed since', () => {
    using outbox = tempOutbox();
    takeLease(outbox, { processes: machine(10, { 10: mark('boot', 5) }, { host: 'old-name' }) });
    takeLease(outbox, { processes: machine(20, { 20: mark('boot', 7) }, { host: 'new-name' }) });
  });

  test('also when the machine was renamed and restarted since', () => {
    using outbox = tempOutbox();
    takeLease(outbox, { processes: machine(10, { 10: mark('boot', 5) }, { host: 'old-name', machine: 'a' }) });
    takeLease(outbox, { processes: machine(20, { 20: mark('reboot', 7) }, { host: 'new-name', machine: 'a' }) });
  });

  test('also where the system has no marks, by the number and the name alone', () => {
    using outbox = tempOutbox();
    takeLease(outbox, { processes: machine(10, { 10: 'alive' }) });
    takeLease(outbox, { processes: machine(20, { 20: 'alive' }) });
    expect(() => takeLease(outbox, { processes: machine(30, { 20: 'alive', 30: 'alive' }) })).toThrow(/process 20/);
  });
});

describe('what cannot be known from here is left to a person', () => {
  const elsewhere: readonly (readonly [string, ProcessTable, ProcessTable])[] = [
    [
      'another machine',
      machine(10, { 10: mark('there', 5) }, { host: 'office', machine: 'a' }),
      machine(20, { 20: mark('here', 7) }, { machine: 'b' }),
    ],
    [
      'another machine of the same name',
      machine(10, { 10: mark('there', 5) }, { machine: 'a' }),
      machine(20, { 20: mark('here', 7) }, { machine: 'b' }),
    ],
    [
      'another container of this machine',
      machine(10, { 10: mark('boot', 5, 'one') }, { host: 'one' }),
      machine(10, { 10: mark('boot', 7, 'two') }, { host: 'two' }),
    ],
    ['another machine without marks', machine(10, { 10: 'alive' }, { host: 'office' }), machine(20, { 20: 'alive' })],
  ];
  for (const [what, holder, asking] of elsewhere) {
    test(what, () => {
      using outbox = tempOutbox();
      takeLease(outbox, { processes: holder });
      expect(() => takeLease(outbox, { processes: asking })).toThrow(/process 10 on/);
      takeLease(outbox, { processes: asking, takeOver: true });
      expect(() => takeLease(outbox, { processes: holder })).toThrow(OutboxLeasedError);
    });
  }
});

test('a released lease is free, and releasing late takes it from nobody', () => {
  using outbox = tempOutbox();
  const running = { 10: mark('boot', 1), 20: mark('boot', 2) };
  const first = takeLease(outbox, { processes: machine(10, running) });
  first.release();
  takeLease(outbox, { processes: machine(20, running) });
  first.release();
  expect(() => takeLease(outbox, { processes: machine(10, running) })).toThrow(/process 20/);
});

test('this machine can tell its own processes apart', () => {
  expect(systemProcesses.markOf(process.pid)).toMatch(/./);
  expect(systemProcesses.markOf(2 ** 22 + 1)).toBeUndefined();
});
