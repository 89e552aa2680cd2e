import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import {
  DAMAGE_HINT,
  loadSqlite,
  openSqlite,
  readSqliteVersion,
  toDatabaseError,
} from '../../base/disk/database.ts';
import { findDamage } from '../../base/disk/database-file.ts';
import { isAccessibleToOthers } from '../../base/disk/folder.ts';
import { type ExitReason, isDamaged, PasError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd, type Message, quoteShellWord } from '../../base/message.ts';
import { joinWithOr } from '../../base/names.ts';
import { getPackageVersion, packageRoot } from '../../base/own-files.ts';

/**
 * Result of a check. A push continues despite a warning; a problem prevents it, now or soon;
 * unchecked is unknown.
 */
export type Check = {
  /** Stable, kebab-case, for programs. */
  readonly name: string;
  readonly level: 'ok' | 'warning' | 'problem' | 'unchecked';
  readonly message: string;
  /** Remedy; undefined when all is well. */
  readonly todo?: Message;
  /** Exit reason of a command that meets this problem. */
  readonly reason?: ExitReason;
};

/**
 * Makes the result `ok`. As for all checks: `name` is stable and for programs, `message` for
 * people.
 */
export const makePassedCheck = (name: string, message: string): Check => ({
  name,
  level: 'ok',
  message,
});
/**
 * Makes the result `warning`, after which a push continues.
 * @param todo remedy
 */
export const makeWarningCheck = (name: string, message: string, todo: Message): Check => ({
  name,
  level: 'warning',
  message,
  todo,
});
/**
 * Makes the result `problem`, which prevents a push, now or soon.
 * @param todo remedy
 * @param reason exit reason of a command that meets this problem
 */
export const makeProblemCheck = (
  name: string,
  message: string,
  todo: Message,
  reason: ExitReason = 'dataRefused',
): Check => ({
  name,
  level: 'problem',
  message,
  todo,
  reason,
});

/**
 * Makes the result `unchecked` for each name.
 * @param message reason why these were not checked
 */
export function makeUncheckedChecks(
  names: readonly string[],
  message: string,
  todo: Message,
): Check[] {
  return names.map((name) => ({ name, level: 'unchecked', message, todo }));
}

/**
 * Converts an error during a check to a problem with its message, remedy and exit reason.
 * @throws the error itself where it is none of pas, and so a bug
 */
export function makeFailedCheck(name: string, thrown: unknown): Check {
  const error = toDatabaseError(t`the data folder`, thrown);
  if (!(error instanceof PasError)) throw error;
  return makeProblemCheck(
    name,
    error.message,
    error.hint ?? t`Correct it and run \`${cmd`pas doctor`}\` again.`,
    error.exitReason,
  );
}

/**
 * Minimum of each release line that all dependencies support, equal to `engines` in package.json.
 */
const OLDEST_NODES: readonly (readonly [major: number, minor: number])[] = [
  [20, 17],
  [22, 14],
  [24, 0],
];
const LITTLE_SPACE_BYTES = 500 * 1024 * 1024;
const NO_SPACE_BYTES = 20 * 1024 * 1024;

/**
 * Checks the version of Node: its minor version in a listed release line; other lines must be later
 * than the last one.
 */
export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const oldest = OLDEST_NODES.find(([line]) => line === major)?.[1];
  const fits = oldest === undefined ? major > (OLDEST_NODES.at(-1)?.[0] ?? 0) : minor >= oldest;
  if (fits) return makePassedCheck('node', `Node ${version}`);
  const listed = joinWithOr(OLDEST_NODES.map(([line, least]) => `${line}.${least}`));
  return makeProblemCheck(
    'node',
    t`pas does not run on Node ${version}.`,
    t`Install Node ${listed}, or a later release of that line.`,
  );
}

/**
 * Checks that the data folder is a folder and can be written. A warning where it does not exist,
 * or may be synchronised with other computers.
 */
export function checkHome(home: string): Check {
  if (!existsSync(home)) {
    return makeWarningCheck(
      'home',
      t`${home} does not exist yet.`,
      t`Run \`${cmd`pas init`}\`. If the folder existed before, connect its drive first.`,
    );
  }
  try {
    if (!statSync(home).isDirectory())
      return makeProblemCheck('home', t`${home} is not a folder.`, t`Set PAS_HOME to a folder.`);
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    const synchronised = findSynchronisedFolder(home);
    if (synchronised !== undefined)
      return makeWarningCheck(
        'home',
        t`${home} is in a synchronised folder: ${synchronised}. If a copy of it is also pushed from another computer, finds become uncertain.`,
        t`Move it to another folder, and make copies with \`${cmd`pas backup`}\`.`,
      );
    return makePassedCheck('home', home);
  } catch {
    return makeProblemCheck(
      'home',
      t`${home} cannot be written.`,
      t`Check its permissions and its drive, or set PAS_HOME to another folder.`,
    );
  }
}

const SYNCHRONISED =
  /^(dropbox|onedrive.*|google ?drive|my drive|icloud ?drive|mobile documents|nextcloud|owncloud|seafile|syncthing)$/i;
const MARKS = ['.stfolder', '.dropbox.cache', '.nextcloudsync.log', '.owncloudsync.log'];

/**
 * Returns the enclosing folder that a program synchronises with other machines, by its name or by
 * files of such a program.
 */
function findSynchronisedFolder(folder: string): string | undefined {
  if (SYNCHRONISED.test(basename(folder)) || MARKS.some((name) => existsSync(join(folder, name))))
    return folder;
  return dirname(folder) === folder ? undefined : findSynchronisedFolder(dirname(folder));
}

/**
 * Measures the free space of the disk of the folder, or of its nearest existing parent; a warning
 * or a problem below the two limits.
 */
export function checkSpace(home: string): Check {
  const place = findNearestExisting(home);
  const { bavail, bsize } = statfsSync(place);
  const freeBytes = bavail * bsize;
  const freeMebibytes = Math.floor(freeBytes / 1024 / 1024);
  const message = t`${freeMebibytes} MiB free in ${place}`;
  if (freeBytes < NO_SPACE_BYTES)
    return makeProblemCheck(
      'disk',
      message,
      t`Free some space; otherwise nothing more can be queued.`,
    );
  if (freeBytes < LITTLE_SPACE_BYTES)
    return makeWarningCheck('disk', message, t`Free some space before you queue photographs.`);
  return makePassedCheck('disk', message);
}

function findNearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findNearestExisting(dirname(path));
}

/**
 * Checks that only the owner can read files with finds or secrets: folders 0700, files 0600.
 * Paths that do not exist are passed over; Windows always passes.
 */
export function checkPermissions(places: readonly string[]): Check {
  if (process.platform === 'win32')
    return makePassedCheck('permissions', t`as set by the permissions of your user folder`);
  const there = places.filter((path) => existsSync(path));
  const command = `chmod -R u+rwX,go-rwx ${there.map((path) => quoteShellWord(path)).join(' ')}`;
  let open: readonly string[];
  try {
    open = there.flatMap(listOpenToOthers);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'path' in thrown)) throw thrown;
    return makeProblemCheck('permissions', t`${thrown.path} cannot be read.`, command);
  }
  const [first] = open;
  if (first === undefined)
    return makePassedCheck('permissions', t`files and folders are readable by you alone`);
  const more = open.length - 1;
  const message =
    more === 0 ? t`Others may read ${first}.` : t`Others may read ${first} and ${more} more.`;
  return makeProblemCheck('permissions', message, command);
}

function listOpenToOthers(path: string): string[] {
  const self = isAccessibleToOthers(path) ? [path] : [];
  if (!statSync(path).isDirectory()) return self;
  const inside = readdirSync(path, { withFileTypes: true }).filter(
    (entry) => entry.isFile() || entry.isDirectory(),
  );
  return [...self, ...inside.flatMap((entry) => listOpenToOthers(join(path, entry.name)))];
}

/**
 * Checks that an SQLite file is intact; a missing one passes.
 * @param todo remedy for a damaged file
 */
export function checkDatabase(name: string, path: string, todo: Message = DAMAGE_HINT): Check {
  if (!existsSync(path)) return makePassedCheck(name, t`${path} does not exist yet`);
  try {
    const damage = findDamage(path).join('; ');
    const kibibytes = Math.ceil(statSync(path).size / 1024);
    if (damage === '') return makePassedCheck(name, t`${path} is intact (${kibibytes} KiB)`);
    return makeProblemCheck(name, t`${path} is damaged: ${damage}.`, todo);
  } catch (thrown) {
    const failed = makeFailedCheck(name, thrown);
    return isDamaged(thrown) ? makeProblemCheck(name, failed.message, todo) : failed;
  }
}

/** Folder beside the program in the archive of `npm run release`. */
const RUNTIME_FOLDER = 'runtime';

/** Returns the versions of pas, Node and the libraries, as `pas --version --json` prints them. */
export function readProgramFacts() {
  const memory = openSqlite(':memory:');
  const sqlite = readSqliteVersion(memory);
  memory.close();
  const { version, platform, arch } = process;
  return {
    version: getPackageVersion(),
    runtime: { name: 'node', version: version.slice(1), platform, architecture: arch },
    sqlite,
    /** Version of the package that contains libxml2. */
    libxml2_wasm: readPackageVersion('libxml2-wasm'),
    installed_from: { kind: detectInstallationKind(), folder: packageRoot },
  };
}

/**
 * Detects an archive, unpacked from a release, by the bundled runtime beside the package, and a
 * clone of the repository by its tsconfig.json; otherwise npm.
 */
function detectInstallationKind(): 'archive' | 'npm' | 'source' {
  if (existsSync(join(packageRoot, '..', RUNTIME_FOLDER))) return 'archive';
  return existsSync(join(packageRoot, 'tsconfig.json')) ? 'source' : 'npm';
}

function readPackageVersion(name: string): string {
  const [folder = ''] =
    createRequire(import.meta.url)
      .resolve.paths(name)
      ?.map((folder) => join(folder, name))
      .filter(existsSync) ?? [];
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

/**
 * Loads SQLite for a command that does not open it by itself.
 * @throws DatabaseError where its native module is missing
 */
export function assertSqliteLoads(): void {
  loadSqlite();
}
