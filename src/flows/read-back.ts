import type { ElementName, FindElements } from '../find/find.ts';
import { differingElements, type HarvestedFind } from '../find/harvested-find.ts';
import { entriesOfFind } from '../outbox/entries.ts';
import { allFinds } from '../outbox/finds.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { type Harvest, harvestFinds } from './harvest-finds.ts';

export type ReadBack = {
  readonly find: string;
  readonly identCely: string;
  /** Undefined where the harvest does not show the record to this account. */
  readonly harvested: HarvestedFind | undefined;
  readonly differing: readonly ElementName[];
};

/** Reads the account's finds by harvest and holds them against what was sent. */
export async function readBack(
  context: Harvest & { readonly outbox: Outbox; readonly profile: string },
  from?: string,
): Promise<ReadBack[]> {
  const { finds } = await harvestFinds(context, from);
  const results: ReadBack[] = [];
  for (const find of allFinds(context.outbox)) {
    const entries = entriesOfFind(context.outbox, find.id, context.profile).filter((entry) => entry.state === 'accepted');
    const sent = entries.find((entry) => entry.kind === 'import');
    if (sent === undefined || sent.identCely === null) continue;
    const number = entries.filter((entry) => entry.kind === 'number').at(-1)?.value;
    const elements: FindElements = { ...find.elements, ...(number === undefined ? {} : { evidencni_cislo: number }) };
    const record = finds.get(sent.identCely);
    const differing = record === undefined ? [] : differingElements(elements, record);
    results.push({ find: find.localId, identCely: sent.identCely, harvested: record, differing });
  }
  return results;
}
