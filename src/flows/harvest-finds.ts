import type { Clock } from '../base/clock.ts';
import { OaiError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type HarvestedFind, readHarvestedFind } from '../find/harvested-find.ts';
import type { OaiClient } from '../oai/client.ts';
import { isRefusedToken, listPages } from '../oai/pages.ts';
import { entityOf, identOf, type OaiRecord } from '../oai/record.ts';

export type Harvest = {
  readonly client: OaiClient;
  /** The service's native format, such as `oai_svc`. */
  readonly format: string;
  readonly clock: Clock;
  /** Told how many records were met, after each page; `total` is undefined where the service does not count. */
  readonly onProgress?: (done: number, total: number | undefined) => void;
};

export type HarvestedFinds = {
  /** All finds that the account may see, by identifier. */
  readonly finds: ReadonlyMap<string, HarvestedFind>;
  /** When those that are listed, but not shown to the account, changed last, by identifier. */
  readonly withheld: ReadonlyMap<string, number>;
  /** When those that are listed as deleted were deleted, by identifier. */
  readonly deleted: ReadonlyMap<string, number>;
  /** The server's clock when it answered the first page, milliseconds since 1970 UTC. */
  readonly serverNowMs: number;
};

/** A list that came short, or changed while it was read, is read once more. */
const MOST_WALKS = 2;

/**
 * @param from only what changed since, as a datestamp of the harvesting interface
 * @throws OaiError, `incomplete` where the service sends fewer records than it counts
 */
export async function harvestFinds({ client, format, clock, onProgress }: Harvest, from?: string): Promise<HarvestedFinds> {
  const finds = new Map<string, HarvestedFind>();
  const withheld = new Map<string, number>();
  const deleted = new Map<string, number>();
  const met = new Set<string>();
  let serverNowMs: number | undefined;
  let counted = 0;
  for (let walks = 0; walks < MOST_WALKS; walks++) {
    const pages = listPages<OaiRecord>({
      fetchPage: client.listRecords,
      start: { metadataPrefix: format, set: 'samostatny_nalez', ...(from === undefined ? {} : { from }) },
      clock,
      fingerprint: (records) => records.map(({ header }) => `${header.identifier} ${header.datestamp}`).join('\n'),
    });
    try {
      for await (const page of pages) {
        serverNowMs ??= page.responseDateMs;
        counted = page.completeListSize ?? counted;
        for (const record of page.items) {
          const ident = identOf(record.header.identifier);
          met.add(ident);
          if (record.header.deleted) deleted.set(ident, record.header.datestampMs);
          if (record.refused) withheld.set(ident, record.header.datestampMs);
          const entity = entityOf(record);
          const find = entity === undefined ? undefined : readHarvestedFind(entity);
          if (find !== undefined) finds.set(find.identCely, find);
        }
        onProgress?.(met.size, counted === 0 ? undefined : counted);
      }
    } catch (thrown) {
      if (isRefusedToken(thrown) && walks + 1 < MOST_WALKS) continue;
      throw thrown;
    }
    if (serverNowMs !== undefined && met.size >= counted) return { finds, withheld, deleted, serverNowMs };
  }
  throw new OaiError('incomplete', t`The service counts ${counted} finds and sent ${met.size}.`, {
    hint: t`What it did not send may be there, so nothing was decided. Run the command again.`,
  });
}
