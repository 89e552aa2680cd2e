import type { ElementName } from '../find/find.ts';
import { differingElements, type HarvestedFind } from '../find/harvested-find.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { type Harvest, harvestFinds } from './harvest-finds.ts';
import { sentFinds } from './sent-finds.ts';

type ReadBack = {
  readonly find: string;
  readonly identCely: string;
  /** Undefined where the harvest does not show the record to this account. */
  readonly harvested: HarvestedFind | undefined;
  readonly differing: readonly ElementName[];
};

/** Reads the account's finds by harvest and holds them against what was sent. */
export async function readBack(
  context: Harvest & { readonly outbox: ServiceOutbox; readonly profile: string },
  from?: string,
): Promise<ReadBack[]> {
  const { finds } = await harvestFinds(context, from);
  return [...sentFinds(context.outbox)].map(({ find, identCely, elements }) => {
    const harvested = finds.get(identCely);
    return { find, identCely, harvested, differing: harvested === undefined ? [] : differingElements(elements, harvested) };
  });
}
