import { getAddressesAt } from '../base/addresses.ts';
import { ControlRefusal, type Incoming } from '../base/http-message.ts';
import { flag, integer, object, optional, readOneOf, text } from '../base/shape.ts';
import type { Mock } from '../state/mock.ts';
import { withoutUndefined } from '../state/options.ts';
import { readFaultRules } from '../state/parse-fault-rules.ts';
import { readSettings } from '../state/settings.ts';
import { viewAddresses } from './state-view.ts';

const whole = (max: number, min = 0) => optional(integer({ min, max }));

const readTenant = object({
  name: optional(text({ min: 1 })),
  // No folder: a remote caller must not read files of this machine.
  seed: optional(readOneOf(['demo', 'empty'] as const)),
  training: optional(flag),
  deployed: optional(flag),
  page_size: whole(10_000, 1),
  records: whole(200_000),
  seed_number: whole(1_000_000),
  settings: optional(readSettings),
  faults: optional(readFaultRules),
});

function requireTenants({ tenants }: Mock): NonNullable<Mock['tenants']> {
  if (tenants === undefined)
    throw new ControlRefusal(
      404,
      'a tenant has no tenants; ask at the control address of the server itself',
    );
  return tenants;
}

/**
 * Lists tenants with their addresses at the used host.
 * @throws ControlRefusal 404 at the address of a tenant
 */
export function listTenants(mock: Mock, { incoming }: { readonly incoming: Incoming }): unknown {
  return requireTenants(mock)
    .list()
    .map(([name, tenant]) => ({ name, ...getAddressesOfTenant(tenant, incoming) }));
}

/** Returns the addresses of a tenant below the host by which the server was addressed. */
function getAddressesOfTenant(
  { addresses, training }: Mock,
  { addresses: used }: Incoming,
): ReturnType<typeof viewAddresses> {
  return viewAddresses(getAddressesAt(addresses, new URL(used.baseUrl)), training);
}

/**
 * Starts a tenant by the body of the request, and returns its name and addresses.
 * @throws ShapeError, SeedError; ControlRefusal where the name is taken or a limit is reached
 */
export async function addTenant(
  mock: Mock,
  { body, incoming }: { readonly body: unknown; readonly incoming: Incoming },
): Promise<unknown> {
  const {
    name,
    page_size: pageSize,
    seed_number: seedNumber,
    settings,
    faults,
    ...rest
  } = readTenant(body ?? {});
  const tenant = await requireTenants(mock).add(
    withoutUndefined({ ...rest, pageSize, seedNumber, faults }),
    name,
  );
  if (settings !== undefined) tenant.applySettings(settings);
  return {
    name: tenant.addresses.mount.split('/').at(-1),
    ...getAddressesOfTenant(tenant, incoming),
  };
}

/**
 * Ends a tenant and forgets its data.
 * @throws ControlRefusal where there is none of this name
 */
export function removeTenant(mock: Mock, { segment }: { readonly segment: string }): unknown {
  requireTenants(mock).remove(segment);
  return { status: 'ok' };
}
