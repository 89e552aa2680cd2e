import { type Change, type Exchange, estimateSize, viewMessage } from '../base/exchange.ts';
import { viewRule } from './contract-references.ts';

/** A request in the journal; names as in `GET /journal`. */
export type JournalEntry = Outcome & {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly address: string;
  /** The mock's clock when handling began, with fractions. */
  readonly at_ms: number;
  user: string | null;
  /** Null while no answer has been sent; 0 where none will be. */
  status: number | null;
  /**
   * The shorter interval to the last write of the user and of the address; null for the first one,
   * and for other endpoints.
   */
  gap_ms: number | null;
  user_gap_ms: number | null;
  address_gap_ms: number | null;
  fault: string | null;
};

/** End of a request. */
type Outcome = {
  /** Duration of the answer, in real milliseconds. */
  ms: number | null;
  /**
   * Rules of the refusal, as `contract-references.ts` names them; for interface B the protocol's
   * error code.
   */
  rules: readonly string[];
  change: Change | null;
};

/** `lateMs`: by how much earlier it may have been, where the event loop was busy. */
type Arrival = { readonly arrivedAtMs: number; readonly lateMs: number };

const MAX_ENTRIES = 20_000;
const NO_RULES: readonly string[] = [];

/** Requests in order of arrival. Bounded: the oldest entries are dropped first. */
export class Journal {
  #entries: JournalEntry[] = [];
  #nextId = 1;
  #dropped = false;
  /** Newest exchanges, in order of completion. */
  readonly #exchanges = new Map<number, Exchange>();
  readonly #maxBytes: number;
  #exchangeBytes = 0;
  /** Size of all paths; other texts are short. */
  #pathLength = 0;
  /** Answered entries whose bodies are still arriving. */
  readonly #awaited = new Set<Promise<void>>();
  readonly #lateMs = new WeakMap<JournalEntry, number>();
  readonly #lastByAddress = new Map<string, number>();
  readonly #lastByUser = new Map<string, number>();

  /** @param maxBytes limit of kept headers, bodies and paths */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Opens an entry.
   * @param recorded false for measured requests that are not kept, such as those of the control
   * interface
   */
  open(
    request: { method: string; path: string; address: string; atMs: number },
    recorded: boolean,
  ): JournalEntry {
    const entry: JournalEntry = {
      id: recorded ? this.#nextId++ : 0,
      method: request.method,
      path: request.path,
      address: request.address,
      at_ms: request.atMs,
      user: null,
      status: null,
      gap_ms: null,
      user_gap_ms: null,
      address_gap_ms: null,
      ms: null,
      fault: null,
      rules: NO_RULES,
      change: null,
    };
    if (!recorded) return entry;
    this.#entries.push(entry);
    this.#pathLength += entry.path.length;
    // Dropped in blocks, so that a full journal costs nothing per request.
    if (this.#entries.length >= MAX_ENTRIES * 1.1) this.#trimTo(MAX_ENTRIES);
    while (this.#pathLength > this.#maxBytes && this.#entries.length > 1)
      this.#trimTo(Math.ceil(this.#entries.length * 0.9));
    return entry;
  }

  #trimTo(count: number): void {
    const dropped = this.#entries.splice(0, this.#entries.length - count);
    for (const { path } of dropped) this.#pathLength -= path.length;
    this.#dropped = true;
  }

  /**
   * Completes an entry.
   * @param body resolves when the request's body has arrived, where it is answered before
   */
  close(
    entry: JournalEntry,
    outcome: Outcome,
    exchange: () => Exchange,
    body?: Promise<void>,
  ): void {
    Object.assign(entry, outcome, outcome.rules.length === 0 ? { rules: NO_RULES } : {});
    if (entry.id === 0) return;
    if (body === undefined) {
      this.#keep(entry.id, exchange());
      return;
    }
    const closing = body.then(() => this.#keep(entry.id, exchange()));
    this.#awaited.add(closing);
    void closing.finally(() => this.#awaited.delete(closing));
  }

  #keep(entryId: number, exchange: Exchange): void {
    this.#exchanges.set(entryId, exchange);
    this.#exchangeBytes += estimateSize(exchange);
    for (const [id, oldest] of this.#exchanges) {
      if (this.#exchangeBytes <= this.#maxBytes) break;
      this.#exchanges.delete(id);
      this.#exchangeBytes -= estimateSize(oldest);
    }
  }

  /** Resolves when the bodies of all answered requests have arrived. */
  async waitUntilSettled(): Promise<void> {
    await Promise.all(this.#awaited);
  }

  /** Returns one entry with its headers and the beginning of its bodies, while they are kept. */
  viewWhole(id: number): unknown {
    const entry = this.#entries.find((candidate) => candidate.id === id);
    if (entry === undefined) return undefined;
    const exchange = this.#exchanges.get(id);
    return {
      ...entry,
      rules: entry.rules.map(viewRule),
      request: exchange === undefined ? null : viewMessage(exchange.request),
      answer: exchange?.answer === undefined ? null : viewMessage(exchange.answer),
    };
  }

  /**
   * Tells if entries were dropped since the journal was last cleared: a missing request may have
   * been made.
   */
  get hasDropped(): boolean {
    return this.#dropped || this.#entries.length > MAX_ENTRIES;
  }

  /** Returns the headers and the beginning of the bodies, while they are kept. */
  getExchange(id: number): Exchange | undefined {
    return this.#exchanges.get(id);
  }

  /**
   * Sets the interval since the address's last write request, by a clock that never runs backwards.
   */
  measureAddress(entry: JournalEntry, arrival: Arrival): void {
    this.#lateMs.set(entry, arrival.lateMs);
    entry.address_gap_ms = getIntervalSince(this.#lastByAddress, entry.address, arrival);
    entry.gap_ms = entry.address_gap_ms;
  }

  /** Returns how much earlier a write request may have arrived than its `at_ms` says. */
  getLateMs(entry: JournalEntry): number {
    return this.#lateMs.get(entry) ?? 0;
  }

  /** Sets the interval of the user, once known. */
  attributeToUser(entry: JournalEntry, user: string, arrival: Arrival): void {
    entry.user = user;
    entry.user_gap_ms = getIntervalSince(this.#lastByUser, user, arrival);
    const gaps = [entry.user_gap_ms, entry.address_gap_ms].filter((gap) => gap !== null);
    entry.gap_ms = gaps.length === 0 ? null : Math.min(...gaps);
  }

  listEntries(after = 0): readonly JournalEntry[] {
    return this.#entries.filter((entry) => entry.id > after).slice(-MAX_ENTRIES);
  }

  /** Returns the oldest kept entry; the next one in an empty journal. */
  get oldestId(): number {
    return this.#entries.at(-MAX_ENTRIES)?.id ?? this.#entries[0]?.id ?? this.#nextId;
  }

  get size(): number {
    return Math.min(this.#entries.length, MAX_ENTRIES);
  }

  /** Removes entries and intervals; ids continue. */
  clear(): void {
    this.#entries = [];
    this.#pathLength = 0;
    this.#dropped = false;
    this.#exchanges.clear();
    this.#exchangeBytes = 0;
    this.#lastByAddress.clear();
    this.#lastByUser.clear();
  }
}

/** Returns the longest possible interval, as the throttle counts. */
function getIntervalSince(
  last: Map<string, number>,
  key: string,
  { arrivedAtMs, lateMs }: Arrival,
): number | null {
  const before = last.get(key);
  if (last.size > MAX_ENTRIES) last.clear();
  last.set(key, arrivedAtMs - lateMs);
  return before === undefined ? null : arrivedAtMs - before;
}
