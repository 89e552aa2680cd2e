import type { Context } from '../context.ts';
import type { ServiceOutbox } from '../flows/issued-elsewhere.ts';
import type { Outbox } from '../outbox/outbox.ts';

/** Whether another profile is known to write to another service. */
export function otherService(context: Context): (profile: string) => boolean {
  const { baseUrl } = context.profile();
  const { profiles } = context.config();
  return (name) => (profiles.get(name)?.base_url ?? baseUrl) !== baseUrl;
}

/** The outbox as this profile's service is to be seen in it. */
export function serviceOutbox(context: Context, outbox: Outbox): ServiceOutbox {
  return { outbox, profile: context.profile().name, isOtherService: otherService(context) };
}
