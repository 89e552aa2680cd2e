import type { Clock } from '../../base/clock.ts';
import { type HarvestedFind, parseHarvestedFind } from '../../find/harvested-find.ts';
import type { OaiClient } from '../../oai/client.ts';
import { type HarvestOptions, harvest } from '../../oai/harvest-list.ts';
import { makeMemoryState } from '../../oai/harvest-state.ts';
import { findEntity, type OaiRecord, toIdent } from '../../oai/protocol.ts';
import { fetchServiceClock } from './service-lists.ts';

export type RecordSource = {
  readonly client: OaiClient;
  /** The service's native format, such as `oai_svc`. */
  readonly format: string;
  readonly signal?: AbortSignal;
};

export type FindHarvest = RecordSource & {
  readonly clock: Clock;
  /** Maximum time until a new record appears in a harvest. */
  readonly indexAllowanceMs: number;
} & Pick<HarvestOptions, 'onProgress' | 'onNote'>;

export const FIND_SET = 'samostatny_nalez';

/** A find as the harvest lists it now. */
export type ListedFind =
  | { readonly kind: 'shown'; readonly datestampMs: number; readonly record: HarvestedFind }
  | { readonly kind: 'withheld' | 'deleted'; readonly datestampMs: number };

export type HarvestedFinds = {
  /** Listed finds by identifier, without those that cannot be read. */
  readonly lookups: ReadonlyMap<string, ListedFind>;
  /** Identifiers of records that came without content, so it is unknown if they changed. */
  readonly withoutContent: readonly string[];
  /** The server's clock at its first answer: later changes belong to the next harvest. */
  readonly beganMs: number;
};

/**
 * Harvests the finds that are listed for the account.
 * @param fromMs lower bound of the last change, by the server's clock; null for all
 * @throws OaiError, `incomplete` where the service sends fewer records than it counts;
 * UnavailableError, AuthError, InterruptedError
 */
export async function harvestFinds(
  options: FindHarvest,
  fromMs: number | null,
): Promise<HarvestedFinds> {
  const lookups = new Map<string, ListedFind>();
  const state = makeMemoryState();
  const { pass, broken } = await harvest({
    ...options,
    state,
    setSpec: FIND_SET,
    metadataPrefix: options.format,
    ...(await fetchServiceClock(options)),
    window: { fromMs, untilMs: null },
    sink: {
      notePage: ({ records }) => {
        for (const record of records) {
          const lookup = toListedFind(record);
          if (lookup !== undefined) lookups.set(toIdent(record.header.identifier), lookup);
        }
      },
    },
  });
  const listed = new Set(state.listSeenIn(pass.scan).map(toIdent));
  // A record of an earlier scan may be gone since.
  return {
    lookups: new Map([...lookups].filter(([ident]) => listed.has(ident))),
    withoutContent: broken.flatMap(({ identifier }) =>
      identifier === undefined ? [] : [toIdent(identifier)],
    ),
    beganMs: pass.beganMs,
  };
}

/** Converts a record; undefined where it is no readable find. */
export function toListedFind(record: OaiRecord): ListedFind | undefined {
  const { datestampMs, deleted } = record.header;
  if (deleted) return { kind: 'deleted', datestampMs };
  if (record.refused) return { kind: 'withheld', datestampMs };
  const entity = findEntity(record);
  const find = entity === undefined ? undefined : parseHarvestedFind(entity);
  return find === undefined ? undefined : { kind: 'shown', datestampMs, record: find };
}
