import { t } from '../base/language.ts';
import { leaseHolder, lifeOf } from '../outbox/lease.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { type Check, ok, warning } from './check-machine.ts';

/** Whether a push could take the outbox now. */
export function checkLease(outbox: ServiceOutbox): Check {
  const held = leaseHolder(outbox);
  if (held === undefined) return ok('lease', t`no other pas holds the outbox`);
  const { pid, host } = held;
  const since = new Date(held.takenAt).toISOString();
  switch (lifeOf(held)) {
    case 'alive':
      return ok('lease', t`a push is running: process ${pid}, since ${since}`);
    case 'dead':
      return ok('lease', t`the last push, process ${pid}, stopped in its middle; the next one takes over`);
    case 'unknown':
      return warning(
        'lease',
        t`Process ${pid} on ${host} holds the outbox since ${since}; whether it still runs cannot be seen from here.`,
        t`Look on ${host} whether process ${pid} is a pas (it may be called node). If it is not: pas push --take-over`,
      );
  }
}
