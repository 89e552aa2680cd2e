import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { ConfigError, UsageError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { packageRoot } from '../../base/package-root.ts';
import { toDatabaseError } from '../../store/database.ts';
import { makeFolder } from '../../store/folder.ts';
import { detectInstallationKind } from '../checks/program-facts.ts';

const USER_ENVIRONMENT = 'HKEY_CURRENT_USER\\Environment';
const REGISTRY_FORMAT = 'Windows Registry Editor Version 5.00';
const PROGRAMS = ['pas', 'pas-mock-server'] as const;

/** `folder` has the programs for shells; `known`: it is on the path already. */
type SearchPath = { readonly folder: string; readonly isOnPath: boolean };

/** Links for Unix: one per program in `~/.local/bin`, which needs no administrator. */
type LinkPlace = { readonly folder: string; readonly targets: Readonly<Record<string, string>> };

/** @throws UsageError where npm has put the programs on the path, or can do so */
export function linkPlace(environment: Readonly<Record<string, string | undefined>>): LinkPlace {
  const kind = detectInstallationKind();
  if (kind === 'npm') {
    throw new UsageError(
      t`npm installed this pas, and adds it to PATH when it installs with --global.`,
    );
  }
  const getProgramPath = (name: string): string =>
    kind === 'archive' ? join(packageRoot, '..', name) : join(packageRoot, 'bin', `${name}.js`);
  return {
    folder: join(environment['HOME'] ?? homedir(), '.local', 'bin'),
    targets: Object.fromEntries(PROGRAMS.map((name) => [name, getProgramPath(name)])),
  };
}

/**
 * Links the programs over links of an older pas. @throws UsageError where another program has the
 * name; DatabaseError
 */
export function linkPrograms({ folder, targets }: LinkPlace, path: string): SearchPath {
  const links = Object.entries(targets).map(([name, target]) => ({
    link: join(folder, name),
    target,
  }));
  for (const { link } of links) assertOwnLink(link);
  for (const { link, target } of links) {
    try {
      makeFolder(folder);
      rmSync(link, { force: true });
      symlinkSync(target, link);
    } catch (thrown) {
      throw toDatabaseError(link, thrown);
    }
  }
  return { folder, isOnPath: path.split(delimiter).includes(folder) };
}

/** @returns true if links of pas were removed @throws DatabaseError when the disk fails */
export function unlinkPrograms({ folder, targets }: LinkPlace): boolean {
  const ours = Object.keys(targets)
    .map((name) => join(folder, name))
    .filter(isOurs);
  for (const link of ours) {
    try {
      rmSync(link);
    } catch (thrown) {
      throw toDatabaseError(link, thrown);
    }
  }
  return ours.length > 0;
}

function assertOwnLink(link: string): void {
  if (lstatSync(link, { throwIfNoEntry: false }) === undefined || isOurs(link)) return;
  const folder = dirname(packageRoot);
  throw new UsageError(t`${link} is another program. Nothing was changed.`, {
    hint: t`Move it away, or add this folder to your PATH yourself: ${folder}`,
  });
}

/** Tells if a link leads into an archive or a clone of pas, even a removed one. */
function isOurs(link: string): boolean {
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return false;
  const target = resolve(dirname(link), readlinkSync(link));
  const parts = [
    join(dirname(target), 'app', 'package.json'),
    join(dirname(target), '..', 'package.json'),
  ];
  return (
    !existsSync(target) ||
    parts.some((path) => existsSync(path) && readFileSync(path, 'utf8').includes('"pas-finds"'))
  );
}

/** Returns the folder of `pas.cmd` in an archive on Windows. */
export function archiveFolder(): string {
  if (detectInstallationKind() !== 'archive')
    throw new UsageError(
      t`This is not an unpacked archive: npm adds it to PATH when it installs with --global.`,
    );
  return dirname(packageRoot);
}

/**
 * Adds a folder to the user's path in the registry of Windows, or removes it. It uses files of
 * `reg`, which are UTF-16: the output of programs has a code page that lacks some letters.
 * @returns true if it was there before
 * @throws ConfigError where the registry refuses
 */
export function changeUserPath(folder: string, to: 'there' | 'gone'): boolean {
  const tempFolder = mkdtempSync(join(tmpdir(), 'pas-path-'));
  try {
    const file = join(tempFolder, 'environment.reg');
    runReg('export', USER_ENVIRONMENT, file, '/y');
    const before = parseRegistryPath(readFileSync(file, 'utf16le'));
    const isIt = (entry: string): boolean => normalizeFolder(entry) === normalizeFolder(folder);
    const otherFolders = before.split(';').filter((entry) => entry !== '' && !isIt(entry));
    const wasThere = before.split(';').some(isIt);
    if (wasThere === (to === 'there')) return wasThere;
    writeFileSync(
      file,
      formatRegistryPath([...otherFolders, ...(to === 'there' ? [folder] : [])].join(';')),
    );
    runReg('import', file);
    announce();
    return wasThere;
  } finally {
    rmSync(tempFolder, { recursive: true, force: true });
  }
}

function normalizeFolder(folder: string): string {
  return folder.replace(/(?<!\\)\\+$/, '').toLowerCase();
}

function runReg(...args: readonly string[]): void {
  const { status, error } = spawnSync('reg', args, { windowsHide: true });
  if (status === 0) return;
  const why = error?.message ?? args[0];
  throw new ConfigError(t`The Windows registry could not be read or written: ${why}`);
}

/**
 * Notifies open programs by a Windows message, which .NET sends; without it they see the path after
 * the next sign-in.
 */
function announce(): void {
  const script = "[Environment]::SetEnvironmentVariable('PAS_PATH_CHANGED', $null, 'User')";
  spawnSync('powershell', ['-NoProfile', '-NonInteractive', '-Command', script], {
    windowsHide: true,
    timeout: 20_000,
  });
}

/** Parses the user's own path in a file that `reg export` wrote; empty where it has none. */
export function parseRegistryPath(text: string): string {
  const whole = text.replace(/\\\r?\n\s*/g, '');
  const value = /^"path"=(.*?)\r?$/im.exec(whole)?.[1];
  if (value === undefined) return '';
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(value)?.[1];
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, '$1');
  const bytes = /^hex\([12]\):([\da-f,]*)$/i.exec(value)?.[1];
  if (bytes === undefined)
    throw new ConfigError(t`The user's PATH in the Windows registry is of an unknown type.`);
  return Buffer.from(bytes.replaceAll(',', ''), 'hex')
    .toString('utf16le')
    .replace(/(?<!\0)\0+$/, '');
}

/** Formats a registry file with a path in which variables such as `%USERPROFILE%` are expanded. */
export function formatRegistryPath(path: string): Buffer {
  const bytes = Buffer.from(`${path}\0`, 'utf16le').toString('hex').match(/../g)?.join(',');
  const lines = [
    `\uFEFF${REGISTRY_FORMAT}`,
    '',
    `[${USER_ENVIRONMENT}]`,
    `"Path"=hex(2):${bytes}`,
    '',
  ];
  return Buffer.from(lines.join('\r\n'), 'utf16le');
}
