import { existsSync, readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { posix, win32 } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Places = {
  readonly home: string;
  readonly configFile: string;
  /** Each outbox has a folder of its own in it, named by its UUID; see `outbox-places.ts`. */
  readonly outboxesFolder: string;
  readonly vocabularyFile: string;
  /** The museum's own terms. */
  readonly mappingFile: string;
  /** Schemas as the deployments have them. */
  readonly schemasFolder: string;
  readonly secretsFile: string;
  /** Shared by every home of this user, and whatever HOME says, since the service's limits know nothing of homes. */
  readonly paceFile: string;
  /** The machine's copy of all events, and the locks of pushes, where no copy of a data home takes them along. */
  readonly journalFile: string;
  readonly locksFolder: string;
};

/** Without those that are set to nothing, as a CI system hands on a secret that it does not have. */
export function givenVariables(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

/** What the places depend on, besides the environment. */
export type System = {
  readonly platform: NodeJS.Platform;
  readonly homeFolder: string;
  /** As the system has it in its register, whatever the environment says; undefined for a user who is in none, as in some containers. */
  readonly accountFolder: string | undefined;
  exists(path: string): boolean;
};

/**
 * Data and state lie where a variable says, else where the system has such things, else where an older version made them.
 * Neither lies in the other: who copies the data does not take the state along.
 * A relative path in a variable is ignored (XDG Base Directory Specification): else every folder had a pace of its own.
 */
export function placesFrom(environment: Environment, system: System = thisSystem()): Places {
  const { join, isAbsolute } = system.platform === 'win32' ? win32 : posix;
  const given = givenVariables(environment);
  const absolute = (name: string): string | undefined => (isAbsolute(given[name] ?? '') ? given[name] : undefined);
  const userHome = given['HOME'] ?? system.homeFolder;
  // The register may lie on another machine, so it is asked only where this is needed.
  const accountHome = (): string => system.accountFolder ?? userHome;
  const place = (kind: 'data' | 'state', variable: string): string => {
    const named = absolute(variable);
    if (named !== undefined) return join(named, 'pas');
    const older = kind === 'data' ? join(userHome, '.local', 'share', 'pas') : join(accountHome(), '.local', 'state', 'pas');
    const applications =
      system.platform === 'win32'
        ? (absolute('LOCALAPPDATA') ?? join(accountHome(), 'AppData', 'Local'))
        : join(kind === 'data' ? userHome : accountHome(), 'Library', 'Application Support');
    const own = system.platform === 'win32' || system.platform === 'darwin' ? join(applications, 'pas', kind) : older;
    return !system.exists(own) && system.exists(older) ? older : own;
  };
  const home = given['PAS_HOME'] ?? place('data', 'XDG_DATA_HOME');
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

function thisSystem(): System {
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

/**
 * The language that config.toml asks for, before anything that reads the file is loaded; undefined where it says none that can
 * be made out. What is wrong with the file is said once it is read as a whole.
 */
export function keptLanguage(environment: Environment): string | undefined {
  try {
    const [beforeTables = ''] = readFileSync(placesFrom(environment).configFile, 'utf8').split(/^\s*\[/m);
    return /^\s*lang\s*=\s*["']([^"']*)["']/m.exec(beforeTables)?.[1];
  } catch {
    return undefined;
  }
}
