import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { t } from '../base/language.ts';

/** The system's store for secrets. Every function throws {@link KeyringError} when it is unavailable. */
export type Keyring = {
  read(account: string): string | undefined;
  write(account: string, secret: string): void;
  remove(account: string): void;
};

/** Reason why the keyring is unavailable, without any of its content. */
export class KeyringError extends Error {}

export type KeyringRequest = {
  readonly action: 'read' | 'write' | 'remove';
  readonly service: string;
  readonly account: string;
  readonly secret?: string;
};

export type KeyringAnswer =
  | { readonly ok: true; readonly secret: string | null }
  | { readonly ok: false; readonly message: string };

type Environment = Readonly<Record<string, string | undefined>>;

const SERVICE = 'pas';
const ANSWER_TIMEOUT_MS = 5000;
const PROCESS = fileURLToPath(new URL('./keyring-process.js', import.meta.url));
/** Environment that a keyring's library needs to find its service. PAS_PASSWORD is not passed. */
const PASSED_ON =
  /^(PATH|HOME|USER|LOGNAME|LANG|DISPLAY|WAYLAND_DISPLAY|DBUS_SESSION_BUS_ADDRESS|XDG_\w+|SystemRoot|APPDATA|LOCALAPPDATA|USERPROFILE|TEMP|TMP)$/i;

/**
 * Opens the keyring of the platform through a subprocess with a limit of five seconds.
 * @returns undefined where there is none: on Linux without a session bus, and where `PAS_KEYRING` is `off`
 */
export function systemKeyring(environment: Environment, platform: NodeJS.Platform = process.platform): Keyring | undefined {
  if (environment['PAS_KEYRING'] === 'off') return undefined;
  if (platform !== 'darwin' && platform !== 'win32' && !hasSessionBus(environment)) return undefined;
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => PASSED_ON.test(name)));
  // After a timeout the keyring is not tried again: every attempt would take the whole timeout.
  let silent: string | undefined;
  const ask = (request: Omit<KeyringRequest, 'service'>): string | null => {
    if (silent !== undefined) throw new KeyringError(silent);
    const { stdout, error } = spawnSync(process.execPath, [PROCESS], {
      input: JSON.stringify({ service: SERVICE, ...request }),
      env,
      encoding: 'utf8',
      timeout: ANSWER_TIMEOUT_MS,
      killSignal: 'SIGKILL',
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const answer = error === undefined ? parseAnswer(stdout) : undefined;
    if (answer === undefined) {
      const seconds = ANSWER_TIMEOUT_MS / 1000;
      silent = t`it did not answer within ${seconds} seconds, or broke down`;
      throw new KeyringError(silent);
    }
    if (!answer.ok) throw new KeyringError(answer.message);
    return answer.secret;
  };
  return {
    read: (account) => ask({ action: 'read', account }) ?? undefined,
    write: (account, secret) => {
      ask({ action: 'write', account, secret });
    },
    remove: (account) => {
      ask({ action: 'remove', account });
    },
  };
}

function hasSessionBus(environment: Environment): boolean {
  const runtimeFolder = environment['XDG_RUNTIME_DIR'];
  return (
    (environment['DBUS_SESSION_BUS_ADDRESS'] ?? '') !== '' ||
    (runtimeFolder !== undefined && existsSync(join(runtimeFolder, 'bus')))
  );
}

function parseAnswer(text: string): KeyringAnswer | undefined {
  try {
    return JSON.parse(text) as KeyringAnswer;
  } catch {
    return undefined;
  }
}
