import { existsSync, readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { join, posix, win32 } from 'node:path';
import { ConfigError } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { isContainer, type System } from '../outbox/machine-id.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Places = {
  readonly home: string;
  readonly configFile: string;
  /** Has a folder for each outbox, named by its UUID; see {@link OutboxPlaces}. */
  readonly outboxesFolder: string;
  readonly vocabularyFile: string;
  readonly mappingFile: string;
  readonly schemasFolder: string;
  readonly secretsFile: string;
  /** Shared by all data homes of this user, independent of HOME, since the service's limits apply to all of them. */
  readonly paceFile: string;
  /** The machine's copy of all events, and the push locks, outside of any data home, so that no copy of one includes them. */
  readonly journalFile: string;
  readonly locksFolder: string;
};

/** Removes empty variables: a CI system passes a missing secret as an empty one. */
export function getGivenVariables(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

/** Facts of the system on which the places depend, besides the environment. */
export type UserSystem = {
  readonly platform: NodeJS.Platform;
  readonly homeFolder: string;
  /** Home folder from the user database, independent of the environment; undefined without an entry, as in containers. */
  readonly accountFolder: string | undefined;
  exists(path: string): boolean;
};

/**
 * Returns the places of data and state: that of a variable, else that of the system's convention, else that of an older version.
 * Neither is inside the other, so that a copy of the data does not include the state. A relative path in a variable is ignored
 * (XDG Base Directory Specification): otherwise every folder would have its own pace.
 */
export function makePlaces(environment: Environment, system: UserSystem = thisSystem()): Places {
  const { join, isAbsolute } = system.platform === 'win32' ? win32 : posix;
  const variables = getGivenVariables(environment);
  const absolute = (name: string): string | undefined => (isAbsolute(variables[name] ?? '') ? variables[name] : undefined);
  const userHome = variables['HOME'] ?? system.homeFolder;
  // The user database may be on another machine, so it is queried only where needed.
  const accountHome = (): string => system.accountFolder ?? userHome;
  const place = (kind: 'data' | 'state', variable: string): string => {
    const named = absolute(variable);
    if (named !== undefined) return join(named, 'pas');
    const older = kind === 'data' ? join(userHome, '.local', 'share', 'pas') : join(accountHome(), '.local', 'state', 'pas');
    const applications =
      system.platform === 'win32'
        ? (absolute('LOCALAPPDATA') ?? join(accountHome(), 'AppData', 'Local'))
        : join(kind === 'data' ? userHome : accountHome(), 'Library', 'Application Support');
    const base = system.platform === 'win32' || system.platform === 'darwin' ? join(applications, 'pas', kind) : older;
    return !system.exists(base) && system.exists(older) ? older : base;
  };
  const home = variables['PAS_HOME'] ?? place('data', 'XDG_DATA_HOME');
  const state = absolute('PAS_STATE') ?? place('state', 'XDG_STATE_HOME');
  return {
    home,
    configFile: join(home, 'config.toml'),
    outboxesFolder: join(home, 'outboxes'),
    vocabularyFile: join(home, 'vocabulary.sqlite'),
    mappingFile: join(home, 'mapping.csv'),
    schemasFolder: join(home, 'schemas'),
    secretsFile: join(home, 'secrets.json'),
    paceFile: join(state, 'pace.sqlite'),
    journalFile: join(state, 'journal.sqlite'),
    locksFolder: join(state, 'locks'),
  };
}

function thisSystem(): UserSystem {
  return {
    platform: process.platform,
    homeFolder: homedir(),
    get accountFolder() {
      return accountFolder();
    },
    exists: existsSync,
  };
}

function accountFolder(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

/** Reads the language from config.toml with little code; undefined where it has none. Faults are reported later. */
export function storedLanguage(environment: Environment): string | undefined {
  try {
    const [beforeTables = ''] = readFileSync(makePlaces(environment).configFile, 'utf8').split(/^[ \t]*\[/m);
    return /^[ \t]*lang[ \t]*=[ \t]*["']([^"'\n]*)["']/m.exec(beforeTables)?.[1];
  } catch {
    return undefined;
  }
}

export type OutboxPlaces = { readonly folder: string; readonly outboxFile: string; readonly photosFolder: string };

/** `state`: one journal for all outboxes of the machine, outside the data home. `beside`: one in the folder of each outbox. */
export const JOURNAL_LAYOUTS = ['state', 'beside'] as const;
export type JournalLayout = (typeof JOURNAL_LAYOUTS)[number];

/** Journal of an outbox, and the folder of its lock. */
export type JournalPlaces = { readonly journalFile: string; readonly locksFolder: string; readonly layout: JournalLayout };

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Tells if a text from a file is safe as a folder name. */
export function isOutboxId(text: string): boolean {
  return UUID.test(text);
}

/** @throws ConfigError where the identifier is no UUID */
export function outboxPlaces({ outboxesFolder }: Places, id: string): OutboxPlaces {
  if (!isOutboxId(id))
    throw new ConfigError(msg`"${id}" cannot be the identifier of an outbox: it must be a UUID in lower case.`);
  return filesIn(join(outboxesFolder, id));
}

function filesIn(folder: string): OutboxPlaces {
  return { folder, outboxFile: join(folder, 'outbox.sqlite'), photosFolder: join(folder, 'photos') };
}

/** Returns the layout of config.toml, else the default: a container may lose its state folder at any time. */
export function journalLayout(configured: JournalLayout | undefined, system: System): JournalLayout {
  return configured ?? (isContainer(system) ? 'beside' : 'state');
}

export function journalPlaces({ journalFile, locksFolder }: Places, layout: JournalLayout, outboxFolder: string): JournalPlaces {
  switch (layout) {
    case 'state':
      return { journalFile, locksFolder, layout };
    case 'beside':
      return { journalFile: join(outboxFolder, 'journal.sqlite'), locksFolder: outboxFolder, layout };
  }
}
