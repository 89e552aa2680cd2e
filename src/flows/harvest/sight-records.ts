import { OaiError } from '../../base/errors.ts';
import type { ListPage } from '../../oai/client.ts';
import type { OaiRecord } from '../../oai/record.ts';
import { type FindHarvest, type HarvestedFinds, harvestFinds, type ListedSight, sightOf } from './harvest-finds.ts';

/** A record of a find as the harvest has it now; missing: the service does not know it. */
export type Sight = ListedSight | { readonly kind: 'missing' };

type Sights = Pick<HarvestedFinds, 'beganMs'> & { readonly sights: ReadonlyMap<string, Sight> };

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
export async function sightChanges(options: FindHarvest, wanted: ReadonlySet<string>, fromMs: number): Promise<Sights> {
  const { client } = options;
  const listRecords: typeof client.listRecords = async (...request) => {
    const page = await client.listRecords(...request);
    if (pagesAfter(page) > wanted.size) throw new LongList(page.responseDateMs);
    return page;
  };
  try {
    const { sights, beganMs } = await harvestFinds({ ...options, client: { ...client, listRecords } }, fromMs);
    return { sights: new Map([...sights].filter(([ident]) => wanted.has(ident))), beganMs };
  } catch (thrown) {
    if (thrown instanceof LongList) return { sights: await sightEach(options, wanted), beganMs: thrown.beganMs };
    throw thrown;
  }
}

/** How many requests it takes to read the rest of a list; 0 where the service does not count. */
function pagesAfter({ items, next, cursor, completeListSize }: ListPage<OaiRecord>): number {
  if (next === undefined || completeListSize === undefined || items.length === 0) return 0;
  return Math.ceil((completeListSize - (cursor ?? 0) - items.length) / items.length);
}

/** Each record by itself. One that the service does not know is missing. */
export async function sightEach(options: FindHarvest, idents: Iterable<string>): Promise<Map<string, Sight>> {
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
