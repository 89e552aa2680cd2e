import { countHeld, LEDGER_HARVEST } from '../ledger/stored-records.ts';
import { OUTPUT_FORMS } from '../ledger/subject.ts';
import { granularityOf } from '../oai/datestamp.ts';
import { harvest } from '../oai/harvest.ts';
import { storedState } from '../oai/harvest-state.ts';
import { boundMs, type Pass } from '../oai/pass.ts';
import { checkArguments } from '../oai/protocol.ts';
import type { BrokenRecord } from '../oai/salvage.ts';
import type { OpenedOutput } from './record-outputs/record-output.ts';
import { clockOfService, type ListedService, overlapMs, refuseUnknownSets } from './service-lists.ts';

/** What records can be written as. */
export const RECORD_FORMS = OUTPUT_FORMS;

export type RecordProgress = { readonly done: number; readonly total: number | undefined; readonly perSecond: number };

type HarvestRecordsOptions = ListedService & {
  /** Called when the service is known to have the set, so that a mistyped one leaves nothing behind. */
  readonly openOutput: () => Promise<OpenedOutput>;
  readonly setSpec: string;
  /** `oai_dc`, or the native format such as `oai_svc`. */
  readonly metadataPrefix: string;
  /** Bounds as the user gave them, UTC dates or times; both inclusive. */
  readonly from?: string | undefined;
  readonly until?: string | undefined;
  /** Leave records out that cannot be read as XML, and say which; otherwise such a page ends the harvest. */
  readonly skipBroken: boolean;
  /** Read everything, not only what changed since the last time. */
  readonly full?: boolean;
  /** How long a new record may take to appear in a harvest. */
  readonly indexAllowanceMs: number;
  readonly onNote?: (text: string) => void;
  readonly onProgress?: (progress: RecordProgress) => void;
};

export type RecordHarvest = {
  readonly pass: Pass['kind'];
  /** Records that the service lists, those of an earlier interrupted run included. */
  readonly records: number;
  /** New or changed records that went into the output in this run; deleted, masked and vanished ones among them. */
  readonly written: number;
  readonly deleted: number;
  /** Records that the service no longer lists, written as deleted by a full pass. */
  readonly vanished: number;
  /** Records of which the service shows nothing to this account. */
  readonly masked: number;
  /** Different records in the output now. */
  readonly held: number;
  /** Records that were left out, in this run or before, and cannot be read yet. */
  readonly broken: readonly BrokenRecord[];
  readonly elapsedMs: number;
};

/**
 * Brings an output up to date with a set; see {@link harvest}.
 * @throws what that throws; UsageError for an unknown set, or a window that is none; DatabaseError
 */
export async function harvestRecords(options: HarvestRecordsOptions): Promise<RecordHarvest> {
  const { clock, setSpec, metadataPrefix, from, until, onProgress } = options;
  const window = { ...(from === undefined ? {} : { from }), ...(until === undefined ? {} : { until }) };
  checkArguments('ListRecords', { metadataPrefix, set: setSpec, ...window });
  await refuseUnknownSets(options, [setSpec]);
  const service = await clockOfService(options);
  const startedMs = clock.monotonicMs();
  const { ledger, output } = await options.openOutput();
  const state = storedState(ledger, LEDGER_HARVEST, () => clock.now());
  const tally = { written: 0, deleted: 0, vanished: 0, masked: 0 };
  const metBefore = state.pass()?.look.met ?? 0;
  const { pass, broken } = await harvest({
    ...{ ...options, ...service, state, sink: output, overlapMs: overlapMs(options.indexAllowanceMs) },
    window: {
      fromMs: from === undefined ? null : Date.parse(from),
      untilMs: until === undefined ? null : boundMs(until, granularityOf(until) ?? 'second'),
    },
    onPage: ({ written }, { look, listSize }) => {
      tally.written += written.length;
      tally.deleted += written.filter(({ header }) => header.deleted).length;
      tally.masked += written.filter(({ refused }) => refused).length;
      const seconds = Math.max(0.001, (clock.monotonicMs() - startedMs) / 1000);
      const perSecond = Math.max(0, look.met - metBefore) / seconds;
      onProgress?.({ done: look.met, total: listSize ?? undefined, perSecond });
    },
    onVanished: (count) => {
      tally.written += count;
      tally.vanished += count;
    },
  });
  return {
    ...{ pass: pass?.kind ?? 'changes', records: pass?.look.met ?? 0, ...tally },
    ...{ held: countHeld(ledger), broken, elapsedMs: clock.monotonicMs() - startedMs },
  };
}
