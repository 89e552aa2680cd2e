import { OaiError } from '../../../src/base/errors.ts';
import type { ListPage } from '../../../src/harvest/client.ts';
import {
  type OaiArguments,
  type OaiRecord,
  parseDatestampMs,
} from '../../../src/harvest/protocol.ts';

export type Order = 'newest first' | 'oldest first' | 'by name';

type Kept = { readonly stampMs: number; readonly text: string };

/**
 * A list of records by offsets, counted again for each page, that anything may happen to between
 * two answers.
 */
export class PlayedList {
  nowMs = Date.UTC(2025, 5, 1, 12);
  order: Order = 'newest first';
  pageSize = 3;
  readonly counts: boolean;
  /** Called before each answer. */
  beforeAnswer: () => void = () => {};
  answers = 0;
  readonly #kept = new Map<string, Kept>();
  readonly #removed = new Map<string, Kept>();
  readonly #tokens = new Map<string, { readonly given: OaiArguments; readonly offset: number }>();
  #versions = 0;
  /** As the list was asked for first: the whole of it. */
  #whole: OaiArguments | undefined;
  /** Changes since the whole list was last counted: a removal and an addition cancel out. */
  #unseen: 'left' | 'came back' | undefined;

  constructor(counts: boolean) {
    this.counts = counts;
  }

  edit(name: string): void {
    if (this.#whole?.until !== undefined && this.#kept.has(name) && !this.#notes('left')) return;
    this.#removed.delete(name);
    this.#kept.set(name, { stampMs: this.nowMs, text: `${name}, ${++this.#versions}` });
  }

  /**
   * Puts an old one to another place among the old ones and changes nothing else of it: no list of
   * changes tells of it. One that was edited meanwhile stays, since coming back with an old
   * datestamp while another goes leaves no sign in a list.
   */
  backdate(name: string, agoMs: number): void {
    const keptRecord = this.#kept.get(name);
    if (keptRecord !== undefined && keptRecord.stampMs <= this.nowMs - agoMs / 2)
      this.#kept.set(name, { ...keptRecord, stampMs: this.nowMs - agoMs });
  }

  /** For good, without a trace. */
  remove(name: string): void {
    const keptRecord = this.#kept.get(name);
    if (keptRecord === undefined || !this.#notes('left')) return;
    this.#removed.set(name, keptRecord);
    this.#kept.delete(name);
  }

  /** As it was before it was removed. */
  restore(name: string): void {
    const removed = this.#removed.get(name);
    if (removed === undefined || !this.#notes('came back')) return;
    this.#kept.set(name, removed);
    this.#removed.delete(name);
  }

  #notes(what: 'left' | 'came back'): boolean {
    this.#unseen ??= what;
    return this.#unseen === what;
  }

  expireTokens(): void {
    this.#tokens.clear();
  }

  /** Name to text of what the window holds, in the list's order. */
  listed({ from, until }: OaiArguments = {}): [string, string][] {
    const fromMs = parseDatestampMs(from ?? '') ?? Number.NEGATIVE_INFINITY;
    const untilMs = parseDatestampMs(until ?? '') ?? Number.POSITIVE_INFINITY;
    const within = [...this.#kept].filter(
      ([, { stampMs }]) => stampMs >= fromMs && stampMs <= untilMs,
    );
    const byName = within.sort(([a], [b]) => a.localeCompare(b));
    const sign = { 'newest first': -1, 'oldest first': 1, 'by name': 0 }[this.order];
    return byName
      .sort(([, a], [, b]) => sign * (a.stampMs - b.stampMs))
      .map(([name, { text }]) => [name, text]);
  }

  readonly listRecords = async (args: OaiArguments): Promise<ListPage<OaiRecord>> => {
    this.beforeAnswer();
    this.answers++;
    this.nowMs += 1000;
    const token = args.resumptionToken;
    const place = token === undefined ? { given: args, offset: 0 } : this.#tokens.get(token);
    if (place === undefined) throw new OaiError('badResumptionToken', 'expired');
    this.#whole ??= place.given;
    if (place.given.from === this.#whole.from && place.given.until === this.#whole.until)
      this.#unseen = undefined;
    const all = this.listed(place.given);
    const names = all.slice(place.offset, place.offset + this.pageSize).map(([name]) => name);
    const offset = place.offset + names.length;
    const goesOn = offset < all.length;
    const next = `T${this.#tokens.size} ${this.answers}`;
    if (goesOn) this.#tokens.set(next, { given: place.given, offset });
    return {
      ...this.#page(names),
      next: goesOn ? next : undefined,
      completeListSize: this.counts ? all.length : undefined,
    };
  };

  #page(names: readonly string[]): ListPage<OaiRecord> {
    let bytes = Buffer.alloc(0);
    const items = names.map((name): OaiRecord => {
      const { stampMs, text } = this.#kept.get(name) ?? { stampMs: 0, text: '' };
      const start = bytes.length;
      bytes = Buffer.concat([bytes, Buffer.from(text)]);
      const datestamp = new Date(stampMs).toISOString();
      return {
        header: { identifier: name, datestamp, datestampMs: stampMs, setSpecs: [], deleted: false },
        metadata: ELEMENT,
        refused: false,
        element: { ...ELEMENT, start, end: bytes.length, text },
      };
    });
    return {
      items,
      next: undefined,
      completeListSize: undefined,
      cursor: undefined,
      tokenExpiresMs: undefined,
      responseDateMs: Math.floor(this.nowMs / 1000) * 1000,
      document: { root: ELEMENT, bytes },
    };
  }
}

const ELEMENT = {
  namespace: '',
  name: 'record',
  attributes: [],
  children: [],
  text: '',
  start: 0,
  end: 0,
};
