import { OaiError } from '../../base/errors.ts';
import type { ListPage } from '../../oai/client.ts';
import type { OaiRecord } from '../../oai/record.ts';
import { type FindHarvest, type HarvestedFinds, harvestFinds, type ListedFind, listedFindOf } from './harvest-finds.ts';

/** A record of a find as the harvest has it now; missing: the service does not know it. */
export type FindLookup = ListedFind | { readonly kind: 'missing' };

type FindLookups = Pick<HarvestedFinds, 'beganMs'> & { readonly lookups: ReadonlyMap<string, FindLookup> };

/** Asking for each record is shorter. */
class LongList extends Error {
  readonly beganMs: number;
  constructor(beganMs: number) {
    super();
    this.beganMs = beganMs;
  }
}

/**
 * The wanted records among all that changed since `fromMs`; those that did not change are absent from the answer. Where
 * the list is longer than there are records to ask for, they are asked for one by one, and all of them are in the answer.
 * @throws what {@link harvestFinds} throws
 */
export async function lookUpChanges(options: FindHarvest, wanted: ReadonlySet<string>, fromMs: number): Promise<FindLookups> {
  const { client } = options;
  const listRecords: typeof client.listRecords = async (...request) => {
    const page = await client.listRecords(...request);
    if (pagesAfter(page) > wanted.size) throw new LongList(page.responseDateMs);
    return page;
  };
  try {
    const { lookups, beganMs } = await harvestFinds({ ...options, client: { ...client, listRecords } }, fromMs);
    return { lookups: new Map([...lookups].filter(([ident]) => wanted.has(ident))), beganMs };
  } catch (thrown) {
    if (thrown instanceof LongList) return { lookups: await lookUpEach(options, wanted), beganMs: thrown.beganMs };
    throw thrown;
  }
}

/** How many requests it takes to read the rest of a list; 0 where the service does not count. */
function pagesAfter({ items, next, cursor, completeListSize }: ListPage<OaiRecord>): number {
  if (next === undefined || completeListSize === undefined || items.length === 0) return 0;
  return Math.ceil((completeListSize - (cursor ?? 0) - items.length) / items.length);
}

/** Each record by itself. One that the service does not know is missing. */
export async function lookUpEach(options: FindHarvest, idents: Iterable<string>): Promise<Map<string, FindLookup>> {
  const { client, format, signal, onProgress } = options;
  const all = [...idents];
  const lookups = new Map<string, FindLookup>();
  for (const ident of all) {
    try {
      const lookup = listedFindOf(await client.getRecord(ident, format, signal));
      if (lookup !== undefined) lookups.set(ident, lookup);
    } catch (thrown) {
      if (!(thrown instanceof OaiError) || thrown.oaiCode !== 'idDoesNotExist') throw thrown;
      lookups.set(ident, { kind: 'missing' });
    }
    onProgress?.(lookups.size, all.length);
  }
  return lookups;
}
