import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** How a process is told from another with the same number: at another time, after a restart, on another machine. */
export type ProcessTable = {
  readonly pid: number;
  readonly host: string;
  /** What the machine is called whatever its name is changed to; undefined where it cannot be told from a copy of it. */
  readonly machine: string | undefined;
  /** A mark that no other process of this number ever has, or undefined when no such process runs. */
  markOf(pid: number): string | undefined;
};

/** The first name space of process numbers is the machine's own; any other is a container's (Linux, `PROC_PID_INIT_INO`). */
const OWN_NAME_SPACE = 'pid:[4026531836]';

export const systemProcesses: ProcessTable = {
  pid: process.pid,
  host: hostname(),
  machine: machineId(),
  markOf(pid) {
    try {
      // Linux: the machine's boot, whose processes are counted, and the process's start in clock ticks since the boot.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${afterName[19]}:${nameSpace() ?? ''}`;
    } catch {
      return markWithoutProc(pid);
    }
  },
};

/** Containers made from one image often share one identifier, so there it tells nothing. */
function machineId(): string | undefined {
  if (nameSpace() !== OWN_NAME_SPACE) return undefined;
  try {
    const id = readFileSync('/etc/machine-id', 'utf8').trim();
    return /^[0-9a-f]{32}$/.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

function nameSpace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

function markWithoutProc(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    return 'alive';
  } catch (thrown) {
    // EPERM: it runs, under another user.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM' ? 'alive' : undefined;
  }
}
