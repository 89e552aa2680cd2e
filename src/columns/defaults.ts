import { ConfigError } from '../base/errors.ts';
import { joined, type Message, msg } from '../base/message.ts';
import { FIELDS } from '../find/fields.ts';
import { rememberReferences } from '../find/remember-references.ts';
import { readSettings, type Setting, settingOf } from './settings.ts';

/** What config.toml says of every new find: of all of a profile, and of those of a project. */
export type FindDefaults = readonly Setting[];

export type DefaultsFile = {
  /** Under `[profiles.NAME.defaults]`. */
  readonly profiles: ReadonlyMap<string, FindDefaults>;
  /** Under `[projects."C-…"]`. */
  readonly projects: ReadonlyMap<string, FindDefaults>;
};

/**
 * Values that a new find starts with. Entries of vocabularies are looked up when a find is made; everything else is checked here.
 * @param where named in errors, such as "config.toml, project C-202400101"
 * @throws ConfigError for a name that no element has, one that cannot be a default, or a value that it cannot have
 */
export function checkDefaults(where: Message, value: unknown): FindDefaults {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ConfigError(msg`${where}: must be a table.`);
  return Object.entries(value).map(([key, given]) => {
    if (!['string', 'number', 'bigint', 'boolean'].includes(typeof given)) {
      throw new ConfigError(msg`${where}: ${key} must be a text, a number, true or false.`);
    }
    const setting = settingOf(key, String(given).trim());
    if ('rule' in setting) throw new ConfigError(joined([where, setting.says], ': '));
    if (!ALLOWED.has(setting.name)) {
      throw new ConfigError(msg`${where}: ${key} belongs to one find alone and cannot be a default.`);
    }
    const [issue] = readSettings([setting], '', WITHOUT_LOOKUPS).issues;
    if (issue !== undefined && !OF_LOOKUPS.includes(issue.rule)) {
      throw new ConfigError(joined([where, key, issue.says], ': '));
    }
    return setting;
  });
}

/**
 * @param file the tables as they stand in config.toml
 * @throws ConfigError as {@link checkDefaults} does
 */
export function readDefaults(
  path: string,
  tables?: { readonly profiles: ReadonlyMap<string, unknown>; readonly projects: Readonly<Record<string, unknown>> },
): DefaultsFile {
  return {
    profiles: new Map(
      [...(tables?.profiles ?? [])].map(
        ([name, own]) => [name, checkDefaults(msg`${path}, defaults of profile ${name}`, own)] as const,
      ),
    ),
    projects: new Map(
      Object.entries(tables?.projects ?? {}).map(
        ([project, own]) => [project, checkDefaults(msg`${path}, project ${project}`, own)] as const,
      ),
    ),
  };
}

/** The project's own win over the profile's. */
export function defaultsFor(file: DefaultsFile, profile: string, project: string | undefined): FindDefaults {
  const ofProject = project === undefined ? [] : (file.projects.get(project) ?? []);
  const ofProfile = file.profiles.get(profile) ?? [];
  return [...ofProject, ...ofProfile.filter(({ name }) => !ofProject.some((own) => own.name === name))];
}

const ALLOWED = new Set<string>(
  FIELDS.filter(({ kind, name }) => kind !== 'point' && name !== 'evidencni_cislo').map(({ name }) => name),
);

/** What is settled only where vocabularies and the user's own mapping are at hand. */
const OF_LOOKUPS: readonly string[] = ['term-not-harvested', 'finder-name', 'finder-unknown'];

/** What an entry means is known only once vocabularies are at hand. */
const WITHOUT_LOOKUPS = {
  resolveReference: rememberReferences(),
  resolvePhoto: () => ({ value: '' }),
};
