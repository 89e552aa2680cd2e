import type { Context } from '../context.ts';

/** Whether another profile is known to write to another service. */
export function otherService(context: Context): (profile: string) => boolean {
  const { baseUrl } = context.profile();
  const { profiles } = context.config();
  return (name) => (profiles.get(name)?.base_url ?? baseUrl) !== baseUrl;
}
