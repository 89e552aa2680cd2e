import type { Random } from '../chaos/random.ts';
import { listAll, pagesOf, recordsOf } from '../support/raw-harvest.ts';
import type { TestMock } from '../support/start-mock.ts';

/** What a reader is shown: by identifier one text of each record's content, or that it is refused. Deleted records are not in it. */
export type Shown = ReadonlyMap<string, string>;
export const REFUSED = 'refused';

/** The list that a story is about, with the child whose text tells versions of a record apart. */
export const LISTS = {
  osoba: { entity: 'osoba', text: 'vypis_cely', reader: undefined },
  samostatny_nalez: { entity: 'samostatny_nalez', text: 'poznamka', reader: 'archaeologist' },
} as const;
export type ListName = keyof typeof LISTS;

type ActName =
  | 'edit'
  | 'edit-old'
  | 'make'
  | 'delete'
  | 'erase'
  | 'restore'
  | 'restore-old'
  | 'rights'
  | 'time'
  | 'page-size'
  | 'index'
  | 'clock';

/** How often each is played; `untold`: no list of changes tells of it, only reading all again does. */
const ACTS: Readonly<Record<ActName, { readonly weight: number; readonly untold: boolean }>> = {
  edit: { weight: 8, untold: false },
  'edit-old': { weight: 1, untold: true },
  make: { weight: 3, untold: false },
  delete: { weight: 3, untold: false },
  erase: { weight: 2, untold: true },
  restore: { weight: 2, untold: false },
  'restore-old': { weight: 1, untold: true },
  rights: { weight: 1, untold: false },
  time: { weight: 2, untold: false },
  'page-size': { weight: 2, untold: false },
  index: { weight: 1, untold: false },
  clock: { weight: 1, untold: false },
};
const DRAWN = Object.entries(ACTS).flatMap(([name, { weight }]) => Array.from({ length: weight }, () => name as ActName));

const START = '2031-01-01T00:00:00Z';
const YEAR_MS = 365 * 86_400_000;
const EVERYTHING = 10_000;

/** The mock's side of a story: its list, how it changes, and what it shows at any moment. */
export class StoryService {
  readonly #mock: TestMock;
  readonly #random: Random;
  readonly list: ListName;
  #pageSize = 5;
  #role = 'archaeologist';
  #made = 0;
  #nowMs = Date.parse(START);
  #settledMs = 0;
  #shownMs = 0;
  #indexDelays: readonly number[] = [0];
  #clockShifts: readonly number[] = [];
  readonly #idents: string[] = [];

  constructor(mock: TestMock, random: Random, list: ListName) {
    this.#mock = mock;
    this.#random = random;
    this.list = list;
  }

  /** As new, with a few records and time that moves only when it is told to. */
  async begin(): Promise<void> {
    await this.#mock.reset();
    await this.#control('POST', '/clock', { set: START, frozen: true });
    const all = await listAll(this.#mock, `verb=ListIdentifiers&metadataPrefix=oai_dc&set=${this.list}`, { as: 'archivist' });
    const kept = this.#random.between(3, 14);
    for (const [index, { ident }] of all.entries()) {
      if (index >= kept) await this.#control('POST', `/records/${ident}/delete`, { permanent: true });
      else this.#idents.push(ident);
    }
    await this.act('page-size');
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Of the reader. */
  get role(): string {
    return this.#role;
  }

  get oaiBase(): string {
    return this.#mock.server.oai_base;
  }

  /** When all that happened so far is visible. */
  get settledMs(): number {
    return this.#settledMs;
  }

  async advance(ms: number): Promise<void> {
    this.#nowMs += ms;
    await this.#control('POST', '/clock', { advance_ms: ms });
  }

  /** @returns whether no list of changes tells of what happened */
  async act(name: ActName = this.#random.pick(DRAWN)): Promise<boolean> {
    await this.#play(name);
    this.#settledMs = Math.max(this.#settledMs, this.#nowMs + Math.max(...this.#indexDelays));
    return ACTS[name].untold;
  }

  /** Whether some answers say a time that has not come yet. */
  get isAhead(): boolean {
    return this.#clockShifts.some((shiftMs) => shiftMs > 0);
  }

  /** Whether the list may have changed by the passing of time since it was last shown. */
  get isUnsettled(): boolean {
    return this.#shownMs <= this.#settledMs;
  }

  /** One request meets this fault. */
  async spoil(fault: string): Promise<void> {
    await this.#control('PUT', '/faults', [{ endpoint: 'oai', fault, times: 1 }]);
  }

  async unspoil(): Promise<void> {
    await this.#control('DELETE', '/faults');
  }

  /** Nothing changes any more, and all is visible. */
  async comeToRest(): Promise<void> {
    this.#indexDelays = [0];
    this.#clockShifts = [];
    await this.#control('PUT', '/settings', { index_delay_ms: 0, response_date_shifts_ms: [] });
    await this.advance(20 * 60_000);
  }

  /** What the list shows now, read without a line of the client's code. */
  async shown(version: string): Promise<Shown> {
    const { text, reader } = LISTS[this.list];
    this.#shownMs = this.#nowMs;
    await this.#control('PUT', '/settings', { page_size: EVERYTHING });
    const as = reader === undefined ? {} : { as: reader };
    const pages = await pagesOf(this.#mock, `verb=ListRecords&metadataPrefix=oai_svc&set=${this.list}`, { version, ...as });
    await this.#control('PUT', '/settings', { page_size: this.#pageSize });
    const found = pages.flatMap((page) => [...recordsOf(page)]).filter(([, xml]) => xml.includes('<metadata>'));
    // Histories and files have notes of their own.
    const content = new RegExp(`^(?:(?!<svc:historie>).)*?<svc:${text}>([^<]*)<`, 's');
    return new Map(
      found.map(([ident, xml]) => [
        ident,
        /<svc:svc[^>]*>HTTP\/1\.1 403 Forbidden</.test(xml) ? REFUSED : (content.exec(xml)?.[1] ?? ''),
      ]),
    );
  }

  async #play(name: ActName): Promise<void> {
    const random = this.#random;
    const ident = this.#idents.length === 0 ? 'OS-000001' : random.pick(this.#idents);
    const { text, reader, entity } = LISTS[this.list];
    const old = { datestamp: this.#nowMs - random.between(1, YEAR_MS) };
    const edited = { ident, changes: { [text]: `verze ${++this.#made}` } };
    switch (name) {
      case 'edit':
        return this.#control('POST', '/records', edited);
      case 'edit-old':
        return this.#control('POST', '/records', { ...edited, ...old });
      case 'make': {
        if (entity !== 'osoba') return this.#control('POST', '/records', edited);
        const made = `OS-${990_000 + ++this.#made}`;
        this.#idents.push(made);
        const body = { ident_cely: made, jmeno: 'Eva', prijmeni: 'Nová', vypis: 'Nová, E.', vypis_cely: `Nová, Eva ${made}` };
        return this.#control('POST', '/records', { entity, body });
      }
      case 'delete':
        return this.#control('POST', `/records/${ident}/delete`);
      case 'erase':
        return this.#control('POST', `/records/${ident}/delete`, { permanent: true });
      case 'restore':
        return this.#control('POST', `/records/${ident}/restore`);
      case 'restore-old':
        return this.#control('POST', `/records/${ident}/restore`, old);
      case 'rights':
        if (reader === undefined) return this.#control('POST', '/records', edited);
        this.#role = random.pick(['researcher', 'archaeologist', 'archivist']);
        return this.#control('PUT', `/accounts/${reader}`, { role: this.#role });
      case 'time':
        return this.advance(random.pick([60_000, 3 * 60_000, 3_600_000, 5 * 3_600_000]));
      case 'page-size':
        this.#pageSize = random.between(1, 8);
        return this.#control('PUT', '/settings', { page_size: this.#pageSize });
      case 'index':
        this.#indexDelays = random.pick([[0], [20_000], [240_000], [180_000, 0, 5000]]);
        return this.#control('PUT', '/settings', { index_delay_ms: this.#indexDelays });
      case 'clock': {
        this.#clockShifts = random.pick([[], [86_400_000], [0, 0, 7_200_000], [-3_600_000], [7_200_000, -7_200_000, 0]]);
        return this.#control('PUT', '/settings', { response_date_shifts_ms: this.#clockShifts });
      }
    }
  }

  /** What cannot be done, such as editing a record that is gone, is simply not done. */
  async #control(...request: Parameters<TestMock['control']>): Promise<void> {
    const { status, value } = await this.#mock.control(...request);
    if (status !== 200 && status !== 404) throw new Error(`${request.join(' ')}: ${JSON.stringify(value)}`);
  }
}
