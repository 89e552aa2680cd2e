import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../../src/base/clock.ts';
import { hashSha512 } from '../../../src/base/disk/files.ts';
import { ENTRY_KINDS } from '../../../src/outbox/entry.ts';
import { findImportOfFind } from '../../../src/outbox/entry-queries.ts';
import type { Photograph } from '../../../src/outbox/facts.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';

import { recordNewFind } from '../../../src/outbox/wishes.ts';
import { pushOutbox } from '../../../src/push/push-all.ts';
import type { PushContext } from '../../../src/push/push-context.ts';
import {
  type Exchange,
  type HttpRequest,
  type HttpResponse,
  TransportError,
} from '../../../src/service/http/exchange.ts';
import { makePace } from '../../../src/service/http/pacer.ts';
import { openVerifiedFile } from '../../../src/service/http/request-body.ts';
import type { Account } from '../../../src/service/session.ts';
import type { ManualClock } from '../../support/manual-clock.ts';
import { answer, OAI_BASE, oaiError, oaiXml } from '../../support/scripted-oai.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { EVA, NO_PLACE, openAt, queuePhoto } from '../../support/temp-outbox.ts';
import { makeClient } from '../harvest/scripted-client.ts';
import { memoryPaceStore } from '../service/memory-pace-store.ts';
import { serviceSaying } from './account-service.ts';

/** Without a digest the service has changed its bytes. */
type StoredFile = { readonly name: string; readonly atMs: number; readonly sha512Hex?: string };
type Stored = {
  inner: string;
  madeMs: number;
  changedMs: number;
  user: string;
  number: string;
  files: StoredFile[];
  /** Records that are listed and not shown. */
  hidden?: 'withheld' | 'deleted';
};

/** Fate of a write: done, done and answered with a failure, or not done. */
type Fate = 'done' | 'done-but-500' | '500';

const DAY_MS = 86_400_000;

/** Both interfaces of a service in memory, signed in as one account. */
export function findService(clock: ManualClock, account: Account = EVA) {
  const records = new Map<string, Stored>();
  const writes: string[] = [];
  const askedUrls: string[] = [];
  const habits = {
    /** Its answers say the time. */
    tellsTime: true,
    fate: (_write: string): Fate => 'done',
    beforeHarvest: async (_request: HttpRequest): Promise<void> => {},
  };
  const dated = (): Record<string, string> =>
    habits.tellsTime ? { date: new Date(clock.now()).toUTCString() } : {};
  const answerWith = (status: number, ident?: string): HttpResponse => ({
    status,
    headers: { ...dated(), ...(ident === undefined ? {} : { 'x-record-id': ident }) },
    body: Buffer.from(status < 300 ? '' : '{"detail":"said"}'),
  });
  const make = (inner: string, user = account.identCely): string => {
    const ident = `${/<projekt id="([^"]*)"/.exec(inner)?.[1]}-N${String(records.size + 1).padStart(5, '0')}`;
    const number = /<evidencni_cislo>([^<]*)</.exec(inner)?.[1] ?? '';
    const rest = inner.replace(/<(ident_cely|evidencni_cislo)>[^<]*<\/\1>/g, '');
    records.set(ident, {
      inner: rest,
      madeMs: clock.now(),
      changedMs: clock.now(),
      user,
      number,
      files: [],
    });
    return ident;
  };
  const change = (ident: string, edit: (record: Stored) => void): string => {
    const record = records.get(ident);
    if (record === undefined) throw new Error(`there is no record ${ident}`);
    edit(record);
    record.changedMs = clock.now();
    return ident;
  };
  const carryOut = (
    method: string,
    url: URL,
    body: string,
  ): { write: string; done: () => string | undefined } => {
    const ident = /\/nalez\/([^/]+)\//.exec(url.pathname)?.[1] ?? '';
    const value = url.searchParams.get('evidencni_cislo') ?? '';
    if (method === 'PATCH') {
      const isThere = (): boolean => records.get(ident)?.number === value;
      return {
        write: `${ident} = ${value}`,
        done: () => (isThere() ? undefined : setNumber(ident, value)),
      };
    }
    const name = /filename="([^"]*)"/.exec(body)?.[1] ?? '';
    if (ident !== '')
      return {
        write: `${ident} + ${name}`,
        done: () => addFile(ident, name, hashSha512(Buffer.from(contentIn(body)))),
      };
    const inner = /<samostatny_nalez>([\s\S]*)<\/samostatny_nalez>/.exec(body)?.[1] ?? '';
    return { write: /<poznamka>([^<]*)</.exec(inner)?.[1] ?? '', done: () => make(inner) };
  };
  const addFile = (ident: string, name: string, sha512Hex?: string): string =>
    change(
      ident,
      ({ files }) =>
        void files.push({
          name,
          atMs: clock.now(),
          sha512Hex,
        }),
    );
  const setNumber = (ident: string, number: string): string =>
    change(ident, (record) => {
      record.number = number;
    });
  const answerWrite = (request: HttpRequest, body: string): HttpResponse => {
    if (request.method === 'GET' || (request.method === 'POST' && body === ''))
      return answerWith(405);
    const { write, done } = carryOut(request.method, new URL(request.url), body);
    writes.push(write);
    const fate = habits.fate(write);
    if (fate === '500') return answerWith(500);
    const ident = done();
    if (fate === 'done-but-500') return answerWith(500);
    return ident === undefined
      ? answerWith(422)
      : answerWith(request.method === 'PATCH' ? 200 : 201, ident);
  };
  const service = serviceSaying(account);
  const send: Exchange = async (request) => {
    request.onDeparture?.();
    const body = await readText(request).catch((cause: unknown) => {
      throw new TransportError('reset', false, 'the body broke off', { cause });
    });
    await clock.sleep(50);
    if (!request.url.endsWith('/api/uzivatel-info/')) return answerWrite(request, body);
    const { headers, ...answered } = await service.send(request);
    return { ...answered, headers: { ...headers, ...dated() } };
  };
  const harvest: Exchange = async (request) => {
    askedUrls.push(new URL(request.url).search);
    await habits.beforeHarvest(request);
    return answer(harvested(new URL(request.url).searchParams, records, clock));
  };
  const client = makeClient(harvest);
  const push = async (outbox: Outbox, more: Partial<PushContext> = {}, forMs = 60_000) => {
    const running = pushOutbox({
      ...makePush(outbox, clock),
      service: { ...service, send },
      lookBackMs: 30 * DAY_MS,
      settleMs: 1000,
      harvesting: {
        open: async () => client,
        auth: 'bearer',
        format: 'oai_svc',
        indexAllowanceMs: 0,
      },
      ...more,
    });
    let isDone = false;
    running.then(done, done);
    function done(): void {
      isDone = true;
    }
    await clock.advance(forMs);
    // A photograph is read from a disk, which no clock of a test waits for.
    for (let tries = 0; tries < 2000 && !isDone; tries += 1)
      await (clock.sleeping === 0 ? delay(1) : clock.advance(50));
    return running;
  };
  return {
    open: { ...service, send },
    records,
    writes,
    asked: askedUrls,
    habits,
    client,
    make,
    change,
    addFile,
    setNumber,
    push,
  };
}

function contentIn(body: string): string {
  return /\r\n\r\n([\s\S]*?)\r\n--/.exec(body)?.[1] ?? '';
}

async function readText({ body }: HttpRequest): Promise<string> {
  const opened = body?.open() ?? Buffer.alloc(0);
  if (Buffer.isBuffer(opened)) return opened.toString();
  const chunks: Buffer[] = [];
  for await (const chunk of opened) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks).toString();
}

function harvested(
  query: URLSearchParams,
  records: ReadonlyMap<string, Stored>,
  clock: ManualClock,
): string {
  const answerWithXml = (inner: string): string =>
    oaiXml(inner, { responseDate: seconds(clock.now()) });
  const listed = (): string[] => {
    const fromMs = Date.parse(query.get('from') ?? '1970-01-01');
    return [...records].flatMap(([ident, record]) =>
      record.changedMs >= fromMs ? [recordXml(ident, record)] : [],
    );
  };
  const verb = query.get('verb');
  switch (verb) {
    case 'Identify':
      return answerWithXml('<Identify><granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>');
    case 'GetRecord': {
      const ident = query.get('identifier')?.split('/').at(-1) ?? '';
      const record = records.get(ident);
      return record === undefined
        ? oaiError('idDoesNotExist')
        : answerWithXml(`<GetRecord>${recordXml(ident, record)}</GetRecord>`);
    }
    default:
      return answerWithXml(
        listed().length === 0
          ? '<error code="noRecordsMatch"/>'
          : `<${verb}>${listed().join('')}</${verb}>`,
      );
  }
}

function recordXml(
  ident: string,
  { inner, madeMs, changedMs, user, number, files, hidden }: Stored,
): string {
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
    return `<record><header>${header}</header><metadata><svc xmlns="urn:svc/2.2/">HTTP/1.1 403 Forbidden</svc></metadata></record>`;
  return `<record><header>${header}</header>
    <metadata><svc xmlns="urn:svc/2.2/"><samostatny_nalez><ident_cely>${ident}</ident_cely>${numbered}${inner}${stored}${entry('SN01')}
    </samostatny_nalez></svc></metadata></record>`;
}

function seconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

export const PROJECT = 'C-202400101';

/** The content of a find's document. */
export function getInnerText(note: string): string {
  return `<ident_cely>:tba</ident_cely><projekt id="${PROJECT}">x</projekt><poznamka>${note}</poznamka><stav>1</stav>`;
}

/** The elements of a find with this note, and what its import sends. */
export function makeFindContent(note: string) {
  const elements = { projekt: { id: PROJECT, text: 'x' }, poznamka: note };
  const document = Buffer.from(
    `<svc xmlns="urn:svc/2.2/"><samostatny_nalez>${getInnerText(note)}</samostatny_nalez></svc>`,
  );
  return { elements, content: { document, issues: [] } };
}

/** Queues a find whose record can be told from others by its note. */
export function queueFind(
  outbox: Outbox,
  localId: string,
  note = localId,
): { findId: string; entryId: number } {
  const { elements, content } = makeFindContent(note);
  const findId = recordNewFind(outbox, { localId, elements, ...NO_PLACE }, content);
  return { findId, entryId: findImportOfFind(outbox, findId)?.id ?? 0 };
}

const PHOTOS = tempFolder();

/** Queues a photograph with these bytes, which lies in a file of its own. */
export function queuePhotograph(
  outbox: Outbox,
  subject: string,
  name: string,
  bytes: string,
): number {
  const content = Buffer.from(bytes);
  const sha512 = hashSha512(content);
  writeFileSync(join(PHOTOS, sha512), content);
  return queuePhoto(outbox, subject, {
    name,
    mediaType: 'image/jpeg',
    sha512,
    sizeBytes: content.length,
  });
}

/** The locks that a push of the outbox takes. */
export function getLock(outbox: Outbox, clock: Clock) {
  return {
    folder: dirname(outbox.path),
    scope: 'service-account',
    outboxFolder: dirname(outbox.path),
    clock,
  };
}

/** A push of everything in the outbox, without a service, and without a search there. */
export function makePush(outbox: Outbox, clock: ManualClock) {
  return {
    outbox,
    clock,
    kinds: ENTRY_KINDS,
    subjects: undefined,
    limit: undefined,
    harvesting: undefined,
    machine: '',
    onQuestion: 'hold' as const,
    lookBackMs: 0,
    lock: getLock(outbox, clock),
    maxInFlight: 4,
    answerTimeoutMs: 1000,
    settleMs: 600_000,
    openPhotograph: (photograph: Photograph) =>
      openVerifiedFile(join(PHOTOS, photograph.sha512), photograph),
    pace: makeTestPace(clock),
    report: () => {},
    stop: new AbortController().signal,
    abort: new AbortController().signal,
  };
}

/** One request in 100 ms. */
export function makeTestPace(clock: ManualClock, store = memoryPaceStore(clock)) {
  return makePace({ clock, scopes: ['address:a'], intervalMs: 100, store });
}

/** A computer with one ledger for all outboxes that are pushed on it. */
export function aComputer(clock: Clock) {
  const folder = tempFolder();
  const aside = tempFolder();
  const opened: Outbox[] = [];
  const open = (name = 'outbox'): Outbox => {
    const outbox = openAt(join(folder, `${name}.sqlite`), join(folder, 'ledger.sqlite'), {
      clock,
    });
    opened.push(outbox);
    return outbox;
  };
  const close = (): void => {
    for (const outbox of opened.splice(0)) outbox.close();
  };
  return {
    folder,
    open,
    /** Copies its disk, which nothing may be open on. */
    save(): void {
      close();
      cpSync(folder, aside, { recursive: true });
    },
    /** Puts the disk back as it was. */
    rollBack(): void {
      close();
      rmSync(folder, { recursive: true });
      cpSync(aside, folder, { recursive: true });
    },
    [Symbol.dispose]: close,
  };
}
