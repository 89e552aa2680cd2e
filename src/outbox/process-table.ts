import { spawnSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';

/** What tells a process from every other of its number. A part that the system does not tell is empty. */
type Mark = {
  /** Of the machine's start: no two have the same. */
  readonly boot: string;
  /** When it started, as the system noted it then: no clock that is set later changes that. */
  readonly start: string;
  /** Who counts the processes: a container has numbers of its own. */
  readonly nameSpace: string;
};

/** `hidden`: some process has the number, and nothing tells which. */
type Seen = { readonly start: string } | 'gone' | 'hidden';

/** The processes that count with this one. Nothing is asked of the system before it is called. */
export type ProcessTable = {
  readonly pid: number;
  readonly host: string;
  /** What the machine is called whatever its name is changed to; empty where another one may be called the same. */
  readonly machine: () => string;
  readonly self: () => Mark;
  readonly seen: (pid: number) => Seen;
};

/** What is asked of the operating system, by the process `pid`. */
export type System = {
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly host: string;
  /** What a file holds, and what a link names; undefined where it cannot be read. */
  read(path: string): string | undefined;
  link(path: string): string | undefined;
  /** Whether any process has the number, be it another user's. */
  exists(pid: number): boolean;
  /** What a program prints; undefined where there is none, or it fails. No shell reads the arguments. */
  run(program: string, args: readonly string[]): string | undefined;
};

/** What each system tells, and how. */
type Facts = Pick<ProcessTable, 'machine' | 'seen'> & { readonly boot: () => string; readonly nameSpace: () => string };

const FACTS: Partial<Record<NodeJS.Platform, (system: System) => Facts>> = { linux, darwin, win32: windows };

export function processTable(system: System): ProcessTable {
  const { boot, nameSpace, machine, seen } = (FACTS[system.platform] ?? nothing)(system);
  return {
    pid: system.pid,
    host: system.host,
    machine: once(machine),
    self: once(() => {
      const own = seen(system.pid);
      return { boot: boot(), start: typeof own === 'object' ? own.start : '', nameSpace: nameSpace() };
    }),
    seen,
  };
}

/** The first name space of process numbers is the machine's own; any other is a container's (Linux, `PROC_PID_INIT_INO`). */
const OWN_NAME_SPACE = 'pid:[4026531836]';

function linux(system: System): Facts {
  const nameSpace = once(() => system.link('/proc/self/ns/pid') ?? '');
  const boot = once(() => system.read('/proc/sys/kernel/random/boot_id')?.trim() ?? '');
  return {
    boot,
    nameSpace,
    // Containers made from one image often share one identifier, so there it tells nothing.
    machine: () => (nameSpace() === OWN_NAME_SPACE ? matched(system.read('/etc/machine-id'), /^([0-9a-f]{32})$/m) : ''),
    seen(pid) {
      // A /proc that was mounted for another name space shows the processes of that one.
      const stat = system.link('/proc/self') === `${system.pid}` ? system.read(`/proc/${pid}/stat`) : undefined;
      const [state = '', ...rest] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
      // Clock ticks since the boot, so that without the boot they are nobody's.
      return seenAs(system, pid, state, boot() === '' ? '' : (rest[18] ?? ''));
    },
  };
}

function darwin(system: System): Facts {
  return {
    boot: () => matched(system.run('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid']), /^([\dA-F-]{36})$/im),
    nameSpace: () => 'darwin',
    machine: () =>
      matched(system.run('/usr/sbin/ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']), /"IOPlatformUUID" = "([\dA-F-]{36})"/i),
    seen(pid) {
      // Whoever asks in another language or time zone must read the same.
      const asked = ['LC_ALL=C', 'TZ=UTC', '/bin/ps', '-o', 'stat=', '-o', 'lstart=', '-p', `${pid}`];
      const printed = system.run('/usr/bin/env', asked) ?? '';
      const startedMs = Date.parse(`${matched(printed, /^\s*\S+\s+(.+?)\s*$/)} UTC`);
      return seenAs(system, pid, printed.trim(), Number.isNaN(startedMs) ? '' : `${startedMs}`);
    },
  };
}

function windows(system: System): Facts {
  const registry = (key: string, name: string): string | undefined =>
    system.run('reg.exe', ['query', `HKLM\\${key}`, '/v', name, '/reg:64']);
  return {
    // Nothing cheap tells it, and nothing needs it: a process's start is a date here.
    boot: () => '',
    nameSpace: () => 'win32',
    machine: () =>
      registry('SYSTEM\\CurrentControlSet\\Control', 'ContainerType') === undefined
        ? matched(registry('SOFTWARE\\Microsoft\\Cryptography', 'MachineGuid'), /REG_SZ\s+([\da-f-]{36})/i)
        : '',
    seen(pid) {
      if (!system.exists(pid)) return 'gone';
      const script = `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`;
      const printed = system.run('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script]);
      return seenAs(system, pid, '', matched(printed, /^(\d+)\s*$/));
    },
  };
}

/** Who counts the processes is not known, so that not even a number that nobody has says anything. */
function nothing(): Facts {
  return { boot: () => '', nameSpace: () => '', machine: () => '', seen: () => 'hidden' };
}

function seenAs(system: System, pid: number, state: string, start: string): Seen {
  // A zombie has ended, and keeps its number until its parent asks for it.
  if (/^[ZX]/.test(state)) return 'gone';
  if (start !== '') return { start };
  return system.exists(pid) ? 'hidden' : 'gone';
}

function matched(text: string | undefined, pattern: RegExp): string {
  return pattern.exec(text ?? '')?.[1] ?? '';
}

function once<T>(ask: () => T): () => T {
  let answer: { readonly value: T } | undefined;
  return () => {
    answer ??= { value: ask() };
    return answer.value;
  };
}

export const nodeSystem: System = {
  platform: process.platform,
  pid: process.pid,
  host: hostname(),
  read: (path) => unlessRefused(() => readFileSync(path, 'utf8')),
  link: (path) => unlessRefused(() => readlinkSync(path)),
  exists(pid) {
    try {
      return process.kill(pid, 0);
    } catch (thrown) {
      return !(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH');
    }
  },
  run(program, args) {
    const { status, stdout } = spawnSync(program, args, {
      // Windows looks into the working folder first, where anybody's program of that name may lie.
      cwd: dirname(process.execPath),
      encoding: 'utf8',
      timeout: 10_000,
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return status === 0 ? stdout : undefined;
  },
};

function unlessRefused(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

export const systemProcesses: ProcessTable = processTable(nodeSystem);
