import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { writePrivateFile } from '../../base/disk/files.ts';
import { lockForChange } from '../../base/disk/lock-file.ts';
import { tomlText } from '../../base/disk/toml.ts';
import { msg } from '../../base/message.ts';
import { type ConfigFile, type ProfileSettings, readConfigFile } from './config.ts';
import type { DataPaths } from './places.ts';

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
 * Changes the configuration on disk under a lock: `change` gets the current one, so that
 * concurrent changes are kept. Nothing is written if it returns the same object.
 * @returns the new configuration
 * @throws ConfigError where the file is invalid
 */
export function changeConfigFile(
  { home, configFile }: DataPaths,
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

/**
 * Returns the configuration with these settings of a profile in place of its own, or with a new
 * one.
 */
export function replaceProfileSettings(
  config: ConfigFile,
  name: string,
  settings: ProfileSettings,
): ConfigFile {
  return { ...config, profiles: new Map([...config.profiles, [name, settings]]) };
}

/**
 * Returns the configuration with the changes over the settings of each named profile; an
 * undefined value unsets a key.
 */
export function mergeProfileSettings(
  config: ConfigFile,
  names: readonly string[],
  changes: ProfileSettings,
): ConfigFile {
  return names.reduce(
    (changed, name) =>
      replaceProfileSettings(changed, name, { ...changed.profiles.get(name), ...changes }),
    config,
  );
}

/**
 * Makes an unused profile name from the text before `@`, cut to 60 characters, with a counter
 * from 2 where it is taken.
 */
export function makeFreeProfileName({ profiles }: ConfigFile, username: string): string {
  const [local = ''] = username.split('@');
  const query = local.replace(/[^\w.-]/g, '-').slice(0, 60) || 'profile';
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? query : `${query}-${count}`;
    if (!profiles.has(name)) return name;
  }
}
