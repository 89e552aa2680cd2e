import type { Clock } from '../base/clock.ts';
import type { ElementName, FindElements } from '../find/find.ts';
import { differingElements, type HarvestedFind, readHarvestedFind } from '../find/harvested-find.ts';
import type { OaiClient } from '../oai/client.ts';
import { listPages } from '../oai/pages.ts';
import { entityOf } from '../oai/record.ts';
import { entriesOfFind } from '../outbox/entries.ts';
import { allFinds } from '../outbox/finds.ts';
import type { Outbox } from '../outbox/outbox.ts';

export type ReadBack = {
  readonly find: string;
  readonly identCely: string;
  /** Undefined where the harvest does not show the record to this account. */
  readonly harvested: HarvestedFind | undefined;
  readonly differing: readonly ElementName[];
};

export type Harvest = {
  readonly client: OaiClient;
  /** The service's native format, such as `oai_svc`. */
  readonly format: string;
  readonly clock: Clock;
};

/** Reads the account's finds by harvest and holds them against what was sent. */
export async function readBack(
  context: Harvest & { readonly outbox: Outbox; readonly profile: string },
  from?: string,
): Promise<ReadBack[]> {
  const harvested = await harvestFinds(context, from);
  const results: ReadBack[] = [];
  for (const find of allFinds(context.outbox)) {
    const entries = entriesOfFind(context.outbox, find.id, context.profile).filter((entry) => entry.state === 'accepted');
    const sent = entries.find((entry) => entry.kind === 'import');
    if (sent === undefined || sent.identCely === null) continue;
    const number = entries.filter((entry) => entry.kind === 'number').at(-1)?.value;
    const elements: FindElements = { ...find.elements, ...(number === undefined ? {} : { evidencni_cislo: number }) };
    const record = harvested.get(sent.identCely);
    const differing = record === undefined ? [] : differingElements(elements, record);
    results.push({ find: find.localId, identCely: sent.identCely, harvested: record, differing });
  }
  return results;
}

/** All finds that the account may see, by identifier. */
export async function harvestFinds({ client, format, clock }: Harvest, from?: string): Promise<Map<string, HarvestedFind>> {
  const finds = new Map<string, HarvestedFind>();
  const pages = listPages({
    fetchPage: (given, signal) => client.listRecords(given, signal),
    start: { metadataPrefix: format, set: 'samostatny_nalez', ...(from === undefined ? {} : { from }) },
    clock,
    fingerprint: (records) => records.map(({ header }) => `${header.identifier} ${header.datestamp}`).join('\n'),
  });
  for await (const page of pages) {
    for (const record of page.items) {
      const entity = entityOf(record);
      const find = entity === undefined ? undefined : readHarvestedFind(entity);
      if (find !== undefined) finds.set(find.identCely, find);
    }
  }
  return finds;
}
