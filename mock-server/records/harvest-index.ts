/**
 * What harvesting does not know of yet. The service fills its harvest index some time after a write, so that a new record
 * appears late; a change of a record that is indexed already is seen at once here. After a restart everything is indexed.
 */
export class HarvestIndex {
  readonly #indexedAtMs = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  noteNew(ident: string, delayMs: number): void {
    if (delayMs > 0) this.#indexedAtMs.set(ident, this.#now() + delayMs);
  }

  /** Identifiers of records that do not appear yet. */
  pending(): string[] {
    const nowMs = this.#now();
    for (const [ident, atMs] of this.#indexedAtMs) if (atMs <= nowMs) this.#indexedAtMs.delete(ident);
    return [...this.#indexedAtMs.keys()];
  }

  holds(ident: string): boolean {
    return (this.#indexedAtMs.get(ident) ?? 0) <= this.#now();
  }

  clear(): void {
    this.#indexedAtMs.clear();
  }
}
