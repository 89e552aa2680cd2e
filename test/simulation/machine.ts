import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { asMonotonicMs, asWallMs, type Clock } from '../../src/base/clock.ts';
import type { Runtime } from '../../src/cli/context/context.ts';
import type { SystemQueries } from '../../src/cli/context/places.ts';
import { runCommandLine } from '../../src/cli/main.ts';
import type { Random } from '../support/random.ts';
import { breakDisk } from './disk.ts';
import type { Network } from './network.ts';
import type { DiskFault } from './scenario.ts';
import type { VirtualTime } from './virtual-time.ts';

/** `code` is null where it was killed. */
export type Ended = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Killed at the n-th look at a clock, or then. */
type Killed = { readonly afterLooks: number } | { readonly at: Promise<void> };

/**
 * A computer with its own clock, its own name and a home, on which several `pas` may run at once.
 */
export class Machine {
  readonly name: string;
  readonly #id: string;
  readonly #time: VirtualTime;
  readonly #network: Network;
  readonly #random: Random;
  readonly #address: string;
  readonly #endGone: ((error: Error) => void)[] = [];
  /** Offset of its clock from the right time. */
  skewMs = 0;
  folder: string;
  #generation = 0;
  #lastPid = 1000;

  constructor(
    name: string,
    address: string,
    folder: string,
    shared: { time: VirtualTime; network: Network; random: Random },
  ) {
    this.name = name;
    this.#address = address;
    this.#id = Buffer.from(name).toString('hex').padEnd(32, '0').slice(0, 32);
    this.#time = shared.time;
    this.#network = shared.network;
    this.#random = shared.random;
    this.folder = folder;
    mkdirSync(join(folder, 'home'), { recursive: true, mode: 0o700 });
  }

  get home(): string {
    return join(this.folder, 'home');
  }

  /** Its ledger, its locks and its pace. */
  get state(): string {
    return join(this.folder, 'state');
  }

  file(name: string, content: string | Buffer): string {
    const path = join(this.folder, name);
    writeFileSync(path, content);
    return path;
  }

  /**
   * Runs `pas`. Where it is killed, that is at any moment at which it looks at a clock: what is on
   * disk then is what the next one finds, and its later effects are not visible.
   */
  async pas(
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    { killed, disk }: { readonly killed?: Killed; readonly disk?: DiskFault } = {},
  ): Promise<Ended> {
    this.#lastPid += 1;
    const pid = this.#lastPid;
    const state = { alive: true, looks: 0 };
    const output = { stdout: collected(), stderr: collected() };
    let tellKilled: (ended: Ended) => void = () => {};
    const death = new Promise<Ended>((resolve) => {
      tellKilled = resolve;
    });
    const die = (): void => {
      if (!state.alive) return;
      state.alive = false;
      this.#leaveBehind();
      tellKilled({ code: null, stdout: output.stdout.text(), stderr: output.stderr.text() });
    };
    const look = (): void => {
      if (!state.alive) return;
      state.looks += 1;
      if (killed !== undefined && 'afterLooks' in killed && state.looks > killed.afterLooks) die();
    };
    const gone = (): Promise<never> => new Promise((_, reject) => this.#endGone.push(reject));
    const clock: Clock = {
      now: () => {
        look();
        return asWallMs(Math.floor(this.#time.nowMs + this.skewMs));
      },
      monotonicMs: () => {
        look();
        return asMonotonicMs(this.#time.nowMs);
      },
      sleep: async (ms, signal) => {
        look();
        if (!state.alive) return gone();
        await this.#time.sleep(ms, signal);
        look();
        return state.alive ? undefined : gone();
      },
      hold: (ms) => {
        look();
        if (state.alive) this.#time.pass(ms);
      },
    };
    if (killed !== undefined && 'at' in killed) void killed.at.then(die);
    const isAlive = (): boolean => state.alive;
    const sender = {
      address: this.#address,
      name: `${this.name}:${env['PAS_PROFILE'] ?? ''}`,
      pid,
      isAlive,
      die,
    };
    const world: Runtime = {
      environment: {
        HOME: this.folder,
        PAS_HOME: this.home,
        PAS_STATE: this.state,
        PAS_LANG: 'en',
        PAS_KEYRING: 'off',
        ...env,
      },
      streams: {
        stdin: ended(),
        stdout: output.stdout.stream,
        stderr: output.stderr.stream,
      } as unknown as Runtime['streams'],
      cwd: this.folder,
      overrides: {
        clock,
        system: this.#system(),
        random: () => this.#random.next(),
        openConnections: async () => ({
          send: async (request) => {
            if (!state.alive) return gone();
            const answer = await this.#network.send(request, sender);
            look();
            return state.alive ? answer : gone();
          },
          close: async () => {},
        }),
      },
    };
    const before = new Set(SIGNALS.flatMap((signal) => process.listeners(signal)));
    const mend = disk === undefined ? undefined : breakDisk(this.folder, disk);
    const run = runCommandLine([...args], world).then(
      (code): Ended => ({ code, stdout: output.stdout.text(), stderr: output.stderr.text() }),
      (thrown: unknown): Ended => ({
        code: 1,
        stdout: output.stdout.text(),
        stderr: String(thrown),
      }),
    );
    const result = await Promise.race([run, death]).finally(mend);
    if (result.code === null)
      for (const signal of SIGNALS)
        for (const each of process.listeners(signal))
          if (!before.has(each)) process.off(signal, each);
    return result;
  }

  /**
   * Ends what killed processes still wait for, so that they close their files; its output is not
   * seen.
   */
  bury(): void {
    for (const end of this.#endGone.splice(0)) end(new Error('killed'));
  }

  /** A copy of all that is on its disk. */
  keep(folder: string): void {
    rmSync(folder, { recursive: true, force: true });
    copyFolder(this.folder, folder);
  }

  /** The disk is as it was when it was kept, as a restored snapshot of a virtual machine is. */
  rollBack(keptFolder: string): void {
    this.#leaveBehind(keptFolder);
  }

  /**
   * From here on in a copy of what lies on the disk now: the old place is for the one that is gone.
   */
  #leaveBehind(from = this.folder): void {
    this.#generation += 1;
    this.folder = `${this.folder.replace(/\+\d+$/, '')}+${this.#generation}`;
    copyFolder(from, this.folder);
  }

  /** As a machine that runs Linux and is no container. */
  #system(): SystemQueries {
    return {
      platform: 'linux',
      read: (path) => (path === '/etc/machine-id' ? `${this.#id}\n` : undefined),
      link: (path) => (path === '/proc/self/ns/pid' ? 'pid:[4026531836]' : undefined),
      exists: () => false,
      run: () => undefined,
    };
  }
}

function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith('-shm') });
}

function ended(): PassThrough {
  const stream = new PassThrough();
  stream.end();
  return stream;
}

function collected() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}
