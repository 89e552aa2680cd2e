import type { Clock } from '../base/clock.ts';
import { type HarvestedFind, readHarvestedFind } from '../find/harvested-find.ts';
import type { OaiClient } from '../oai/client.ts';
import { listPages } from '../oai/pages.ts';
import { entityOf, identOf } from '../oai/record.ts';

export type Harvest = {
  readonly client: OaiClient;
  /** The service's native format, such as `oai_svc`. */
  readonly format: string;
  readonly clock: Clock;
};

export type HarvestedFinds = {
  /** All finds that the account may see, by identifier. */
  readonly finds: ReadonlyMap<string, HarvestedFind>;
  /** When those that are listed, but not shown to the account, changed last, by identifier. */
  readonly withheld: ReadonlyMap<string, number>;
  /** The server's clock when it answered the first page, milliseconds since 1970 UTC; undefined where no page came. */
  readonly serverNowMs: number | undefined;
};

/** @param from only what changed since, as a datestamp of the harvesting interface */
export async function harvestFinds({ client, format, clock }: Harvest, from?: string): Promise<HarvestedFinds> {
  const finds = new Map<string, HarvestedFind>();
  const withheld = new Map<string, number>();
  let serverNowMs: number | undefined;
  const pages = listPages({
    fetchPage: (given, signal) => client.listRecords(given, signal),
    start: { metadataPrefix: format, set: 'samostatny_nalez', ...(from === undefined ? {} : { from }) },
    clock,
    fingerprint: (records) => records.map(({ header }) => `${header.identifier} ${header.datestamp}`).join('\n'),
  });
  for await (const page of pages) {
    serverNowMs ??= page.responseDateMs;
    for (const record of page.items) {
      if (record.refused) withheld.set(identOf(record.header.identifier), record.header.datestampMs);
      const entity = entityOf(record);
      const find = entity === undefined ? undefined : readHarvestedFind(entity);
      if (find !== undefined) finds.set(find.identCely, find);
    }
  }
  return { finds, withheld, serverNowMs };
}
