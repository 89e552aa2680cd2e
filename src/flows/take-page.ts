import { createHash } from 'node:crypto';
import type { Ledger } from '../ledger/ledger.ts';
import type { Pass } from '../ledger/pass.ts';
import { countMet, metRecord, noteMet } from '../ledger/records.ts';
import type { ListPage } from '../oai/client.ts';
import type { OaiRecord } from '../oai/record.ts';
import { sourceOf } from '../xml/element.ts';
import type { RecordOutput } from './record-outputs/record-output.ts';

export type TakenPage = {
  /** New or changed records, which went into the output. */
  readonly written: number;
  readonly deleted: number;
  readonly masked: number;
  /** Records that this walk had not met before. */
  readonly newInWalk: number;
};

type Sighting = {
  /** Undefined for a record that was left out since it is broken. */
  readonly record: OaiRecord | undefined;
  readonly datestampMs: number;
  readonly digest: Buffer;
  readonly isNews: boolean;
  readonly newInPass: boolean;
  readonly newInWalk: boolean;
};

/**
 * Puts what is new or changed on a page into the output and notes every record of it, in one step with `note`: a kill at
 * any moment leaves the page either done or to be read again.
 * @throws DatabaseError
 */
export async function takePage(
  { ledger, output }: { readonly ledger: Ledger; readonly output: RecordOutput },
  pass: Pass,
  page: ListPage<OaiRecord>,
  note: () => void,
): Promise<TakenPage> {
  const sightings = sightingsOf(ledger, pass, page);
  const seen = [...sightings.values()];
  const news = seen.flatMap(({ record, isNews }) => (record !== undefined && isNews ? [record] : []));
  await output.write({ document: page.document, records: news });
  ledger.change(() => {
    output.commit();
    for (const [identifier, { datestampMs, digest }] of sightings) {
      noteMet(ledger, identifier, { datestampMs, digest, walk: pass.walk });
    }
    countMet(ledger, seen.filter(({ newInPass }) => newInPass).length);
    note();
  });
  return {
    written: news.length,
    deleted: news.filter(({ header }) => header.deleted).length,
    masked: news.filter(({ refused }) => refused).length,
    newInWalk: seen.filter(({ newInWalk }) => newInWalk).length,
  };
}

/** By identifier, so that a record that stands twice on a page counts once. */
function sightingsOf(ledger: Ledger, pass: Pass, page: ListPage<OaiRecord>): Map<string, Sighting> {
  const sightings = new Map<string, Sighting>();
  for (const record of page.items) {
    const { identifier, datestampMs } = record.header;
    const digest = digestOf(sourceOf(page.document, record.element));
    const known = metRecord(ledger, identifier);
    const isNews = known === undefined || known.datestampMs !== datestampMs || !known.digest.equals(digest);
    sightings.set(identifier, { record, datestampMs, digest, isNews, ...noveltyOf(known, pass) });
  }
  // Left out on purpose is not missing. What the output holds of such a record from before, it keeps.
  page.broken.forEach((broken, index) => {
    const identifier = broken.identifier ?? `broken ${page.cursor ?? ''} ${index}`;
    const known = metRecord(ledger, identifier);
    const { datestampMs, digest } = known ?? { datestampMs: 0, digest: Buffer.alloc(0) };
    sightings.set(identifier, { record: undefined, datestampMs, digest, isNews: false, ...noveltyOf(known, pass) });
  });
  return sightings;
}

function noveltyOf(known: { readonly walk: number } | undefined, { firstWalk, walk }: Pass) {
  return { newInPass: known === undefined || known.walk < firstWalk, newInWalk: known === undefined || known.walk < walk };
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 12);
}
