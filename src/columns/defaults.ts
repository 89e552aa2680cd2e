import { ConfigError } from '../base/errors.ts';
import { joinMessages, type Message, msg } from '../base/message.ts';
import { FIELDS } from '../find/fields.ts';
import { rememberReferences } from '../find/resolve-references.ts';
import type { Setting } from './column-rule.ts';
import { parseColumnSetting, parseSettings } from './settings.ts';

/** Defaults of config.toml for new finds of a profile or a project. */
export type FindDefaults = readonly Setting[];

export type DefaultsFile = {
  /** Under `[profiles.NAME.defaults]`. */
  readonly profiles: ReadonlyMap<string, FindDefaults>;
  /** Under `[projects."C-…"]`. */
  readonly projects: ReadonlyMap<string, FindDefaults>;
};

/**
 * Validates the defaults of new finds. Vocabulary entries are looked up when a find is made;
 * everything else is checked here.
 * @param where named in errors, such as "config.toml, project C-202400101"
 * @throws ConfigError for an unknown element, one that cannot have a default, or an invalid value
 */
export function checkDefaults(where: Message, value: unknown): FindDefaults {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError(msg`${where}: must be a table.`);
  return Object.entries(value).map(([key, value]) => {
    if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value)) {
      throw new ConfigError(msg`${where}: ${key} must be a text, a number, true or false.`);
    }
    const setting = parseColumnSetting(key, String(value).trim());
    if ('rule' in setting) throw new ConfigError(joinMessages([where, setting.says], ': '));
    if (!ALLOWED.has(setting.name)) {
      throw new ConfigError(
        msg`${where}: ${key} belongs to a single find and cannot be a default.`,
      );
    }
    const [issue] = parseSettings([setting], '', WITHOUT_LOOKUPS).issues;
    if (issue !== undefined && !OF_LOOKUPS.includes(issue.rule)) {
      throw new ConfigError(joinMessages([where, key, issue.says], ': '));
    }
    return setting;
  });
}

/**
 * @param file the tables of config.toml
 * @throws ConfigError as {@link checkDefaults} does
 */
export function parseDefaults(
  path: string,
  tables?: {
    readonly profiles: ReadonlyMap<string, unknown>;
    readonly projects: Readonly<Record<string, unknown>>;
  },
): DefaultsFile {
  return {
    profiles: new Map(
      [...(tables?.profiles ?? [])].map(
        ([name, setting]) =>
          [name, checkDefaults(msg`${path}, defaults of profile ${name}`, setting)] as const,
      ),
    ),
    projects: new Map(
      Object.entries(tables?.projects ?? {}).map(
        ([project, settings]) =>
          [project, checkDefaults(msg`${path}, project ${project}`, settings)] as const,
      ),
    ),
  };
}

/** Merges the defaults; those of the project override those of the profile. */
export function mergeDefaults(
  file: DefaultsFile,
  profile: string,
  project: string | undefined,
): FindDefaults {
  const ofProject = project === undefined ? [] : (file.projects.get(project) ?? []);
  const ofProfile = file.profiles.get(profile) ?? [];
  return [
    ...ofProject,
    ...ofProfile.filter(({ name }) => !ofProject.some((ownSetting) => ownSetting.name === name)),
  ];
}

const ALLOWED = new Set<string>(
  FIELDS.filter(({ kind, name }) => kind !== 'point' && name !== 'evidencni_cislo').map(
    ({ name }) => name,
  ),
);

/** Issues that can be decided only with vocabularies and the user's own mapping. */
const OF_LOOKUPS: readonly string[] = ['term-not-harvested', 'finder-name', 'finder-unknown'];

/** Vocabulary entries are resolved later, when vocabularies are available. */
const WITHOUT_LOOKUPS = {
  resolveReference: rememberReferences(),
  resolvePhoto: () => ({ value: '' }),
};
