import type { Exchange } from '../../src/service/http/exchange.ts';
import type { Random } from '../support/random.ts';
import { answer, OAI_BASE, oaiError, oaiXml } from '../support/scripted-oai.ts';

type Kept = { readonly text: string; readonly stampMs: number; readonly deleted: boolean };

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

export const SET = 'osoba';

/** A harvesting interface in memory with one counted list, which may show less than there is. */
export class ListService {
  nowMs = Date.UTC(2031, 0, 1, 5);
  shiftMs = 0;
  answers = 0;
  readonly #random: Random;
  readonly #pageSize: number;
  /** Order by datestamp: 1 oldest first, -1 newest first, 0 none. */
  readonly #ascent: number;
  readonly #isByDay: boolean;
  readonly #kept = new Map<string, Kept>();
  readonly #tokens = new Map<string, { readonly fromMs: number; readonly offset: number }>();
  #trouble: Trouble = 'right';
  #hidden = new Set<string>();
  #order: string[] = [];
  #made = 0;

  constructor(random: Random) {
    this.#random = random;
    this.#pageSize = random.between(1, 40);
    this.#ascent = (this.#pageSize % 3) - 1;
    this.#isByDay = random.chance(0.3);
  }

  make(count: number): void {
    for (let nth = 0; nth < count; nth++) this.#put(`OS-${100_000 + ++this.#made}`, false);
  }

  edit(): void {
    if (this.#kept.size > 0) this.#put(this.#random.pick([...this.#kept.keys()]), false);
  }

  /** @returns the identifier of the record, undefined where there is none */
  remove(): string | undefined {
    if (this.#kept.size === 0) return undefined;
    const ident = this.#random.pick([...this.#kept.keys()]);
    this.#put(ident, true);
    return ident;
  }

  /** For good, without a trace. */
  erase(count: number): void {
    for (const ident of this.#shuffled([...this.#kept.keys()]).slice(0, count))
      this.#kept.delete(ident);
  }

  get size(): number {
    return this.#kept.size;
  }

  begin(trouble: Trouble): void {
    const random = this.#random;
    this.#trouble = trouble;
    this.shiftMs = trouble === 'clock' ? random.pick([86_400_000, 7_200_000, -3 * 3_600_000]) : 0;
    const all = this.#shuffled([...this.#kept.keys()]);
    const share = { empty: 1, partial: random.next(), growing: 1 }[trouble as string] ?? 0;
    this.#hidden = new Set(
      all.slice(0, trouble === 'shrinking' ? 1 : Math.ceil(all.length * share)),
    );
    this.#order = all;
  }

  /** Identifier to text of what is alive. */
  alive(): Map<string, string> {
    return new Map(
      [...this.#kept]
        .filter(([, { deleted }]) => !deleted)
        .map(([ident, { text }]) => [ident, text]),
    );
  }

  /** Length of the list as it is shown now. */
  get shownSize(): number {
    return this.#listed(Number.NEGATIVE_INFINITY).length;
  }

  readonly exchange: Exchange = async ({ url }) => {
    this.answers += 1;
    this.nowMs += 1000;
    const query = new URL(url).searchParams;
    const verb = query.get('verb') ?? '';
    if (verb.startsWith('ListRec') || verb.startsWith('ListId')) this.#move();
    const answerText = this.#answer(verb, query);
    return answer(
      answerText.replace(
        /<responseDate>.*?</,
        `<responseDate>${stamp(this.nowMs + this.shiftMs)}<`,
      ),
    );
  };

  /** Changes of a list while it is read. */
  #move(): void {
    const idents = [...this.#kept.keys()];
    const some = this.#random.between(1, 8);
    // No index is rebuilt while a run goes on: one record stays hidden.
    if (this.#trouble === 'growing')
      for (const ident of [...this.#hidden].slice(1, some)) this.#hidden.delete(ident);
    if (this.#trouble === 'shrinking')
      for (const ident of this.#shuffled(idents).slice(0, some)) this.#hidden.add(ident);
    if (this.#trouble === 'reordered' && this.#random.chance(0.3))
      this.#order = this.#shuffled(idents);
    if (this.#trouble === 'tokens' && this.#random.chance(0.3)) this.#tokens.clear();
  }

  #answer(verb: string, query: URLSearchParams): string {
    if (verb === 'Identify')
      return oaiXml('<Identify><granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>');
    if (verb === 'ListSets')
      return oaiXml(`<ListSets><set><setSpec>${SET}</setSpec></set></ListSets>`);
    if (verb === 'GetRecord') {
      const ident = query.get('identifier')?.split('/').at(-1) ?? '';
      const isShown = this.#kept.has(ident) && !this.#hidden.has(ident);
      return isShown
        ? oaiXml(`<GetRecord>${this.#record(ident)}</GetRecord>`)
        : oaiError('idDoesNotExist');
    }
    const token = query.get('resumptionToken');
    const place =
      token === null
        ? { fromMs: Date.parse(query.get('from') ?? '1970-01-01'), offset: 0 }
        : this.#tokens.get(token);
    if (place === undefined) return oaiError('badResumptionToken');
    const listed = this.#listed(place.fromMs);
    if (listed.length === 0) return oaiError('noRecordsMatch');
    const page = listed.slice(place.offset, place.offset + this.#pageSize);
    const offset = place.offset + page.length;
    const next = offset < listed.length ? `T${this.answers}` : '';
    this.#tokens.set(next, { ...place, offset });
    const attributes = `completeListSize="${listed.length}" cursor="${place.offset}"`;
    const records = page.map((ident) => this.#record(ident)).join('');
    return oaiXml(
      `<${verb}>${records}<resumptionToken ${attributes}>${next}</resumptionToken></${verb}>`,
    );
  }

  /** Unless it is in disorder: newest first, oldest first or by identifier. */
  #listed(fromMs: number): string[] {
    const shown = [...this.#kept].filter(([ident]) => !this.#hidden.has(ident));
    const within = shown.filter(
      ([, { stampMs }]) => this.#shownStampMs(stampMs) >= Math.floor(fromMs / 1000) * 1000,
    );
    const place = new Map(this.#order.map((ident, index) => [ident, index]));
    const isMixed = this.#trouble === 'reordered';
    return within
      .sort(
        ([a, x], [b, y]) =>
          (isMixed
            ? (place.get(a) ?? 0) - (place.get(b) ?? 0)
            : this.#ascent * (x.stampMs - y.stampMs)) || a.localeCompare(b),
      )
      .map(([ident]) => ident);
  }

  #record(ident: string): string {
    const { text, stampMs, deleted } = this.#kept.get(ident) ?? {
      text: '',
      stampMs: 0,
      deleted: true,
    };
    const shownMs = this.#shownStampMs(stampMs);
    const datestamp = this.#isByDay ? stamp(shownMs).slice(0, 10) : stamp(shownMs);
    const header = `<identifier>${OAI_BASE}/id/${ident}</identifier><datestamp>${datestamp}</datestamp><setSpec>${SET}</setSpec>`;
    if (deleted) return `<record><header status="deleted">${header}</header></record>`;
    const names = '<jmeno>Eva</jmeno><prijmeni>Nová</prijmeni><vypis>Nová, E.</vypis>';
    const content = `<ident_cely>${ident}</ident_cely>${names}<vypis_cely>${text}</vypis_cely>`;
    const metadata = `<metadata><svc xmlns="urn:svc/2.2/"><${SET}>${content}</${SET}></svc></metadata>`;
    return `<record><header>${header}</header>${metadata}</record>`;
  }

  #shownStampMs(stampMs: number): number {
    return this.#isByDay ? stampMs - (stampMs % 86_400_000) : Math.floor(stampMs / 1000) * 1000;
  }

  #put(ident: string, deleted: boolean): void {
    this.nowMs += 1000;
    this.#kept.set(ident, {
      text: `Nová, Eva ${ident} ${++this.#made}`,
      stampMs: this.nowMs,
      deleted,
    });
  }

  #shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, key: this.#random.next() }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item);
  }
}

function stamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
