import { existsSync } from 'node:fs';
import { ConfigError } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import { isEmptyOutbox } from '../outbox/backup-copy.ts';
import { type Binding, headerOf, isSameBinding, type Outbox } from '../outbox/open-outbox.ts';
import type { Profile } from './config.ts';

/** The service of a profile, as the header of its outbox has it. */
export function bindingOf({ baseUrl, prefix, schemaVersion }: Profile): Binding {
  return { address: baseUrl, prefix, schemaVersion };
}

/** Tells if the outbox is for the service that the profile names. */
export function fitsProfile(outbox: Outbox, profile: Profile): boolean {
  return isSameBinding(headerOf(outbox), bindingOf(profile));
}

/** @throws ConfigError where the outbox is for another service than the one that the profile names, with both ways out */
export function assertBinding(outbox: Outbox, profile: Profile): void {
  if (fitsProfile(outbox, profile)) return;
  const { address, prefix, schemaVersion } = headerOf(outbox);
  const { name, baseUrl } = profile;
  if (address !== baseUrl) {
    throw new ConfigError(
      msg`Profile ${name} names ${baseUrl}, and its outbox ${outbox.path} is for ${address}. Nothing was changed.`,
      {
        hint: msg`If that service has moved: ${cmd`pas service moved ${address} ${baseUrl}`}. If it is another service, set base_url of ${name} back to ${address}, and make a new profile: ${cmd`pas init --base-url ${baseUrl} --name`} NAME`,
      },
    );
  }
  const [here, there] = [`${profile.prefix} ${profile.schemaVersion}`, `${prefix} ${schemaVersion}`];
  const flags = `--prefix ${profile.prefix} --schema-version ${profile.schemaVersion}`;
  throw new ConfigError(
    msg`Profile ${name} names the schema ${here}, and its outbox ${outbox.path} has documents of ${there}. Nothing was changed.`,
    {
      hint: msg`If the service takes the other one now: ${cmd`pas service moved ${address} ${baseUrl}`} ${flags}. If not, set prefix and schema_version of ${name} back, or make a new profile: ${cmd`pas init --base-url ${baseUrl} --name`} NAME`,
    },
  );
}

/** The outboxes of a data home. */
type Outboxes = {
  outboxPlaces(id: string): { readonly outboxFile: string };
  outboxOf(id: string): Promise<Outbox>;
};

/**
 * @param profile as it is to become
 * @throws ConfigError where the outbox that it names was used, and is for another service
 */
export async function assertSameService(context: Outboxes, profile: Profile): Promise<void> {
  const { outbox: id } = profile;
  if (id === undefined || !existsSync(context.outboxPlaces(id).outboxFile)) return;
  const outbox = await context.outboxOf(id);
  if (!isUnused(outbox)) assertBinding(outbox, profile);
}

/** Tells if the outbox is empty and nothing was ever attempted from it. */
export function isUnused(outbox: Outbox): boolean {
  return isEmptyOutbox(outbox) && outbox.sql('select 1 from events limit 1').get() === undefined;
}
