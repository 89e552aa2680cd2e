import type { Archive } from './archive.ts';
import { type ArchiveRow, toRecord } from './archive-table.ts';
import type { ArchiveRecord } from './record.ts';

/** A write that harvesting may not show yet, and the replaced version. */
type Write = { readonly seenAtMs: number; readonly replaced: ArchiveRow | undefined };

/**
 * Index of the harvesting host. The service updates its index some time after a write, so a change
 * appears late, under the datestamp of the write; with different delays, a later write may appear
 * before an earlier one. After a restart everything is indexed.
 */
export class HarvestIndex {
  /** By identifier, oldest first: all writes since the newest indexed version. */
  readonly #writes = new Map<string, readonly Write[]>();
  readonly #now: () => number;
  readonly #turns = { delay: 0, shift: 0 };

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param delaysMs one for all, or taken in turn */
  recordWrite(
    ident: string,
    before: () => ArchiveRow | undefined,
    delaysMs: number | readonly number[],
  ): void {
    const delayMs =
      typeof delaysMs === 'number' ? delaysMs : takeInTurn(delaysMs, this.#turns.delay++);
    const pending = this.#writes.get(ident);
    if (delayMs === 0 && pending === undefined) return;
    this.#writes.set(ident, [
      ...(pending ?? []),
      { seenAtMs: this.#now() + delayMs, replaced: before() },
    ]);
  }

  /**
   * Returns the records of which harvesting shows another version than the archive; undefined for
   * none.
   */
  collectBehind(): ReadonlyMap<string, ArchiveRow | undefined> {
    const nowMs = this.#now();
    const behind = new Map<string, ArchiveRow | undefined>();
    for (const [ident, writes] of this.#writes) {
      const seen = writes.findLastIndex(({ seenAtMs }) => seenAtMs <= nowMs);
      const remaining = writes.slice(seen + 1);
      if (seen >= 0) this.#writes.set(ident, remaining);
      if (remaining[0] === undefined) this.#writes.delete(ident);
      else behind.set(ident, remaining[0].replaced);
    }
    return behind;
  }

  /** Returns the record as harvesting shows it. */
  recordIn(archive: Archive, ident: string): ArchiveRecord | undefined {
    const behind = this.collectBehind();
    if (!behind.has(ident)) return archive.get(ident);
    const row = behind.get(ident);
    return row === undefined ? undefined : toRecord(row);
  }

  /** Returns the time of the host's clock; each answer takes the next shift. */
  getResponseMs(shiftsMs: readonly number[]): number {
    return this.#now() + takeInTurn(shiftsMs, this.#turns.shift++);
  }

  clear(): void {
    this.#writes.clear();
    this.#turns.delay = 0;
    this.#turns.shift = 0;
  }
}

function takeInTurn(list: readonly number[], turn: number): number {
  return list[turn % list.length] ?? 0;
}
