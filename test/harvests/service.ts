import type { Random } from '../support/random.ts';
import { FakeRepository } from '../unit/harvest/fake-repository.ts';
import { ident } from '../unit/harvest/term-repository.ts';

/** The faults of a list; `right` shows it as it is. */
export const TROUBLES = [
  'right',
  'empty',
  'partial',
  'shrinking',
  'growing',
  'reordered',
  'tokens',
  'clock',
] as const;
export type Trouble = (typeof TROUBLES)[number];

const ORDERS = ['newest-first', 'by-name', 'oldest-first'] as const;

/** A repository whose list may show less than there is. */
export class ListService extends FakeRepository {
  readonly #random: Random;
  #trouble: Trouble = 'right';
  #hidden = new Set<string>();
  #order: readonly string[] = [];
  #made = 0;
  #written = 0;

  constructor(random: Random) {
    const pageSize = random.between(1, 40);
    const order = ORDERS[pageSize % ORDERS.length];
    super({ pageSize, order, end: 'empty-token', byDay: random.chance(0.3) });
    this.#random = random;
    this.beforeAnswer = ({ url }) => {
      if (/verb=List(?:Rec|Id)/.test(url)) this.#move();
    };
  }

  make(count: number): void {
    for (let nth = 0; nth < count; nth++) this.#write(ident(++this.#made));
  }

  editOne(): void {
    if (this.size > 0) this.#write(this.#random.pick([...this.records.keys()]));
  }

  /** @returns the identifier of the record, undefined where there is none */
  removeOne(): string | undefined {
    if (this.size === 0) return undefined;
    const removed = this.#random.pick([...this.records.keys()]);
    this.remove(removed);
    return removed;
  }

  /** For good, without a trace. */
  erase(count: number): void {
    for (const each of this.#shuffled().slice(0, count)) this.forget(each);
  }

  get size(): number {
    return this.records.size;
  }

  begin(trouble: Trouble): void {
    const random = this.#random;
    this.#trouble = trouble;
    this.aheadMs = trouble === 'clock' ? random.pick([86_400_000, 7_200_000, -3 * 3_600_000]) : 0;
    const all = this.#shuffled();
    const share = { empty: 1, partial: random.next(), growing: 1 }[trouble as string] ?? 0;
    this.#hidden = new Set(
      all.slice(0, trouble === 'shrinking' ? 1 : Math.ceil(all.length * share)),
    );
    this.#order = all;
  }

  /** Length of the list as it is shown now. */
  get shownSize(): number {
    return this.listed(0, Number.POSITIVE_INFINITY).length;
  }

  protected override shows(name: string): boolean {
    return !this.#hidden.has(name);
  }

  protected override listed(fromMs: number, untilMs: number): string[] {
    const listed = super.listed(fromMs, untilMs);
    if (this.#trouble !== 'reordered') return listed;
    const place = new Map(this.#order.map((name, index) => [name, index]));
    return listed.sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
  }

  /** Changes of a list while it is read. */
  #move(): void {
    const some = this.#random.between(1, 8);
    // No index is rebuilt while a run goes on: one record stays hidden.
    if (this.#trouble === 'growing')
      for (const name of [...this.#hidden].slice(1, some)) this.#hidden.delete(name);
    if (this.#trouble === 'shrinking')
      for (const name of this.#shuffled().slice(0, some)) this.#hidden.add(name);
    if (this.#trouble === 'reordered' && this.#random.chance(0.3)) this.#order = this.#shuffled();
    if (this.#trouble === 'tokens' && this.#random.chance(0.3)) this.expireTokens();
  }

  #write(name: string): void {
    this.put(name, `text ${++this.#written}`);
  }

  #shuffled(): string[] {
    return [...this.records.keys()]
      .map((name) => ({ name, key: this.#random.next() }))
      .sort((a, b) => a.key - b.key)
      .map(({ name }) => name);
  }
}
