import { createHash } from 'node:crypto';
import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { notePage, type Pass, passOf, type Window } from '../ledger/pass.ts';
import type { ListPage } from '../oai/client.ts';
import { datestampMs, formatDatestamp, type Granularity } from '../oai/datestamp.ts';
import { isRefusedToken, listPages } from '../oai/pages.ts';
import type { OaiArguments } from '../oai/protocol.ts';
import type { OaiRecord } from '../oai/record.ts';
import type { BrokenRecord } from '../oai/salvage.ts';
import type { RecordOutput } from './record-outputs/record-output.ts';
import { type ListedService, OVERLAP_MS } from './service-lists.ts';
import { type TakenPage, takePage } from './take-page.ts';
import { edgeAfter } from './walk-edge.ts';

/** What walks along the list of a set, page by page, into an output. */
export type Walker = ListedService & {
  readonly ledger: Ledger;
  readonly output: RecordOutput;
  readonly setSpec: string;
  readonly metadataPrefix: string;
  readonly granularity: Granularity;
  readonly skipBroken: boolean;
  /** Told after each page that is committed. */
  readonly onPage: (taken: TakenPage, broken: readonly BrokenRecord[]) => void;
};

/** A list without end may look new page by page; one that brings only records of this walk again is one. */
const MOST_PAGES_WITHOUT_NEWS = 100;

/** The pass under way. */
export function underWay(ledger: Ledger): Pass {
  const pass = passOf(ledger);
  if (pass === undefined) throw new Error('no pass is under way');
  return pass;
}

/** @returns how many records the service counted and did not send; 0 where it did not count */
export function missingOf({ listSize, met }: Pass): number {
  return Math.max(0, (listSize ?? 0) - met);
}

/** `only-page`: there was nothing to slip from page to page. */
export type WalkEnd = 'only-page' | 'end' | 'token-refused';

/** Along the list to its end, from where the last run stopped. @throws OaiError `loop` */
export async function walk(walker: Walker): Promise<WalkEnd> {
  const { ledger, onPage } = walker;
  const { token, walkWindow } = underWay(ledger);
  const start = token === null ? listArguments(walker, walkWindow) : { resumptionToken: token };
  let pages = token === null ? 0 : 1;
  let pagesWithoutNews = 0;
  try {
    for await (const page of pagesOf(walker, start)) {
      pages++;
      const pass = underWay(ledger);
      const taken = await takePage(walker, pass, page, () => noteWalked(ledger, pass, page));
      onPage(taken, page.broken);
      pagesWithoutNews = taken.newInWalk === 0 ? pagesWithoutNews + 1 : 0;
      if (pagesWithoutNews > MOST_PAGES_WITHOUT_NEWS) {
        throw new OaiError('loop', t`The service sent nothing new on ${pagesWithoutNews} pages: its list would never end.`);
      }
    }
    return pages > 1 ? 'end' : 'only-page';
  } catch (thrown) {
    if (isRefusedToken(thrown)) return 'token-refused';
    throw thrown;
  }
}

/**
 * What changed while the list was read may have moved from a page to come to one already read: read it by itself.
 * @returns whether anything had changed
 */
export async function followUp(walker: Walker): Promise<boolean> {
  const { ledger, onPage } = walker;
  const { beganMs, window } = underWay(ledger);
  if (beganMs === null) return false;
  const changes = { fromMs: Math.max(window.fromMs ?? 0, beganMs - OVERLAP_MS), untilMs: window.untilMs };
  if (changes.untilMs !== null && changes.fromMs > changes.untilMs) return false;
  const firstMovedMs = datestampMs(formatDatestamp(beganMs, walker.granularity)) ?? beganMs;
  let moved = false;
  try {
    for await (const page of pagesOf(walker, listArguments(walker, changes))) {
      moved ||= page.items.some(({ header }) => header.datestampMs >= firstMovedMs);
      onPage(await takePage(walker, underWay(ledger), page, () => {}), page.broken);
    }
  } catch (thrown) {
    // What it could not settle is still missing, and the whole list is read again for it.
    if (!isRefusedToken(thrown)) throw thrown;
    moved = true;
  }
  return moved;
}

function noteWalked(ledger: Ledger, pass: Pass, page: ListPage<OaiRecord>): void {
  const { window, walkWindow } = pass;
  const isWhole = window.fromMs === walkWindow.fromMs && window.untilMs === walkWindow.untilMs;
  const edge = edgeAfter(
    pass,
    page.items.map(({ header }) => header.datestampMs),
  );
  notePage(ledger, {
    token: page.next,
    listSize: isWhole ? page.completeListSize : undefined,
    responseDateMs: page.responseDateMs,
    direction: edge.direction,
    edgeMs: edge.edgeMs,
  });
}

function pagesOf(walker: Walker, start: OaiArguments): AsyncGenerator<ListPage<OaiRecord>> {
  const { client, clock, signal, skipBroken } = walker;
  return listPages({
    fetchPage: client.listRecords,
    start,
    clock,
    fingerprint,
    ...(skipBroken ? { salvage: client.salvageRecords } : {}),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Short, since the walk remembers one for each of perhaps ten thousand pages. */
function fingerprint(records: readonly OaiRecord[]): string {
  const hash = createHash('sha256');
  for (const { header } of records) hash.update(`${header.identifier} ${header.datestamp}\n`);
  return hash.digest('base64');
}

function listArguments({ metadataPrefix, setSpec, granularity }: Walker, { fromMs, untilMs }: Window): OaiArguments {
  return {
    metadataPrefix,
    set: setSpec,
    ...(fromMs === null ? {} : { from: formatDatestamp(fromMs, granularity) }),
    ...(untilMs === null ? {} : { until: formatDatestamp(untilMs, granularity) }),
  };
}
