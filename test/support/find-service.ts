import { noWalls } from '../../src/flows/push/left-out.ts';
import { type PushToEnd, pushToEnd } from '../../src/flows/push/push-to-end.ts';
import { sha512Of } from '../../src/http/digest.ts';
import { type Exchange, type HttpRequest, type HttpResponse, NoAnswerError } from '../../src/http/exchange.ts';
import { makePace } from '../../src/http/pacer.ts';
import { openOaiClient } from '../../src/oai/client.ts';
import { REFUSAL } from '../../src/oai/record.ts';
import type { KnownAccount } from '../../src/outbox/accounts.ts';
import { addImport } from '../../src/outbox/entries.ts';
import { ENTRY_KINDS } from '../../src/outbox/entry.ts';
import type { ServiceOutbox } from '../../src/outbox/open-outbox.ts';
import { insertFind } from '../../src/outbox/stored-finds.ts';
import { EVA_SAID, serviceSaying } from './account-service.ts';
import type { ManualClock } from './manual-clock.ts';
import { memoryPaceStore } from './memory-pace-store.ts';
import { answer, OAI_BASE, oaiError, oaiXml } from './scripted-oai.ts';
import { newMachine } from './temp-outbox.ts';

/** Without a digest the service has changed its bytes. */
type StoredFile = { readonly name: string; readonly atMs: number; readonly sha512Hex?: string };
type Stored = {
  inner: string;
  madeMs: number;
  changedMs: number;
  user: string;
  number: string;
  files: StoredFile[];
  /** What is listed and not shown. */
  hidden?: 'withheld' | 'deleted';
};

/** What becomes of a write: done, done and answered with a failure, or not done. */
type Fate = 'done' | 'done-but-500' | '500';

/** Both interfaces of a service in memory, signed in as one account. */
export function findService(clock: ManualClock, account: KnownAccount = EVA_SAID) {
  const records = new Map<string, Stored>();
  const writes: string[] = [];
  const asked: string[] = [];
  const habits = {
    fate: (_write: string): Fate => 'done',
    beforeHarvest: async (_request: HttpRequest): Promise<void> => {},
  };
  const said = (status: number, ident?: string): HttpResponse => ({
    status,
    headers: { date: new Date(clock.now()).toUTCString(), ...(ident === undefined ? {} : { 'x-record-id': ident }) },
    body: Buffer.from(status < 300 ? '' : '{"detail":"said"}'),
  });
  const make = (inner: string, user = account.identCely): string => {
    const ident = `${/<projekt id="([^"]*)"/.exec(inner)?.[1]}-N${String(records.size + 1).padStart(5, '0')}`;
    const number = /<evidencni_cislo>([^<]*)</.exec(inner)?.[1] ?? '';
    const rest = inner.replace(/<(ident_cely|evidencni_cislo)>[^<]*<\/\1>/g, '');
    records.set(ident, { inner: rest, madeMs: clock.now(), changedMs: clock.now(), user, number, files: [] });
    return ident;
  };
  const change = (ident: string, edit: (record: Stored) => void): string => {
    const record = records.get(ident);
    if (record === undefined) throw new Error(`there is no record ${ident}`);
    edit(record);
    record.changedMs = clock.now();
    return ident;
  };
  const carryOut = (method: string, url: URL, body: string): { write: string; done: () => string | undefined } => {
    const ident = /\/nalez\/([^/]+)\//.exec(url.pathname)?.[1] ?? '';
    const value = url.searchParams.get('evidencni_cislo') ?? '';
    if (method === 'PATCH') {
      const isThere = (): boolean => records.get(ident)?.number === value;
      return { write: `${ident} = ${value}`, done: () => (isThere() ? undefined : setNumber(ident, value)) };
    }
    const name = /filename="([^"]*)"/.exec(body)?.[1] ?? '';
    if (ident !== '') return { write: `${ident} + ${name}`, done: () => addFile(ident, name) };
    const inner = /<samostatny_nalez>([\s\S]*)<\/samostatny_nalez>/.exec(body)?.[1] ?? '';
    return { write: /<poznamka>([^<]*)</.exec(inner)?.[1] ?? '', done: () => make(inner) };
  };
  const addFile = (ident: string, name: string, sha512Hex?: string): string =>
    change(ident, ({ files }) => void files.push({ name, atMs: clock.now(), ...(sha512Hex === undefined ? {} : { sha512Hex }) }));
  const setNumber = (ident: string, number: string): string =>
    change(ident, (record) => {
      record.number = number;
    });
  const answerWrite = (request: HttpRequest, body: string): HttpResponse => {
    if (request.method === 'GET' || (request.method === 'POST' && body === '')) return said(405);
    const { write, done } = carryOut(request.method, new URL(request.url), body);
    writes.push(write);
    const fate = habits.fate(write);
    if (fate === '500') return said(500);
    const ident = done();
    if (fate === 'done-but-500') return said(500);
    return ident === undefined ? said(422) : said(request.method === 'PATCH' ? 200 : 201, ident);
  };
  const service = serviceSaying(account);
  const send: Exchange = async (request) => {
    request.onDeparture?.();
    const body = await textOf(request).catch((cause: unknown) => {
      throw new NoAnswerError('reset', false, 'the body broke off', { cause });
    });
    await clock.sleep(50);
    return request.url.endsWith('/api/uzivatel-info/') ? service.send(request) : answerWrite(request, body);
  };
  const harvest: Exchange = async (request) => {
    asked.push(new URL(request.url).search);
    await habits.beforeHarvest(request);
    return answer(harvested(new URL(request.url).searchParams, records, clock));
  };
  const client = openOaiClient({ oaiBase: OAI_BASE, version: '2.2', credentials: { kind: 'none' }, exchange: harvest });
  const machine = newMachine();
  const push = async (outbox: ServiceOutbox, more: Partial<PushToEnd> = {}, forMs = 60_000) => {
    const running = pushToEnd({
      ...{ outbox, service: { ...service, send }, baseUrl: service.baseUrl, session: service.session, send, clock },
      ...{ kinds: ENTRY_KINDS, recordKeys: undefined, limit: undefined, anyAccount: false, takeOver: false },
      ...{ maxInFlight: 4, answerTimeoutMs: 1000, settleMs: 1000, walls: noWalls(), photosFolder: 'none' },
      harvesting: { open: async () => client, auth: 'bearer', format: 'oai_svc', settleMs: 1000, indexAllowanceMs: 0 },
      pace: makePace({ clock, scopes: ['address:a'], intervalMs: 100, store: memoryPaceStore(clock) }),
      recognition: machine,
      report: () => {},
      stop: new AbortController().signal,
      abort: new AbortController().signal,
      ...more,
    });
    running.catch(() => {});
    await clock.advance(forMs);
    return running;
  };
  return { records, writes, asked, habits, client, machine, make, change, addFile, setNumber, push };
}

async function textOf({ body }: HttpRequest): Promise<string> {
  const opened = body?.open() ?? Buffer.alloc(0);
  if (Buffer.isBuffer(opened)) return opened.toString();
  const chunks: Buffer[] = [];
  for await (const chunk of opened) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks).toString();
}

function harvested(query: URLSearchParams, records: ReadonlyMap<string, Stored>, clock: ManualClock): string {
  const said = (inner: string): string => oaiXml(inner, { responseDate: seconds(clock.now()) });
  const listed = (): string[] => {
    const fromMs = Date.parse(query.get('from') ?? '1970-01-01');
    return [...records].flatMap(([ident, record]) => (record.changedMs >= fromMs ? [recordXml(ident, record)] : []));
  };
  switch (query.get('verb')) {
    case 'Identify':
      return said('<Identify><granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>');
    case 'GetRecord': {
      const ident = query.get('identifier')?.split('/').at(-1) ?? '';
      const record = records.get(ident);
      return record === undefined ? oaiError('idDoesNotExist') : said(`<GetRecord>${recordXml(ident, record)}</GetRecord>`);
    }
    default:
      return said(listed().length === 0 ? '<error code="noRecordsMatch"/>' : `<ListRecords>${listed().join('')}</ListRecords>`);
  }
}

function recordXml(ident: string, { inner, madeMs, changedMs, user, number, files, hidden }: Stored): string {
  const entry = (type: string, note = '', atMs = madeMs) =>
    `<historie><datum_zmeny>${new Date(atMs).toISOString()}</datum_zmeny><typ_zmeny>${type}</typ_zmeny>
      <uzivatel id="${user}">x</uzivatel><poznamka>${note}</poznamka></historie>`;
  const stored = files
    .map(({ name, atMs, sha512Hex = '' }) => {
      return `<soubor><nazev>${name}</nazev><sha_512>${sha512Hex}</sha_512>${entry('SBR0', name, atMs)}</soubor>`;
    })
    .join('');
  const numbered = number === '' ? '' : `<evidencni_cislo>${number}</evidencni_cislo>`;
  const header = `<identifier>${OAI_BASE}/id/${ident}</identifier><datestamp>${seconds(changedMs)}</datestamp>`;
  if (hidden === 'deleted') return `<record><header status="deleted">${header}</header></record>`;
  if (hidden === 'withheld')
    return `<record><header>${header}</header><metadata><svc xmlns="urn:svc/2.2/">${REFUSAL}</svc></metadata></record>`;
  return `<record><header>${header}</header>
    <metadata><svc xmlns="urn:svc/2.2/"><samostatny_nalez><ident_cely>${ident}</ident_cely>${numbered}${inner}${stored}${entry('SN01')}
    </samostatny_nalez></svc></metadata></record>`;
}

function seconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

export const PROJECT = 'C-202400101';

/** The content of a find's document. */
export function innerOf(note: string): string {
  return `<ident_cely>:tba</ident_cely><projekt id="${PROJECT}">x</projekt><poznamka>${note}</poznamka><stav>1</stav>`;
}

/** Queues a find whose record can be told from others by its note. */
export function queueFind(outbox: ServiceOutbox, localId: string, note = localId): { findId: number; entryId: number } {
  const findId = insertFind(outbox, { localId, elements: { poznamka: note } });
  const document = Buffer.from(`<svc xmlns="urn:svc/2.2/"><samostatny_nalez>${innerOf(note)}</samostatny_nalez></svc>`);
  const entryId = addImport(outbox, findId, { document, documentSha512: sha512Of(document), project: PROJECT, issues: [] });
  return { findId, entryId };
}
