import type { Exchange, HttpRequest } from '../../../src/service/http/exchange.ts';
import { answer, OAI_BASE, oaiError, oaiXml } from '../../support/scripted-oai.ts';

type Kept = { readonly label: string; readonly datestampMs: number; readonly deleted: boolean };
type Place = { readonly fromMs: number; readonly untilMs: number; readonly offset: number };

export type RepositoryHabits = {
  /** Deployed services begin with the newest, many others with the oldest. */
  order: 'newest-first' | 'oldest-first' | 'by-name';
  /** Datestamps are days, not seconds, as Identify says. */
  byDay: boolean;
  /**
   * Form of the last page: with an empty token, without any, or with a token that leads to an empty
   * page.
   */
  end: 'empty-token' | 'no-token' | 'empty-page';
  pageSize: number;
  /** Tells if it states the length of the list, which is optional. */
  counts: boolean;
};

export const SET = 'heslo:predmet_druh';

/** A service that answers what is asked beside its list, and `list` for that. */
export function serviceOfList(list: (query: URLSearchParams) => string): Exchange {
  return async ({ url }) => {
    const query = new URL(url).searchParams;
    if (query.get('verb') === 'Identify') return answer(oaiXml('<Identify/>'));
    if (query.get('verb') === 'ListSets')
      return answer(oaiXml(`<ListSets><set><setSpec>${SET}</setSpec></set></ListSets>`));
    return answer(list(query));
  };
}

/**
 * A harvesting interface in memory, with one set. Like real ones it counts its list again for every
 * page, so that records slip from page to page while they change.
 */
export class FakeRepository {
  readonly habits: RepositoryHabits;
  readonly requests: string[] = [];
  /** Called before each request is answered. */
  beforeAnswer: (request: HttpRequest) => void = () => {};
  nowMs = Date.UTC(2025, 5, 1);
  /** By how much the clock is ahead that the answers are stamped with. */
  aheadMs = 0;
  protected readonly records = new Map<string, Kept>();
  readonly #tokens = new Map<string, Place>();
  #tokensGiven = 0;

  constructor(habits: Partial<RepositoryHabits> = {}) {
    this.habits = {
      order: 'newest-first',
      byDay: false,
      end: 'empty-page',
      pageSize: 3,
      counts: true,
      ...habits,
    };
  }

  put(ident: string, label: string): void {
    this.#change(ident, { label, deleted: false });
  }

  remove(ident: string): void {
    if (this.records.has(ident)) this.#change(ident, { label: '', deleted: true });
  }

  /** As a service does that is restored from a copy: the record has its old datestamp. */
  putBack(ident: string, label: string, datestampMs: number): void {
    this.records.set(ident, { label, deleted: false, datestampMs });
  }

  /** Not as the protocol has it: the record is gone without a trace. */
  forget(ident: string): void {
    this.records.delete(ident);
  }

  expireTokens(): void {
    this.#tokens.clear();
  }

  /** Identifier to label of what is alive. */
  alive(): Map<string, string> {
    return new Map(
      [...this.records]
        .filter(([, { deleted }]) => !deleted)
        .map(([ident, { label }]) => [ident, label]),
    );
  }

  readonly exchange: Exchange = async (request) => {
    this.beforeAnswer(request);
    this.nowMs += 1000;
    const query = new URL(request.url).searchParams;
    this.requests.push(query.toString());
    const responseDate = formatSeconds(this.nowMs + this.aheadMs);
    return answer(
      this.#answer(query).replace(/<responseDate>.*?</, `<responseDate>${responseDate}<`),
    );
  };

  /** Tells if a record that there is can be seen. */
  protected shows(_ident: string): boolean {
    return true;
  }

  /** Records of a window, in the order of the list. */
  protected listed(fromMs: number, untilMs: number): string[] {
    const sign = { 'newest-first': -1, 'oldest-first': 1, 'by-name': 0 }[this.habits.order];
    return [...this.records]
      .filter(([ident, { datestampMs }]) => {
        const shownMs = Date.parse(this.#stamp(datestampMs));
        return this.shows(ident) && shownMs >= fromMs && shownMs <= untilMs;
      })
      .sort(
        ([a, { datestampMs: x }], [b, { datestampMs: y }]) => sign * (x - y) || a.localeCompare(b),
      )
      .map(([ident]) => ident);
  }

  #change(ident: string, change: { readonly label: string; readonly deleted: boolean }): void {
    this.nowMs += 1000;
    this.records.set(ident, { ...change, datestampMs: this.nowMs });
  }

  #answer(query: URLSearchParams): string {
    switch (query.get('verb')) {
      case 'Identify':
        return oaiXml(`<Identify><granularity>${this.#granularity()}</granularity></Identify>`);
      case 'ListSets':
        return oaiXml(`<ListSets><set><setSpec>${SET}</setSpec></set></ListSets>`);
      case 'GetRecord': {
        const ident = query.get('identifier')?.split('/').at(-1) ?? '';
        return this.records.has(ident) && this.shows(ident)
          ? oaiXml(`<GetRecord>${this.#record(ident)}</GetRecord>`)
          : oaiError('idDoesNotExist');
      }
      default:
        return this.#list(query);
    }
  }

  #list(query: URLSearchParams): string {
    const token = query.get('resumptionToken');
    const place =
      token === null
        ? {
            fromMs: Date.parse(query.get('from') ?? '1970-01-01'),
            untilMs: Date.parse(query.get('until') ?? '2100-01-01'),
            offset: 0,
          }
        : this.#tokens.get(token);
    if (place === undefined) return oaiError('badResumptionToken');
    const all = this.listed(place.fromMs, place.untilMs);
    if (all.length === 0) return oaiError('noRecordsMatch');
    const page = all.slice(place.offset, place.offset + this.habits.pageSize);
    const rest = { ...place, offset: place.offset + page.length };
    const records = page.map((ident) => this.#record(ident)).join('');
    const verb = query.get('verb');
    return oaiXml(`<${verb}>${records}${this.#next(all.length, rest, page.length)}</${verb}>`);
  }

  #next(total: number, rest: Place, onPage: number): string {
    const { offset } = rest;
    const attributes = this.habits.counts
      ? ` completeListSize="${total}" cursor="${offset - onPage}"`
      : '';
    const goesOn =
      offset < total ||
      (this.habits.end === 'empty-page' && onPage > 0 && total > this.habits.pageSize);
    if (!goesOn) return this.habits.end === 'empty-token' ? `<resumptionToken${attributes}/>` : '';
    const token = `T${++this.#tokensGiven}`;
    this.#tokens.set(token, rest);
    return `<resumptionToken${attributes}>${token}</resumptionToken>`;
  }

  #record(ident: string): string {
    const { label, datestampMs, deleted } = this.records.get(ident) as Kept;
    const header = `<identifier>${OAI_BASE}/id/${ident}</identifier><datestamp>${this.#stamp(datestampMs)}</datestamp>`;
    if (deleted) return `<record><header status="deleted">${header}</header></record>`;
    const metadata = `<metadata><svc xmlns="urn:svc/2.2/"><heslo><ident_cely>${ident}</ident_cely><nazev_heslare>predmet_druh</nazev_heslare><heslo>${label}</heslo></heslo></svc></metadata>`;
    return `<record><header>${header}<setSpec>${SET}</setSpec></header>${metadata}</record>`;
  }

  #granularity(): string {
    return this.habits.byDay ? 'YYYY-MM-DD' : 'YYYY-MM-DDThh:mm:ssZ';
  }

  #stamp(ms: number): string {
    return this.habits.byDay ? formatSeconds(ms).slice(0, 10) : formatSeconds(ms);
  }
}

function formatSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
