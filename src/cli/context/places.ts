import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, join, posix, win32 } from 'node:path';

/** Queries to the operating system, which tests replace. */
export type SystemQueries = {
  readonly platform: NodeJS.Platform;
  /** Returns the content of a file, and the target of a link; undefined where it cannot be read. */
  read(path: string): string | undefined;
  link(path: string): string | undefined;
  exists(path: string): boolean;
  /**
   * Returns the output of a program; undefined where it is missing or fails. The arguments pass no
   * shell.
   */
  run(program: string, args: readonly string[]): string | undefined;
};

/** The initial PID namespace of a Linux machine (`PROC_PID_INIT_INO`). */
const OWN_NAME_SPACE = 'pid:[4026531836]';
/** Files that Docker and Podman create in their containers. */
const CONTAINER_FILES = ['/.dockerenv', '/run/.containerenv'];

/**
 * Returns an identifier of the machine, independent of its name. It is empty in a container, since
 * another container may have the same, where it cannot be read, and on systems other than Linux,
 * macOS and Windows. On the latter two it blocks the thread until a program of the system ends, 10
 * seconds at most for each program.
 */
export function readMachineId(system: SystemQueries): string {
  // Containers of one image often share one identifier.
  if (isContainer(system)) return '';
  switch (system.platform) {
    case 'linux':
      return extractMatch(system.read('/etc/machine-id'), /^([0-9a-f]{32})$/m);
    case 'darwin': {
      const printed = system.run('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']);
      return extractMatch(printed, /"IOPlatformUUID" = "([\dA-F-]{36})"/i);
    }
    case 'win32':
      return extractMatch(
        readRegistry(system, 'SOFTWARE\\Microsoft\\Cryptography', 'MachineGuid'),
        /REG_SZ\s+([\da-f-]{36})/i,
      );
    default:
      return '';
  }
}

/**
 * Tells if the process runs in a container, or the Linux namespace is unreadable; false on systems
 * other than Linux and Windows.
 */
function isContainer(system: SystemQueries): boolean {
  switch (system.platform) {
    case 'linux':
      return (
        system.link('/proc/self/ns/pid') !== OWN_NAME_SPACE ||
        CONTAINER_FILES.some((path) => system.exists(path))
      );
    case 'win32':
      return (
        readRegistry(system, 'SYSTEM\\CurrentControlSet\\Control', 'ContainerType') !== undefined
      );
    default:
      return false;
  }
}

function readRegistry(system: SystemQueries, key: string, name: string): string | undefined {
  return system.run('reg.exe', ['query', `HKLM\\${key}`, '/v', name, '/reg:64']);
}

function extractMatch(text: string | undefined, pattern: RegExp): string {
  return pattern.exec(text ?? '')?.[1] ?? '';
}

/** The operating system of this process; what cannot be read is undefined. */
export const thisSystem: SystemQueries = {
  platform: process.platform,
  read: (path) => runUnlessRefused(() => readFileSync(path, 'utf8')),
  link: (path) => runUnlessRefused(() => readlinkSync(path)),
  exists: existsSync,
  run(program, args) {
    const { status, stdout } = spawnSync(program, args, {
      // Windows searches the working folder first, where another program of that name may be.
      cwd: dirname(process.execPath),
      timeout: 10_000,
      windowsHide: true,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return status === 0 ? stdout : undefined;
  },
};

function runUnlessRefused(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Paths of files and folders of this user, which need not exist. Those of the data home are
 * relative where PAS_HOME is; those of the state, the last ones here, never are.
 */
export type DataPaths = {
  readonly home: string;
  readonly configFile: string;
  /** Has a folder for each outbox, see {@link makeOutboxFolderName}. */
  readonly outboxesFolder: string;
  readonly vocabularyFile: string;
  readonly mappingFile: string;
  readonly schemasFolder: string;
  readonly secretsFile: string;
  /**
   * Shared by all data homes of this user, independent of HOME, since the service's limits apply to
   * all of them.
   */
  readonly paceFile: string;
  /**
   * Everything attempted from this machine, and the push locks, outside of any data home, so that
   * no copy of one includes them.
   */
  readonly ledgerFile: string;
  readonly locksFolder: string;
  /** The environment names the state folder, so that it is kept, also in a container. */
  readonly isStateNamed: boolean;
};

/**
 * Returns the environment without empty variables: a CI system passes a missing secret as an empty
 * one.
 */
export function omitEmptyVariables(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
}

/** Facts of the system on which the places depend, besides the environment. */
export type UserSystem = {
  readonly platform: NodeJS.Platform;
  readonly homeFolder: string;
  /**
   * Home folder from the user database, independent of the environment; undefined without an entry,
   * as in containers.
   */
  readonly accountFolder: string | undefined;
};

/**
 * Makes the paths of data and state, from the environment, else by the system's convention. By
 * convention neither is inside the other, so that a copy of the data does not include the state. A
 * relative path in a variable other than PAS_HOME and HOME is ignored (XDG Base Directory
 * Specification): otherwise every folder would have its own pace. Nothing is created.
 */
export function makeDataPaths(
  environment: Environment,
  system: UserSystem = makeUserSystem(),
): DataPaths {
  const { join: joinPath } = getPathFunctions(system);
  const variables = omitEmptyVariables(environment);
  const home =
    variables['PAS_HOME'] ??
    findNamedFolder('XDG_DATA_HOME', variables, system) ??
    makeConventionalFolder('data', variables, system);
  const namedState =
    findAbsolutePath('PAS_STATE', variables, system) ??
    findNamedFolder('XDG_STATE_HOME', variables, system);
  const state = namedState ?? makeConventionalFolder('state', variables, system);
  return {
    home,
    configFile: joinPath(home, 'config.toml'),
    outboxesFolder: joinPath(home, 'outboxes'),
    vocabularyFile: joinPath(home, 'vocabulary.sqlite'),
    mappingFile: joinPath(home, 'mapping.csv'),
    schemasFolder: joinPath(home, 'schemas'),
    secretsFile: joinPath(home, 'secrets.json'),
    paceFile: joinPath(state, 'pace.sqlite'),
    ledgerFile: joinPath(state, 'ledger.sqlite'),
    locksFolder: joinPath(state, 'locks'),
    isStateNamed: namedState !== undefined,
  };
}

function getPathFunctions({ platform }: UserSystem) {
  return platform === 'win32' ? win32 : posix;
}

/** Returns the path in a variable; undefined for a relative one. */
function findAbsolutePath(
  name: string,
  variables: Environment,
  system: UserSystem,
): string | undefined {
  const path = variables[name] ?? '';
  return getPathFunctions(system).isAbsolute(path) ? path : undefined;
}

/** Returns the folder of pas below the one in a variable; undefined for a relative one. */
function findNamedFolder(
  name: string,
  variables: Environment,
  system: UserSystem,
): string | undefined {
  const folder = findAbsolutePath(name, variables, system);
  return folder === undefined ? undefined : getPathFunctions(system).join(folder, 'pas');
}

function makeConventionalFolder(
  kind: 'data' | 'state',
  variables: Environment,
  system: UserSystem,
): string {
  const { join: joinPath } = getPathFunctions(system);
  const userHome = variables['HOME'] ?? system.homeFolder;
  // The user database may be on another machine, so it is queried only where needed.
  const getAccountHome = (): string => system.accountFolder ?? userHome;
  if (system.platform === 'win32') {
    const local = findAbsolutePath('LOCALAPPDATA', variables, system);
    return joinPath(local ?? joinPath(getAccountHome(), 'AppData', 'Local'), 'pas', kind);
  }
  const folder = kind === 'data' ? userHome : getAccountHome();
  if (system.platform === 'darwin')
    return joinPath(folder, 'Library', 'Application Support', 'pas', kind);
  return joinPath(folder, '.local', kind === 'data' ? 'share' : 'state', 'pas');
}

function makeUserSystem(): UserSystem {
  return {
    platform: process.platform,
    homeFolder: homedir(),
    get accountFolder() {
      return runUnlessRefused(() => userInfo().homedir);
    },
  };
}
/**
 * Reads `lang` from config.toml with little code; undefined where it is missing or cannot be read.
 * It may be no language of pas: faults are reported when the whole file is read.
 */
export function readStoredLanguage(environment: Environment): string | undefined {
  try {
    const [beforeTables = ''] = readFileSync(makeDataPaths(environment).configFile, 'utf8').split(
      /^[ \t]*\[/m,
    );
    return /^[ \t]*lang[ \t]*=[ \t]*["']([^"'\n]*)["']/m.exec(beforeTables)?.[1];
  } catch {
    return undefined;
  }
}

/** Paths of an outbox, its ledger and the folder of its lock, which need not exist. */
export type OutboxPaths = {
  readonly folder: string;
  readonly outboxFile: string;
  readonly photosFolder: string;
  readonly ledgerFile: string;
  readonly locksFolder: string;
};

/**
 * Makes the name of the folder of an outbox, also that of its push lock: 32 hexadecimal digits, the
 * same for one service and account, also where the user name has other letter case or blanks around
 * it.
 * @param address normalised
 * @param username empty where only a token is known
 */
export function makeOutboxFolderName(address: string, username: string): string {
  return hash('sha256', `${address} ${username.trim().toLowerCase()}`, 'hex').slice(0, 32);
}

/**
 * Lists the names of the folders of outboxes in a data home, sorted; empty where it does not exist.
 * A folder may lack its outbox.
 */
export function listOutboxNames({ outboxesFolder }: DataPaths): string[] {
  if (!existsSync(outboxesFolder)) return [];
  return readdirSync(outboxesFolder)
    .filter((name) => /^[\da-f]{32}$/.test(name))
    .sort();
}

/**
 * Makes the paths of an outbox; nothing is created.
 * @param name from {@link makeOutboxFolderName}
 * @param hasLedgerBeside see {@link isLedgerBesideOutbox}
 */
export function makeOutboxPaths(
  { outboxesFolder, ledgerFile, locksFolder }: DataPaths,
  name: string,
  hasLedgerBeside = false,
): OutboxPaths {
  const folder = join(outboxesFolder, name);
  return {
    folder,
    outboxFile: join(folder, 'outbox.sqlite'),
    photosFolder: join(folder, 'photos'),
    ledgerFile: hasLedgerBeside ? join(folder, 'ledger.sqlite') : ledgerFile,
    locksFolder: hasLedgerBeside ? folder : locksFolder,
  };
}

/**
 * Tells if each outbox has its ledger and its push lock beside it, in place of one ledger for all
 * outboxes of the machine: so it is in a container, which may lose its state folder at any time,
 * unless the environment names one.
 */
export function isLedgerBesideOutbox({ isStateNamed }: DataPaths, system: SystemQueries): boolean {
  return !isStateNamed && isContainer(system);
}
