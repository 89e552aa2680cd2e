import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../src/store/database.ts';
import { canNameMachines, namedMachine } from '../support/named-machine.ts';
import type { Home } from '../support/run-pas.ts';
import type { Random } from './random.ts';
import { runs } from './stage.ts';
import type { Tally } from './tally.ts';

/** What people and programs do to a data folder between pushes. */
const COPYINGS = ['rolled-back', 'lost-log', 'beside', 'elsewhere', 'moved'] as const;
export type Copying = (typeof COPYINGS)[number];

/** A home that is pushed from, and what its person answers when a push asks. */
export type InUse = { readonly home: Home; readonly said: readonly string[] };

/** The machine that the home of every round is on. */
export const OWN_MACHINE = '0a'.repeat(16);
const OTHER_MACHINE = '0b'.repeat(16);

/** Every second round plays one of them, in turn. */
export function copyingOf(round: number): Copying | undefined {
  const copying = round % 2 === 1 ? COPYINGS[((round - 1) / 2) % COPYINGS.length] : undefined;
  return copying !== undefined && NAMES_MACHINES.includes(copying) && !canNameMachines ? 'beside' : copying;
}
const NAMES_MACHINES: readonly Copying[] = ['elsewhere', 'moved'];

/** What the log of an outbox was written last, which is how one sees from outside that a push has begun. */
export function logWrittenMs(home: Home): number | undefined {
  return statSync(join(folderOf(home), LOG), { throwIfNoEntry: false })?.mtimeMs;
}

export class Copies {
  readonly #own: Home;
  readonly #copying: Copying | undefined;
  readonly #dice: Random;
  readonly #tally: Tally;
  readonly #saved: string;
  #inUse: readonly InUse[];
  #isDone = false;

  constructor(own: Home, round: number, dice: Random, tally: Tally) {
    this.#own = own;
    this.#copying = copyingOf(round);
    this.#dice = dice;
    this.#tally = tally;
    this.#saved = join(own.folder, `copy-${round}`);
    this.#inUse = [{ home: own, said: [] }];
    if (this.#copying === 'rolled-back') copyOutbox(folderOf(own), this.#saved);
  }

  /** All that hold the outbox. The first is used by whoever changes what is queued. */
  get inUse(): readonly InUse[] {
    return this.#inUse;
  }

  /** Whether two copies are used side by side. */
  get areTwo(): boolean {
    return this.#inUse.length > 1;
  }

  /** The copy that is pushed next. */
  pick(): InUse {
    return (this.areTwo ? this.#dice.pick(this.#inUse) : this.#inUse[0]) as InUse;
  }

  /** Before the first push or after one has ended, one way or the other. @returns whether a person has to enter something again */
  async next(after: 'none' | 'some' | 'all'): Promise<boolean> {
    if (this.#isDone || this.#copying === undefined || (this.#copying === 'rolled-back' && after === 'none')) return false;
    const folder = folderOf(this.#own);
    if (this.#copying === 'lost-log') {
      if (!canLoseLog(folder)) return false;
      if (this.#dice.chance(0.6)) this.#isDone = true;
      dropLog(folder);
      this.#tally.copies['lost-log'] += 1;
      return true;
    }
    if (after !== 'all' && this.#dice.chance(0.5)) return false;
    this.#isDone = true;
    this.#tally.copies[this.#copying] += 1;
    switch (this.#copying) {
      case 'rolled-back':
        dropLog(folder);
        copyOutbox(this.#saved, folder);
        return true;
      case 'beside':
      case 'elsewhere':
        await this.#copy(this.#copying);
        return false;
      case 'moved':
        this.#inUse = [await this.#bring('--moved')];
        return false;
    }
  }

  async #copy(where: 'beside' | 'elsewhere'): Promise<void> {
    const [own] = this.#inUse;
    if (where === 'elsewhere') this.#inUse = [own as InUse, await this.#bring('--copied')];
    else {
      this.#copyFolder();
      this.#inUse = [own as InUse, { home: this.#own.with({ PAS_HOME: this.#saved }), said: [] }];
    }
  }

  /** To another machine, whose first push asks. */
  async #bring(said: '--moved' | '--copied'): Promise<InUse> {
    this.#copyFolder();
    const env = { PAS_HOME: this.#saved, XDG_STATE_HOME: `${this.#saved}-state`, ...namedMachine(OTHER_MACHINE) };
    const home = this.#own.with(env);
    await runs(home, ['push', '--json', '--take-over'], [2]);
    // Whoever pushed at the time of the copy cannot be seen from there.
    return { home, said: [said, '--take-over'] };
  }

  #copyFolder(): void {
    cpSync(folderOf(this.#own), this.#saved, { recursive: true });
    // As a program that synchronises folders may do.
    if (this.#copying !== 'moved' && canLoseLog(this.#saved) && this.#dice.chance(0.5)) {
      dropLog(this.#saved);
      this.#tally.copies['lost-log'] += 1;
    }
  }

  /**
   * What was moved comes back to the machine that all rounds are played on; copies are thrown away. All is accounted for by now, so
   * that what the next rounds add need not be held.
   */
  async close(): Promise<void> {
    if (this.#copying === 'moved' && this.#isDone) {
      rmSync(folderOf(this.#own), { recursive: true });
      cpSync(this.#saved, folderOf(this.#own), { recursive: true });
      await runs(this.#own, ['push', '--json', '--moved'], [0]);
    }
    await runs(this.#own, ['reconcile', '--release-new'], [0]);
    for (const path of [this.#saved, `${this.#saved}-state`]) rmSync(path, { recursive: true, force: true });
  }
}

const OUTBOX = 'outbox.sqlite';
const LOG = `${OUTBOX}-wal`;

function folderOf({ env, folder }: Home): string {
  return env['PAS_HOME'] ?? join(folder, 'pas');
}

/** Without it a file that was being brought up to date when the process was killed is damaged, which is told and not used. */
function canLoseLog(folder: string): boolean {
  if (!existsSync(join(folder, LOG))) return false;
  const alone = mkdtempSync(`${folder}-alone-`);
  cpSync(join(folder, OUTBOX), join(alone, OUTBOX));
  const outbox = openSqlite(join(alone, OUTBOX));
  try {
    return outbox.pragma('integrity_check', { simple: true }) === 'ok';
  } catch {
    return false;
  } finally {
    outbox.close();
    rmSync(alone, { recursive: true });
  }
}

function dropLog(folder: string): void {
  for (const name of [LOG, `${OUTBOX}-shm`]) rmSync(join(folder, name), { force: true });
}

/** All of it, as a careful person copies it. */
function copyOutbox(from: string, to: string): void {
  for (const name of [OUTBOX, LOG]) if (existsSync(join(from, name))) cpSync(join(from, name), join(to, name));
}
