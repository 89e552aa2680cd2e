import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { ConfigError } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import { isEmptyOutbox } from '../outbox/backup-copy.ts';
import { fitsUser, isSameUser, knownAccount, knownUsername } from '../outbox/bound-account.ts';
import { type Binding, headerOf, isSameBinding, type Outbox } from '../outbox/open-outbox.ts';
import { freeProfileName, profilesAlike, profilesOfOutbox } from './change-config.ts';
import type { ConfigFile, Profile } from './config.ts';
import { initCommand, type ProfileSettings } from './profile-settings.ts';

/** Returns the binding of a profile, in the form of the outbox header. */
export function bindingOf({ baseUrl, prefix, schemaVersion }: Profile): Binding {
  return { address: baseUrl, prefix, schemaVersion };
}

/** Tells if the outbox is for the profile's service. */
export function fitsProfile(outbox: Outbox, profile: Profile): boolean {
  return isSameBinding(headerOf(outbox), bindingOf(profile));
}

/** @throws ConfigError with both remedies, where the outbox is for another service than the profile's */
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

/** Parts of a data home that are needed to find the outbox of a profile. */
type DataHome = {
  config(): ConfigFile;
  outboxPlaces(id: string): { readonly outboxFile: string };
  outboxOf(id: string): Promise<Outbox>;
};

/**
 * Chooses the outbox of a profile with new settings: its own, else that of another profile of the same account, else a new one.
 * @param profile with the new settings
 * @returns undefined where this is decided at the first use of the outbox
 * @throws ConfigError where its own was used and is for another service or account
 */
export async function chooseOutbox(home: DataHome, profile: Profile, settings: ProfileSettings): Promise<string | undefined> {
  const { name, outbox: own } = profile;
  const username = settings.username?.toString();
  const opened = async (id: string) => (existsSync(home.outboxPlaces(id).outboxFile) ? home.outboxOf(id) : undefined);
  if (own !== undefined) {
    const outbox = await opened(own);
    const isShared = profilesOfOtherUsers(home.config(), own, name, username).length > 0;
    if (outbox !== undefined && !isUnused(outbox)) {
      assertBinding(outbox, profile);
      if (!isShared && !fitsUser(outbox, username)) throw ofOtherUser(home.config(), outbox, name, settings);
    }
    const isOwn = outbox !== undefined && headerOf(outbox).account !== null && fitsUser(outbox, username);
    if (!isShared || isOwn) return own;
  }
  const alike = profilesAlike(home.config(), name, settings);
  const shared = alike.flatMap((other) => home.config().profiles.get(other)?.outbox?.toString() ?? []);
  for (const id of shared) {
    const outbox = await opened(id);
    if (outbox === undefined || fitsUser(outbox, username)) return id;
  }
  return shared.length === 0 ? undefined : randomUUID();
}

/** Returns other profiles that use the outbox with another user. */
function profilesOfOtherUsers(config: ConfigFile, id: string, name: string, username: string | undefined): string[] {
  return profilesOfOutbox(config, id).filter((other) => {
    const its = config.profiles.get(other)?.username?.toString();
    return other !== name && its !== undefined && username !== undefined && !isSameUser(its, username);
  });
}

/** @throws ConfigError where profiles of several users use the outbox, which sends as one account */
export function assertOneUser(config: ConfigFile, outbox: Outbox, { name, outbox: id }: Profile): void {
  const username = config.profiles.get(name)?.username?.toString();
  const others = id === undefined ? [] : profilesOfOtherUsers(config, id, name, username);
  if (others.length === 0) return;
  const settingsOf = (each: string): ProfileSettings => config.profiles.get(each) ?? {};
  const isBound = headerOf(outbox).account !== null;
  const strangers = [name, ...others].filter((each) => !isBound || !fitsUser(outbox, settingsOf(each).username?.toString()));
  const [first = others[0] ?? name] = strangers;
  const named = [name, ...others].join(', ');
  const command = initCommand(first, settingsOf(first));
  throw new ConfigError(msg`The profiles ${named} are of several users and name one outbox, ${outbox.path}.`, {
    hint: msg`An outbox sends as one account. Give ${first} one of its own: ${command}`,
  });
}

function ofOtherUser(config: ConfigFile, outbox: Outbox, name: string, settings: ProfileSettings): ConfigError {
  const account = headerOf(outbox).account ?? '';
  const [username, before] = [settings.username?.toString() ?? '', knownUsername(outbox) ?? knownAccount(outbox)?.email ?? ''];
  const command = initCommand(freeProfileName(config, username), settings);
  return new ConfigError(
    msg`Profile ${name} is to be for the user ${username}, and its outbox ${outbox.path} sends as ${before} (${account}). Nothing was changed.`,
    {
      hint: msg`If that account has the user name ${username} now: ${cmd`pas login --profile ${name} --username ${username}`}. If it is another account, make a profile for it: ${command}`,
    },
  );
}

/** Tells if the outbox is empty and no attempt was made from it. */
export function isUnused(outbox: Outbox): boolean {
  return isEmptyOutbox(outbox) && outbox.sql('select 1 from events limit 1').get() === undefined;
}
