// Adds the folder of an unpacked archive to the user's path in the registry of Windows; with
// --remove takes it away. It uses files of `reg`, which are UTF-16: the output of programs has a
// code page that lacks some letters.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const USER_ENVIRONMENT = 'HKEY_CURRENT_USER\\Environment';

/** @param {string} folder @param {boolean} remove @returns {boolean} true if it was there before */
function changeUserPath(folder, remove) {
  const tempFolder = mkdtempSync(join(tmpdir(), 'pas-path-'));
  try {
    const file = join(tempFolder, 'environment.reg');
    runReg('export', USER_ENVIRONMENT, file, '/y');
    const entries = parseRegistryPath(readFileSync(file, 'utf16le')).split(';');
    const others = entries.filter((entry) => entry !== '' && !isSameFolder(entry, folder));
    const wasThere = entries.some((entry) => isSameFolder(entry, folder));
    if (wasThere === !remove) return wasThere;
    writeFileSync(file, formatRegistryPath([...others, ...(remove ? [] : [folder])].join(';')));
    runReg('import', file);
    announce();
    return wasThere;
  } finally {
    rmSync(tempFolder, { recursive: true, force: true });
  }
}

/** @param {string} one @param {string} other */
function isSameFolder(one, other) {
  const normalize = (/** @type {string} */ folder) =>
    folder.replace(/(?<!\\)\\+$/, '').toLowerCase();
  return normalize(one) === normalize(other);
}

/** @param {readonly string[]} args */
function runReg(...args) {
  const { status, error } = spawnSync('reg', args, { windowsHide: true });
  if (status !== 0)
    throw new Error(`The registry could not be read or written: ${error?.message ?? args[0]}`);
}

/**
 * Notifies open programs by a Windows message, which .NET sends; without it they see the path after
 * the next sign-in.
 */
function announce() {
  const script = "[Environment]::SetEnvironmentVariable('PAS_PATH_CHANGED', $null, 'User')";
  spawnSync('powershell', ['-NoProfile', '-NonInteractive', '-Command', script], {
    windowsHide: true,
    timeout: 20_000,
  });
}

/**
 * Parses the user's own path in a file that `reg export` wrote; empty where it has none.
 * @param {string} text
 */
export function parseRegistryPath(text) {
  const whole = text.replace(/\\\r?\n\s*/g, '');
  const value = /^"path"=(.*?)\r?$/im.exec(whole)?.[1];
  if (value === undefined) return '';
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(value)?.[1];
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, '$1');
  const bytes = /^hex\([12]\):([\da-f,]*)$/i.exec(value)?.[1];
  if (bytes === undefined) throw new Error('Your PATH in the registry is of an unknown type.');
  return Buffer.from(bytes.replaceAll(',', ''), 'hex')
    .toString('utf16le')
    .replace(/(?<!\0)\0+$/, '');
}

/**
 * Formats a registry file with a path in which variables such as `%USERPROFILE%` are expanded.
 * @param {string} path
 */
export function formatRegistryPath(path) {
  const bytes = Buffer.from(`${path}\0`, 'utf16le').toString('hex').match(/../g)?.join(',');
  const lines = [
    '\uFEFFWindows Registry Editor Version 5.00',
    '',
    `[${USER_ENVIRONMENT}]`,
    `"Path"=hex(2):${bytes}`,
    '',
  ];
  return Buffer.from(lines.join('\r\n'), 'utf16le');
}

const own = fileURLToPath(import.meta.url);
if (process.argv[1] !== undefined && resolve(process.argv[1]) === own) {
  const folder = dirname(dirname(own));
  const remove = process.argv.includes('--remove');
  const wasThere = changeUserPath(folder, remove);
  if (remove) console.log(`${folder} ${wasThere ? 'is no longer' : 'was not'} on your PATH.`);
  else if (wasThere) console.log(`${folder} is already on your PATH.`);
  else console.log(`${folder} is now on your PATH. Open a new terminal.`);
}
