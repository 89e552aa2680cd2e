import { randomUUID } from 'node:crypto';
import type { System } from '../../src/outbox/process-table.ts';

/** The name space of process numbers that Linux begins with, and that of a container, which every machine may number alike. */
export const HOST_SPACE = 'pid:[4026531836]';
export const CONTAINER = 'pid:[4026532177]';

export type Process = {
  readonly pid: number;
  readonly user: string;
  readonly nameSpace: string;
  /** What the system noted as its start: clock ticks since the boot on Linux, its own clock elsewhere. */
  readonly startTicks: number;
  readonly startedMs: number;
  state: 'running' | 'zombie';
};

/** What a machine may not tell: a part of /proc, or a program. */
export type Withheld = 'proc' | 'own-proc' | 'other-users' | 'boot' | 'id' | 'starts';

export type Machine = {
  readonly platform: NodeJS.Platform;
  host: string;
  id: string;
  clockMs: number;
  timeZone: string;
  language: string;
  readonly withheld: Set<Withheld>;
  /** Starts a process, with this number where it is given. */
  start(process?: Partial<Process>): Process;
  /** Ends it; its number is free again, unless nobody has asked yet how it ended. */
  end(process: Process, how?: 'reaped' | 'zombie'): void;
  /** Ends all processes, at once, as a power cut does. */
  restart(): void;
  isRunning(process: Process): boolean;
  /** What one of its processes is told. */
  seenBy(process: Process): System;
};

type About = { readonly host?: string; readonly id?: string; readonly withheld?: readonly Withheld[] };

/** A machine in memory that answers as Linux, macOS or Windows do. Any other system tells nothing but which numbers are in use. */
export function playMachine(platform: NodeJS.Platform, about: About = {}): Machine {
  const processes = new Set<Process>();
  let boot = randomUUID();
  let ticks = 0;
  const machine: Machine = {
    platform,
    host: about.host ?? 'laptop',
    id: about.id ?? '1',
    clockMs: Date.UTC(2024, 5, 1, 8),
    timeZone: 'Europe/Prague',
    language: 'cs',
    withheld: new Set(about.withheld),
    start({ pid = 1000 + processes.size, user = 'digger', nameSpace = HOST_SPACE } = {}) {
      // A number is given again only when it has been asked how its process ended.
      for (const other of processes) if (other.pid === pid && other.nameSpace === nameSpace) processes.delete(other);
      ticks += 1;
      machine.clockMs += 1000;
      const process: Process = { pid, user, nameSpace, startTicks: ticks, startedMs: machine.clockMs, state: 'running' };
      processes.add(process);
      return process;
    },
    end(process, how = 'reaped') {
      process.state = 'zombie';
      if (how === 'reaped') processes.delete(process);
    },
    restart() {
      processes.clear();
      boot = randomUUID();
      ticks = 0;
    },
    isRunning: (process) => processes.has(process) && process.state === 'running',
    seenBy: (asking) => ({
      platform,
      pid: asking.pid,
      host: asking.nameSpace === HOST_SPACE ? machine.host : asking.nameSpace,
      exists: (pid) => find(asking, pid) !== undefined,
      read: (path) => (platform === 'linux' ? readProc(asking, path) : undefined),
      link: (path) => (platform === 'linux' ? readLink(asking, path) : undefined),
      run: (program, args) => run(asking, program, args),
    }),
  };

  const withholds = (what: Withheld): boolean => machine.withheld.has(what);
  const find = (asking: Process, pid: number): Process | undefined =>
    [...processes].find((process) => process.pid === pid && process.nameSpace === asking.nameSpace);

  function readProc(asking: Process, path: string): string | undefined {
    // That of a container is its image's, and so that of every container of it.
    if (path === '/etc/machine-id')
      return withholds('id') ? undefined : `${asking.nameSpace === HOST_SPACE ? hex(machine.id) : hex('image')}\n`;
    if (withholds('proc')) return undefined;
    if (path === '/proc/sys/kernel/random/boot_id') return withholds('boot') ? undefined : `${boot}\n`;
    const counted = withholds('own-proc') ? { ...asking, nameSpace: HOST_SPACE } : asking;
    const process = find(counted, Number(/^\/proc\/(\d+)\/stat$/.exec(path)?.[1]));
    if (process === undefined || withholds('starts')) return undefined;
    if (process.user !== asking.user && withholds('other-users')) return undefined;
    const state = process.state === 'zombie' ? 'Z' : 'S';
    return `${process.pid} (node (pas) 1) ${state} ${Array(18).fill('0').join(' ')} ${process.startTicks} 0 0\n`;
  }

  function readLink(asking: Process, path: string): string | undefined {
    if (withholds('proc')) return undefined;
    return { '/proc/self': withholds('own-proc') ? '4711' : `${asking.pid}`, '/proc/self/ns/pid': asking.nameSpace }[path];
  }

  function run(asking: Process, program: string, args: readonly string[]): string | undefined {
    const inContainer = asking.nameSpace !== HOST_SPACE;
    const process = find(asking, Number(/\b\d+\b/.exec(args.slice(-1).join())?.[0]));
    switch (`${platform} ${program}`) {
      case 'darwin /usr/sbin/sysctl':
        return withholds('boot') ? undefined : `${boot}\n`;
      case 'darwin /usr/sbin/ioreg':
        return withholds('id') ? undefined : `  {\n    "IOPlatformUUID" = "${uuid(machine.id)}"\n    "model" = <"Mac">\n  }\n`;
      case 'darwin /usr/bin/env':
        return process === undefined || withholds('starts')
          ? undefined
          : `${process.state === 'zombie' ? 'Z' : 'S+'}   ${lstart(process, args)}\n`;
      case 'win32 reg.exe':
        if (args.includes('ContainerType')) return inContainer ? '    ContainerType    REG_DWORD    0x2\r\n' : undefined;
        if (withholds('id')) return undefined;
        return `\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\Cryptography\r\n    MachineGuid    REG_SZ    ${uuid(inContainer ? 'image' : machine.id)}\r\n\r\n`;
      case 'win32 powershell.exe':
        if (process === undefined || process.user !== asking.user || withholds('starts')) return undefined;
        return `${BigInt(process.startedMs) * 10_000n + 116_444_736_000_000_000n}\r\n`;
      default:
        return undefined;
    }
  }

  /** As `ps` writes it: in the language and the time zone that it is asked in. */
  function lstart({ startedMs }: Process, args: readonly string[]): string {
    const timeZone = args.includes('TZ=UTC') ? 'UTC' : machine.timeZone;
    if (!args.includes('LC_ALL=C'))
      return new Intl.DateTimeFormat(machine.language, { dateStyle: 'full', timeStyle: 'medium', timeZone }).format(startedMs);
    const parts = new Intl.DateTimeFormat('en-US', {
      weekday: 'short',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
      year: 'numeric',
      timeZone,
    });
    const of = Object.fromEntries(parts.formatToParts(startedMs).map(({ type, value }) => [type, value]));
    return `${of['weekday']} ${of['month']} ${of['day']?.padStart(2)} ${of['hour']}:${of['minute']}:${of['second']} ${of['year']}`;
  }

  return machine;
}

function hex(text: string | number): string {
  return Buffer.from(`${text}`).toString('hex').padStart(32, '0');
}

function uuid(text: string | number): string {
  return hex(text)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    .toUpperCase();
}
