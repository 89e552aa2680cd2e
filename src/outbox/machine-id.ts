import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';

/** Queries to the operating system, which tests replace. */
export type System = {
  readonly platform: NodeJS.Platform;
  /** Returns the content of a file, and the target of a link; undefined where it cannot be read. */
  read(path: string): string | undefined;
  link(path: string): string | undefined;
  exists(path: string): boolean;
  /** Returns the output of a program; undefined where it is missing or fails. The arguments pass no shell. */
  run(program: string, args: readonly string[]): string | undefined;
};

/** The initial PID namespace of a Linux machine (`PROC_PID_INIT_INO`). */
const OWN_NAME_SPACE = 'pid:[4026531836]';
/** Files that Docker and Podman create in their containers. */
const CONTAINER_FILES = ['/.dockerenv', '/run/.containerenv'];

/** Returns an identifier of the machine, independent of its name; empty where another machine may have the same. */
export function machineId(system: System): string {
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
      return extractMatch(registry(system, 'SOFTWARE\\Microsoft\\Cryptography', 'MachineGuid'), /REG_SZ\s+([\da-f-]{36})/i);
    default:
      return '';
  }
}

/** Tells if the process runs in a container, or the Linux namespace is unreadable; the journal is beside the outbox then. */
export function isContainer(system: System): boolean {
  switch (system.platform) {
    case 'linux':
      return system.link('/proc/self/ns/pid') !== OWN_NAME_SPACE || CONTAINER_FILES.some((path) => system.exists(path));
    case 'win32':
      return registry(system, 'SYSTEM\\CurrentControlSet\\Control', 'ContainerType') !== undefined;
    default:
      return false;
  }
}

function registry(system: System, key: string, name: string): string | undefined {
  return system.run('reg.exe', ['query', `HKLM\\${key}`, '/v', name, '/reg:64']);
}

function extractMatch(text: string | undefined, pattern: RegExp): string {
  return pattern.exec(text ?? '')?.[1] ?? '';
}

export const thisSystem: System = {
  platform: process.platform,
  read: (path) => runUnlessRefused(() => readFileSync(path, 'utf8')),
  link: (path) => runUnlessRefused(() => readlinkSync(path)),
  exists: existsSync,
  run(program, args) {
    const { status, stdout } = spawnSync(program, args, {
      // Windows searches the working folder first, where another program of that name may be.
      ...{ cwd: dirname(process.execPath), timeout: 10_000, windowsHide: true },
      ...{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
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
