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
  openSqlite,
  readSqliteVersion,
  toDatabaseError,
} from '../../base/disk/database.ts';
import { findDamage } from '../../base/disk/database-file.ts';
import { isAccessibleToOthers } from '../../base/disk/files.ts';
import { isLockingReliable } from '../../base/disk/lock-file.ts';
import { type ExitReason, isDamaged, PasError } from '../../base/errors.ts';
import { cmd, type Message, quoteShellWord, t } from '../../base/message.ts';
import { joinWithOr } from '../../base/names.ts';
import { getNodeRange, getPackageVersion, packageRoot } from '../../base/own-files.ts';
import { openContentStore } from '../../outbox/changes/kept-photographs.ts';
import { listUnsentPhotoEntries } from '../../outbox/entry-queries.ts';
import { assertSoundLedger } from '../../outbox/ledger.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { assertSoundOutbox, describeOutbox } from '../../outbox/repair-outbox.ts';
import { comparePushPlace } from '../../outbox/unite.ts';
import { formatFindCount, LOST_LEDGER_NOTE } from '../result-texts.ts';

/**
 * Finding of a check. A push continues despite a warning; a problem prevents it, now or soon;
 * unchecked is unknown.
 */
export type Finding = {
  readonly level: 'ok' | 'warning' | 'problem' | 'unchecked';
  /** The finding for people: a path, a version, a figure, a sentence. */
  readonly message: string;
  /** Remedy; undefined when all is well. */
  readonly todo?: Message;
  /** Exit reason of a command that meets this problem; undefined for other levels. */
  readonly reason?: ExitReason;
};

/** A finding with the name of its check: stable, kebab-case, for programs. */
export type Check = Finding & { readonly name: string };

/** Makes the finding `ok`. */
export function makePass(message = ''): Finding {
  return { level: 'ok', message };
}

/** Makes the finding `warning`, after which a push continues, with its remedy. */
export function makeWarning(message: string, todo: Message): Finding {
  return { level: 'warning', message, todo };
}

/**
 * Makes the finding `problem`, which prevents a push, now or soon, with its remedy.
 * @param reason exit reason of a command that meets this problem
 */
export function makeProblem(
  message: string,
  todo: Message,
  reason: ExitReason = 'dataRefused',
): Finding {
  return { level: 'problem', message, todo, reason };
}

/**
 * Converts an error during a check to a problem with its message, remedy and exit reason.
 * @throws the error itself where it is none of pas, and so a bug
 */
export function toProblem(thrown: unknown): Finding {
  const error = toDatabaseError(t`the data folder`, thrown);
  if (!(error instanceof PasError)) throw error;
  const todo = error.hint ?? t`Correct it and run \`${cmd`pas doctor`}\` again.`;
  return makeProblem(error.message, todo, error.exitReason);
}

const LITTLE_SPACE_BYTES = 500 * 1024 * 1024;
const NO_SPACE_BYTES = 20 * 1024 * 1024;

/**
 * Checks the version of Node by `engines` in package.json: at least the minimum of its release
 * line, or a line later than all of these.
 */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const oldest = getNodeRange()
    .split('||')
    .map((range) =>
      range
        .replace(/[^\d.]/g, '')
        .split('.')
        .map(Number),
    );
  const [, least] = oldest.find(([line]) => line === major) ?? [];
  const isLater = major > Math.max(...oldest.map(([line = 0]) => line));
  if (least === undefined ? isLater : minor >= least) return makePass(`Node ${version}`);
  const listed = joinWithOr(oldest.map(([line, minimum]) => `${line}.${minimum}`));
  return makeProblem(
    t`pas does not run on Node ${version}.`,
    t`Install Node ${listed}, or a later release of that line.`,
  );
}

/**
 * Checks that the data folder is a folder and can be written. A warning where it does not exist,
 * or may be synchronised with other computers.
 */
export function checkHome(home: string): Finding {
  if (!existsSync(home)) {
    return makeWarning(
      t`${home} does not exist yet`,
      t`Run \`${cmd`pas init`}\`. If the folder existed before, connect its drive first.`,
    );
  }
  try {
    readdirSync(home);
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    const synchronised = findSynchronisedFolder(home);
    if (synchronised !== undefined)
      return makeWarning(
        t`${home} is in a synchronised folder: ${synchronised}. If a copy of it is also pushed from another computer, finds become uncertain.`,
        t`Move it to another folder, and make copies with \`${cmd`pas backup`}\`.`,
      );
    return makePass(home);
  } catch {
    return makeProblem(
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
export function checkSpace(home: string): Finding {
  const place = findNearestExisting(home);
  const { bavail, bsize } = statfsSync(place);
  const freeBytes = bavail * bsize;
  const freeMebibytes = Math.floor(freeBytes / 1024 / 1024);
  const message = t`${freeMebibytes} MiB free in ${place}`;
  if (freeBytes < NO_SPACE_BYTES) return makeProblem(message, t`Free some space.`);
  if (freeBytes < LITTLE_SPACE_BYTES) return makeWarning(message, t`Free some space.`);
  return makePass(message);
}

function findNearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findNearestExisting(dirname(path));
}

/**
 * Checks that only the owner can read files with finds or secrets: folders 0700, files 0600.
 * Paths that do not exist are passed over; Windows always passes.
 */
export function checkPermissions(places: readonly string[]): Finding {
  if (process.platform === 'win32') return makePass();
  const there = places.filter((path) => existsSync(path));
  const command = `chmod -R u+rwX,go-rwx ${there.map((path) => quoteShellWord(path)).join(' ')}`;
  let open: readonly string[];
  try {
    open = there.flatMap(listOpenToOthers);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'path' in thrown)) throw thrown;
    return makeProblem(t`${thrown.path} cannot be read.`, command);
  }
  if (open.length === 0) return makePass();
  const names = `${open.slice(0, MAX_NAMED).join(', ')}${open.length > MAX_NAMED ? ' …' : ''}`;
  return makeProblem(t`Others may read ${names}.`, command);
}

const MAX_NAMED = 3;

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
 * @throws DatabaseError where it cannot be read for another reason
 */
export function checkDatabase(path: string, todo: Message = DAMAGE_HINT): Finding {
  if (!existsSync(path)) return makePass(t`${path} does not exist yet`);
  try {
    const damage = findDamage(path).join('; ');
    const kibibytes = Math.ceil(statSync(path).size / 1024);
    if (damage === '') return makePass(t`${path} is intact (${kibibytes} KiB)`);
    return makeProblem(t`${path} is damaged: ${damage}.`, todo);
  } catch (thrown) {
    if (!isDamaged(thrown)) throw thrown;
    return makeProblem(toProblem(thrown).message, todo);
  }
}

/**
 * Checks each fact of the outbox by its id, and tells what it is for and has.
 * @param machine identifier of this machine; empty where it has none
 * @throws DatabaseError where a fact is damaged
 */
export function checkFacts(outbox: Outbox, machine: string): Finding {
  assertSoundOutbox(outbox);
  const { header, user = '–', finds, unsent } = describeOutbox(outbox, machine);
  const { address } = header;
  const found = formatFindCount(finds);
  return makePass(t`${address} (${user}): ${found}; entries not sent: ${unsent}`);
}

/**
 * Checks that the file of every unsent photograph exists and has its size; a push verifies its
 * bytes.
 * @param outbox undefined where there is none
 */
export function checkPhotographs(
  outbox: Outbox | undefined,
  photosFolder: string,
  onProgress: (doneCount: number, total: number) => void,
): Finding {
  const copies = openContentStore(photosFolder);
  const waiting =
    outbox === undefined ? [] : listUnsentPhotoEntries(outbox).map(({ photograph }) => photograph);
  const count = waiting.length;
  const missing = waiting.filter(({ sha512, sizeBytes }, index) => {
    onProgress(index, count);
    const path = copies.getPath(sha512);
    return !existsSync(path) || statSync(path).size !== sizeBytes;
  });
  if (missing.length === 0) return makePass(String(count));
  const names = missing
    .slice(0, MAX_NAMED)
    .map(({ name }) => name)
    .join(', ');
  return makeProblem(
    t`${missing.length} of ${count} queued photographs were removed or changed: ${names}.`,
    t`Queue them again with \`${cmd`pas photo add`} FIND FILE\`.`,
  );
}

/** Checks each fact of the ledger, and reports its size and place; a missing one passes. */
export function checkLedger(file: string): Finding {
  const todo = t`Move it aside, and make it again from the outboxes: ${cmd`pas doctor --repair`}`;
  try {
    const ofFile = checkDatabase(file, todo);
    if (ofFile.level !== 'ok') return makeProblem(ofFile.message, todo, 'config');
    if (existsSync(file)) assertSoundLedger(file);
    return ofFile;
  } catch (thrown) {
    return makeProblem(toProblem(thrown).message, todo, 'config');
  }
}

/** Checks that a lock in the folder excludes another process; a missing folder passes. */
export function checkLocks(folder: string): Finding {
  if (!existsSync(folder) || isLockingReliable(folder)) return makePass(folder);
  return makeProblem(
    t`A lock in ${folder} does not prevent a second push: finds could be sent twice.`,
    t`Move the state folder to a disk of this machine (PAS_STATE), and never start two pushes at once.`,
  );
}

/**
 * Checks that a push from this machine is permitted.
 * @param machine identifier of this machine; empty where it has none
 */
export function checkMachineOfOutbox(outbox: Outbox, machine: string): Finding {
  const { ledger, ledgerProblem } = outbox;
  if (ledgerProblem !== undefined) {
    const todo = ledgerProblem.hint ?? t`Correct it and run \`${cmd`pas doctor`}\` again.`;
    return makeProblem(ledgerProblem.message, todo, ledgerProblem.exitReason);
  }
  const place = ledger === undefined ? 'new' : comparePushPlace(outbox, machine).kind;
  if (place === 'lost-ledger') return makePass(String(LOST_LEDGER_NOTE));
  if (place !== 'foreign') return makePass();
  return makeProblem(
    t`This outbox was pushed from another place.`,
    t`If you no longer push from there: ${cmd`pas push --take-over`}`,
  );
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
