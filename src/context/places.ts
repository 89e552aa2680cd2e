import { readFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Places = {
  readonly home: string;
  readonly configFile: string;
  readonly outboxFile: string;
  readonly vocabularyFile: string;
  readonly photosFolder: string;
  /** The museum's own terms. */
  readonly mappingFile: string;
  /** Schemas as the deployments have them. */
  readonly schemasFolder: string;
  readonly secretsFile: string;
  /** Shared by every home of this user, and whatever HOME says, since the service's limits know nothing of homes. */
  readonly paceFile: string;
  /** What this machine knows of outboxes, where no copy of a home takes it along. */
  readonly memoryFile: string;
};

/** Without those that are set to nothing, as a CI system hands on a secret that it does not have. */
export function givenVariables(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

/** A relative path in an XDG variable is ignored (XDG Base Directory Specification): else every folder had a pace of its own. */
export function placesFrom(environment: Environment): Places {
  const given = givenVariables(environment);
  const xdg = (name: string): string | undefined => (isAbsolute(given[name] ?? '') ? given[name] : undefined);
  const userHome = given['HOME'] ?? homedir();
  const home = given['PAS_HOME'] ?? join(xdg('XDG_DATA_HOME') ?? join(userHome, '.local', 'share'), 'pas');
  const stateHome = xdg('XDG_STATE_HOME') ?? join(accountHome() ?? userHome, '.local', 'state');
  return {
    home,
    configFile: join(home, 'config.toml'),
    outboxFile: join(home, 'outbox.sqlite'),
    vocabularyFile: join(home, 'vocabulary.sqlite'),
    photosFolder: join(home, 'photos'),
    mappingFile: join(home, 'mapping.csv'),
    schemasFolder: join(home, 'schemas'),
    secretsFile: join(home, 'secrets.json'),
    paceFile: join(stateHome, 'pas', 'pace.sqlite'),
    memoryFile: join(stateHome, 'pas', 'outboxes.sqlite'),
  };
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

/** The user's home as the system knows it; undefined for a user who is in no register, as in some containers. */
function accountHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}
