import type { Exchange, HttpRequest } from '../../src/service/http/exchange.ts';
import { answer, OAI_BASE, oaiError, oaiXml } from './scripted-oai.ts';

type Kept = { label: string; datestampMs: number; deleted: boolean };

export type RepositoryHabits = {
  /** Deployed services begin with the newest, many others with the oldest. */
  order: 'newest-first' | 'oldest-first';
  /**
   * Form of the last page: with an empty token, without any, or with a token that leads to an empty
   * page.
   */
  end: 'empty-token' | 'no-token' | 'empty-page';
  pageSize: number;
  /** Tells if it states the length of the list, which is optional. */
  counts: boolean;
};

const SET = 'heslo:predmet_druh';

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
  readonly #records = new Map<string, Kept>();
  readonly #tokens = new Map<
    string,
    { readonly fromMs: number; readonly untilMs: number; readonly offset: number }
  >();
  #tokensGiven = 0;

  constructor(habits: Partial<RepositoryHabits> = {}) {
    this.habits = {
      order: 'newest-first',
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
    if (this.#records.has(ident)) this.#change(ident, { label: '', deleted: true });
  }

  /** As a service does that is restored from a copy: the record has its old datestamp. */
  putBack(ident: string, label: string, datestampMs: number): void {
    this.#records.set(ident, { label, deleted: false, datestampMs });
  }

  /** Not as the protocol has it: the record is gone without a trace. */
  forget(ident: string): void {
    this.#records.delete(ident);
  }

  expireTokens(): void {
    this.#tokens.clear();
  }

  /** Identifier to label of what is alive. */
  alive(): Map<string, string> {
    return new Map(
      [...this.#records]
        .filter(([, { deleted }]) => !deleted)
        .map(([ident, { label }]) => [ident, label]),
    );
  }

  readonly exchange: Exchange = async (request) => {
    this.beforeAnswer(request);
    this.nowMs += 1000;
    const query = new URL(request.url).searchParams;
    this.requests.push(query.toString());
    return answer(this.#answer(query));
  };

  #change(ident: string, change: { readonly label: string; readonly deleted: boolean }): void {
    this.nowMs += 1000;
    this.#records.set(ident, { ...change, datestampMs: this.nowMs });
  }

  #answer(query: URLSearchParams): string {
    const responseDate = this.#seconds(this.nowMs + this.aheadMs);
    switch (query.get('verb')) {
      case 'Identify':
        return oaiXml('<Identify><granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>', {
          responseDate,
        });
      case 'ListSets':
        return oaiXml(`<ListSets><set><setSpec>${SET}</setSpec></set></ListSets>`, {
          responseDate,
        });
      case 'GetRecord': {
        const ident = query.get('identifier')?.split('/').at(-1) ?? '';
        const keptRecord = this.#records.get(ident);
        if (keptRecord === undefined) return oaiError('idDoesNotExist');
        return oaiXml(`<GetRecord>${this.#record(ident, keptRecord)}</GetRecord>`, {
          responseDate,
        });
      }
      default:
        return this.#list(query, responseDate);
    }
  }

  #list(query: URLSearchParams, responseDate: string): string {
    const token = query.get('resumptionToken');
    const askedWindow = {
      fromMs: Date.parse(query.get('from') ?? '1970-01-01'),
      untilMs: Date.parse(query.get('until') ?? '2100-01-01'),
    };
    const listState = token === null ? { ...askedWindow, offset: 0 } : this.#tokens.get(token);
    if (listState === undefined) return oaiError('badResumptionToken');
    const { fromMs, untilMs, offset } = listState;
    const sign = this.habits.order === 'newest-first' ? -1 : 1;
    const all = [...this.#records]
      .filter(([, { datestampMs }]) => datestampMs >= fromMs && datestampMs <= untilMs)
      .sort(
        ([a, { datestampMs: x }], [b, { datestampMs: y }]) => sign * (x - y) || a.localeCompare(b),
      );
    if (all.length === 0) return oaiXml('<error code="noRecordsMatch"/>', { responseDate });
    const page = all.slice(offset, offset + this.habits.pageSize);
    const next = this.#next(
      all.length,
      { fromMs, untilMs, offset: offset + page.length },
      page.length,
    );
    const verb = query.get('verb') ?? '';
    return oaiXml(
      `<${verb}>${page.map(([ident, keptRecord]) => this.#record(ident, keptRecord)).join('')}${next}</${verb}>`,
      {
        responseDate,
      },
    );
  }

  #next(
    total: number,
    rest: { fromMs: number; untilMs: number; offset: number },
    onPage: number,
  ): string {
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

  #record(ident: string, { label, datestampMs, deleted }: Kept): string {
    const header = `<header${deleted ? ' status="deleted"' : ''}><identifier>${OAI_BASE}/id/${ident}</identifier><datestamp>${this.#seconds(datestampMs)}</datestamp>${deleted ? '' : `<setSpec>${SET}</setSpec>`}</header>`;
    const metadata = `<metadata><svc xmlns="urn:svc/2.2/"><heslo><ident_cely>${ident}</ident_cely><nazev_heslare>predmet_druh</nazev_heslare><heslo>${label}</heslo></heslo></svc></metadata>`;
    return `<record>${header}${deleted ? '' : metadata}</record>`;
  }

  #seconds(ms: number): string {
    return `${new Date(ms).toISOString().slice(0, 19)}Z`;
  }
}
