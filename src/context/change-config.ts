import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { ConfigError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { writePrivateFile } from '../store/files.ts';
import { type LockFile, waitForLockFile } from '../store/lock-file.ts';
import { tomlText } from '../store/toml.ts';
import { type ConfigFile, type ProfileSettings, profilesAlike, readConfigFile } from './config.ts';
import type { Places } from './places.ts';

function writeConfigFile(path: string, config: ConfigFile): void {
  const { defaults, projectMaps } = config;
  const projects = defaults?.projects ?? {};
  const text = tomlText({
    ...(config.defaultProfile === undefined ? {} : { default_profile: config.defaultProfile }),
    ...(config.language === undefined ? {} : { lang: config.language }),
    ...(config.journal === undefined ? {} : { journal: config.journal }),
    profiles: Object.fromEntries(
      [...config.profiles].map(([name, settings]) => {
        const [own, map] = [defaults?.profiles.get(name), projectMaps?.get(name)];
        const tables = { ...(map === undefined ? {} : { projects: map }), ...(own === undefined ? {} : { defaults: own }) };
        return [name, { ...settings, ...tables }];
      }),
    ),
    ...(Object.keys(projects).length === 0 ? {} : { projects }),
  });
  writePrivateFile(path, `${text}\n`);
}

const MAX_TRIES = 400;

/**
 * Changes the current configuration on disk, so that concurrent commands do not overwrite each other's changes.
 * @returns the new configuration
 */
export function changeConfigFile(
  { home, configFile }: Pick<Places, 'home' | 'configFile'>,
  clock: Clock,
  change: (config: ConfigFile) => ConfigFile,
): ConfigFile {
  const lock = lockConfig(join(home, '.config.lock'), clock);
  try {
    const before = readConfigFile(configFile);
    const after = change(before);
    if (after !== before) writeConfigFile(configFile, after);
    return after;
  } finally {
    lock.release();
  }
}

function lockConfig(path: string, clock: Clock): LockFile {
  const lock = waitForLockFile(path, clock, MAX_TRIES);
  if (lock !== undefined) return lock;
  throw new ConfigError(t`${path}: another pas is changing the configuration.`, { hint: t`Run the command again.` });
}

/** Replaces the settings of a profile. */
export function withSettings(config: ConfigFile, name: string, settings: ProfileSettings): ConfigFile {
  return { ...config, profiles: new Map([...config.profiles, [name, settings]]) };
}

/** Sets the outbox of these profiles. */
export function pointProfiles(config: ConfigFile, names: readonly string[], id: string): ConfigFile {
  return names.reduce((changed, name) => withSettings(changed, name, { ...changed.profiles.get(name), outbox: id }), config);
}

/**
 * Assigns an outbox to a profile and to others of the same account: one that any of them has, or a new one. Of concurrent
 * commands the first decides.
 * @param unlike an outbox that must not be used
 */
export function assignOutbox(places: Places, clock: Clock, name: string, unlike?: string): string {
  let id: string | undefined;
  changeConfigFile(places, clock, (config) => {
    const settings = config.profiles.get(name) ?? {};
    const alike = profilesAlike(config, name, settings);
    const all = [name, ...alike];
    id = all
      .map((each) => config.profiles.get(each)?.outbox)
      .find((its) => its !== undefined && its !== unlike)
      ?.toString();
    if (id !== undefined && settings.outbox === id) return config;
    id ??= randomUUID();
    return pointProfiles(
      config,
      all.filter((each) => (config.profiles.get(each)?.outbox ?? unlike) === unlike),
      id,
    );
  });
  return id ?? '';
}
