import { expect, test } from 'vitest';
import { OutboxLeasedError } from '../../../src/base/errors.ts';
import { type ProcessTable, systemProcesses, takeLease } from '../../../src/outbox/lease.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';

/** A machine on which the given processes run. */
function machine(pid: number, running: Record<number, string>, host = 'laptop'): ProcessTable {
  return { pid, host, markOf: (asked) => running[asked] };
}

test('a second pusher is refused and told who holds the outbox', () => {
  using outbox = tempOutbox();
  const running = { 10: 'boot:1', 20: 'boot:2' };
  takeLease(outbox, machine(10, running));
  expect(() => takeLease(outbox, machine(20, running))).toThrow(OutboxLeasedError);
  expect(() => takeLease(outbox, machine(20, running))).toThrow(/process 10, since 2024-06-01T/);
});

test('the lease of a process that died is taken over, also when its number was given to another since', () => {
  using outbox = tempOutbox();
  takeLease(outbox, machine(10, { 10: 'boot1:5' }));
  takeLease(outbox, machine(20, { 10: 'boot2:9', 20: 'boot2:7' }));
  expect(() => takeLease(outbox, machine(30, { 20: 'boot2:7', 30: 'boot2:8' }))).toThrow(/process 20/);
});

test('a lease held on another machine is never taken over', () => {
  using outbox = tempOutbox();
  takeLease(outbox, machine(10, { 10: 'a' }, 'office'));
  expect(() => takeLease(outbox, machine(10, {}, 'laptop'))).toThrow(/on office/);
});

test('a released lease is free, and releasing late takes it from nobody', () => {
  using outbox = tempOutbox();
  const running = { 10: 'a', 20: 'b' };
  const first = takeLease(outbox, machine(10, running));
  first.release();
  takeLease(outbox, machine(20, running));
  first.release();
  expect(() => takeLease(outbox, machine(10, running))).toThrow(/process 20/);
});

test('this machine can tell its own processes apart', () => {
  expect(systemProcesses.markOf(process.pid)).toMatch(/./);
  expect(systemProcesses.markOf(2 ** 22 + 1)).toBeUndefined();
});
