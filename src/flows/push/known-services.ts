import { normalAddress } from '../../base/address.ts';
import { UsageError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import { takeLease } from '../../outbox/lease.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { allServices, moveService, type ServiceRow } from '../../outbox/services.ts';

export type { ServiceRow } from '../../outbox/services.ts';

export function knownServices(outbox: Outbox): ServiceRow[] {
  return allServices(outbox);
}

export type Move = {
  readonly from: ServiceRow;
  readonly address: string;
  /** The service that has this address already: the two become one. */
  readonly into: ServiceRow | undefined;
};

/**
 * What would become of it if a service had another address from now on.
 * @param from its address so far; or, where an earlier pas knew it by that only, the name of its profile
 * @throws UsageError where nothing is known of the one, or the other is no address or the same. What was typed is not repeated, since
 *   it may hold a password.
 */
export function planMove(outbox: Outbox, from: string, to: string): Move {
  const services = allServices(outbox);
  const named = (row: ServiceRow): string => row.address ?? row.knownAs ?? '';
  const old = services.find((row) => named(row) === (row.address === null ? from : normalAddress(from)));
  if (old === undefined) {
    const known = services.map(named).join(', ');
    throw new UsageError(msg`The service that has moved is not known here.`, { hint: msg`Known are: ${known}` });
  }
  const address = normalAddress(to);
  if (address === undefined)
    throw new UsageError(
      msg`The new address must be one such as https://finds.example.org, without a user name, a query or a #.`,
    );
  if (address === old.address) throw new UsageError(msg`${from} and ${to} are one address.`);
  return { from: old, address, into: services.find((row) => row.address === address) };
}

/** @throws OutboxLeasedError during a push */
export function carryOut(outbox: Outbox, { from, address }: Move): void {
  const lease = takeLease(outbox);
  try {
    moveService(outbox, from, address);
  } finally {
    lease.release();
  }
}
