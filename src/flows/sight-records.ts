import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type HarvestedFind, readHarvestedFind } from '../find/harvested-find.ts';
import type { ListPage } from '../oai/client.ts';
import { formatDatestamp } from '../oai/datestamp.ts';
import { isRefusedToken, listPages } from '../oai/pages.ts';
import { entityOf, identOf, type OaiRecord } from '../oai/record.ts';
import type { Harvest } from './harvest-finds.ts';
import { granularityOfService } from './service-lists.ts';

/** A record of a find as the harvest has it now. */
export type Sight =
  | { readonly kind: 'shown'; readonly datestampMs: number; readonly record: HarvestedFind }
  | { readonly kind: 'withheld' | 'deleted'; readonly datestampMs: number }
  | { readonly kind: 'missing' };

type Sights = {
  readonly sights: ReadonlyMap<string, Sight>;
  /** The server's clock when it began to answer: what changes from then on is for the next time. */
  readonly beganMs: number;
};

export type SightOptions = Harvest & {
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number | undefined) => void;
};

const SET = 'samostatny_nalez';
/** A list that changes while it is read is read again before anything is called missing from it. */
const MOST_WALKS = 4;

/**
 * The wanted records among all that changed since `fromMs`; those that did not change are absent from the answer. Where
 * the list is longer than there are records to ask for, they are asked for one by one, and all of them are in the answer.
 * @throws OaiError, `incomplete` where the service sends less than it counts; UnavailableError, AuthError, InterruptedError
 */
export async function sightChanges(options: SightOptions, wanted: ReadonlySet<string>, fromMs: number): Promise<Sights> {
  const { client, clock, format } = options;
  const from = formatDatestamp(fromMs, await granularityOfService(options));
  const sights = new Map<string, Sight & { readonly datestampMs: number }>();
  const met = new Set<string>();
  let beganMs: number | undefined;
  let counted: number | undefined;
  for (let walks = 0; walks < MOST_WALKS; walks++) {
    const pages = listPages<OaiRecord>({
      fetchPage: client.listRecords,
      start: { metadataPrefix: format, set: SET, from },
      clock,
      fingerprint: (records) => records.map(({ header }) => `${header.identifier} ${header.datestamp}`).join('\n'),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    try {
      for await (const page of pages) {
        beganMs ??= page.responseDateMs;
        counted = page.completeListSize ?? counted;
        if (pagesAfter(page) > wanted.size) return { sights: await sightEach(options, wanted), beganMs };
        for (const record of page.items) {
          const ident = identOf(record.header.identifier);
          met.add(ident);
          const sight = wanted.has(ident) ? sightOf(record) : undefined;
          if (sight !== undefined && sight.datestampMs >= (sights.get(ident)?.datestampMs ?? 0)) sights.set(ident, sight);
        }
        options.onProgress?.(met.size, counted);
      }
    } catch (thrown) {
      if (isRefusedToken(thrown)) continue;
      throw thrown;
    }
    if (beganMs !== undefined && met.size >= (counted ?? 0)) return { sights, beganMs };
  }
  const listed = counted ?? '?';
  throw new OaiError('incomplete', t`The service counts ${listed} finds that changed since ${from} and sent ${met.size}.`, {
    hint: t`Nothing was changed here. Run the command again.`,
  });
}

/** How many requests it takes to read the rest of a list; 0 where the service does not count. */
function pagesAfter({ items, next, cursor, completeListSize }: ListPage<OaiRecord>): number {
  if (next === undefined || completeListSize === undefined || items.length === 0) return 0;
  return Math.ceil((completeListSize - (cursor ?? 0) - items.length) / items.length);
}

/** Each record by itself. One that the service does not know is missing. */
export async function sightEach(options: SightOptions, idents: Iterable<string>): Promise<Map<string, Sight>> {
  const { client, format, signal, onProgress } = options;
  const all = [...idents];
  const sights = new Map<string, Sight>();
  for (const ident of all) {
    try {
      const sight = sightOf(await client.getRecord(ident, format, signal));
      if (sight !== undefined) sights.set(ident, sight);
    } catch (thrown) {
      if (!(thrown instanceof OaiError) || thrown.oaiCode !== 'idDoesNotExist') throw thrown;
      sights.set(ident, { kind: 'missing' });
    }
    onProgress?.(sights.size, all.length);
  }
  return sights;
}

/** Undefined where the record is there but no find that can be read. */
function sightOf(record: OaiRecord): (Sight & { readonly datestampMs: number }) | undefined {
  const { datestampMs, deleted } = record.header;
  if (deleted) return { kind: 'deleted', datestampMs };
  if (record.refused) return { kind: 'withheld', datestampMs };
  const entity = entityOf(record);
  const find = entity === undefined ? undefined : readHarvestedFind(entity);
  return find === undefined ? undefined : { kind: 'shown', datestampMs, record: find };
}
