import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { msg } from '../base/message.ts';
import { writePrivateFile } from '../store/files.ts';
import { lockForChange } from '../store/lock-file.ts';
import { tomlText } from '../store/toml.ts';
import { type ConfigFile, getSetting, type ProfileSettings, readConfigFile } from './config.ts';
import type { Places } from './places.ts';

function writeConfigFile(
  path: string,
  { defaultProfile, language, network, profiles, defaults, projectMaps }: ConfigFile,
): void {
  const { projects = {} } = defaults ?? {};
  // Keys that are undefined are left out.
  const text = tomlText({
    default_profile: defaultProfile,
    lang: language,
    proxy: network?.proxy,
    ca_file: network?.ca_file,
    profiles: Object.fromEntries(
      [...profiles].map(([name, settings]) => [
        name,
        { ...settings, projects: projectMaps?.get(name), defaults: defaults?.profiles.get(name) },
      ]),
    ),
    projects: Object.keys(projects).length === 0 ? undefined : projects,
  });
  writePrivateFile(path, `${text}\n`);
}

/**
 * Changes the current configuration on disk, so that concurrent changes are kept.
 * @returns the new configuration
 */
export function changeConfigFile(
  { home, configFile }: Places,
  clock: Clock,
  change: (config: ConfigFile) => ConfigFile,
): ConfigFile {
  const path = join(home, '.config.lock');
  const lock = lockForChange(
    path,
    clock,
    msg`${path}: another pas process is changing the configuration.`,
  );
  try {
    const before = readConfigFile(configFile);
    const after = change(before);
    if (after !== before) writeConfigFile(configFile, after);
    return after;
  } finally {
    lock.release();
  }
}

export function withSettings(
  config: ConfigFile,
  name: string,
  settings: ProfileSettings,
): ConfigFile {
  return { ...config, profiles: new Map([...config.profiles, [name, settings]]) };
}

export function setProfilesOutbox(
  config: ConfigFile,
  names: readonly string[],
  id: string,
): ConfigFile {
  return names.reduce(
    (changed, name) => withSettings(changed, name, { ...changed.profiles.get(name), outbox: id }),
    config,
  );
}

/**
 * Assigns an outbox to a profile and to others of the same account: one that any of them has, or a
 * new one. Of concurrent commands the first decides.
 * @param unlike an outbox that must not be used
 */
export function assignOutbox(places: Places, clock: Clock, name: string, unlike?: string): string {
  let id: string | undefined;
  changeConfigFile(places, clock, (config) => {
    const settings = config.profiles.get(name) ?? {};
    const alike = findSimilarProfiles(config, name, settings);
    const all = [name, ...alike];
    id = all
      .map((each) => config.profiles.get(each)?.outbox)
      .find((its) => its !== undefined && its !== unlike)
      ?.toString();
    if (id !== undefined && settings.outbox === id) return config;
    id ??= randomUUID();
    return setProfilesOutbox(
      config,
      all.filter((each) => (config.profiles.get(each)?.outbox ?? unlike) === unlike),
      id,
    );
  });
  return id ?? '';
}

/** Settings that profiles of one outbox have in common. */
const OF_AN_OUTBOX = ['base_url', 'username', 'kind', 'prefix', 'schema_version'] as const;

/** Returns other profiles of the same account at the same service. */
export function findSimilarProfiles(
  { profiles }: ConfigFile,
  name: string,
  settings: ProfileSettings,
): string[] {
  return [...profiles].flatMap(([other, its]) =>
    other !== name &&
    OF_AN_OUTBOX.every((key) => getSetting(its, key) === getSetting(settings, key))
      ? [other]
      : [],
  );
}

/**
 * Derives an unused profile name from the text before `@`, cut to 60 characters, with a counter
 * from 2 where it is taken.
 */
export function freeProfileName({ profiles }: ConfigFile, username: string): string {
  const [local = ''] = username.split('@');
  const query = local.replace(/[^\w.-]/g, '-').slice(0, 60) || 'profile';
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? query : `${query}-${count}`;
    if (!profiles.has(name)) return name;
  }
}
