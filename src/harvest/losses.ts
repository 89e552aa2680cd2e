import { createHash } from 'node:crypto';
import { t } from '../base/language.ts';
import {
  formatSetName,
  type HarvestPass,
  type HarvestState,
  type UnconfirmedLosses,
} from './harvest-state.ts';
import { isUnidentified } from './store-page.ts';

/** Held records that a scan did not see. */
export type Losses = {
  readonly lost: readonly string[];
  /** Identifiers among them that finds or the mapping use. */
  readonly inUse: readonly string[];
};

export type LossOptions = {
  readonly state: HarvestState;
  /** Empty: all records of the service. */
  readonly setSpec: string;
  /** Server time in the answer to Identify. */
  readonly serverNowMs: number;
  /** Records of the list that the caller holds; without them, only the count is compared. */
  readonly holdings?: {
    findLost(scan: number): Promise<Losses>;
    /**
     * Stores that records do not exist any more. Must be repeatable after a crash.
     * @returns the number of tombstones
     */
    deleteLost(lost: readonly string[], pass: HarvestPass): Promise<number>;
  };
  /** Treats losses as deletions at once. */
  readonly acceptLosses?: boolean;
  /** Called with messages for the user that are no failures. */
  readonly onNote?: (text: string) => void;
};

/** Either the number of records that were deleted, or losses that do not count yet. */
export type LossSettlement = {
  readonly vanished?: number;
  readonly unconfirmed?: UnconfirmedLosses;
};

const MAX_LOST = 50;
const MAX_LOST_SHARE = 0.1;
/** Exceeds the time in which a service rebuilds its index. */
const CONFIRM_AFTER_MS = 3_600_000;

/**
 * Deletes held records that a complete full pass did not see. While an index is rebuilt, a list may
 * be empty or short, so many losses count only if a second scan, at least an hour later, lacks the
 * same records, or the caller accepts them.
 */
export async function settleLosses(
  options: LossOptions,
  pass: HarvestPass,
): Promise<LossSettlement> {
  const { state, holdings, serverNowMs: nowMs, acceptLosses = false } = options;
  if (pass.kind === 'changes' || holdings === undefined) return {};
  const { lost, inUse } = await holdings.findLost(pass.scan);
  const held = pass.seen + lost.length;
  const isEmpty = held === 0 && pass.window.fromMs === null && pass.window.untilMs === null;
  if (!isEmpty && (lost.length === 0 || !canInferDeletion(options, pass))) return {};
  const areFew = lost.length <= Math.min(MAX_LOST, held * MAX_LOST_SHARE);
  const digest = createHash('sha256').update(lost.toSorted().join('\n')).digest('base64');
  const before = state.getUnconfirmedLosses();
  // After a step back of the clock, the hour begins again.
  const isSame = before?.digest === digest && before.sinceMs <= nowMs;
  const sinceMs = isSame ? before.sinceMs : nowMs;
  const isConfirmed = acceptLosses || nowMs - sinceMs >= CONFIRM_AFTER_MS;
  if (!isEmpty && (isConfirmed || (areFew && pass.seen > 0 && inUse.length === 0)))
    return { vanished: await holdings.deleteLost(lost, pass) };
  return { unconfirmed: { lost: lost.length, held, inUse, sinceMs, digest } };
}

function canInferDeletion(
  { state, setSpec, onNote }: LossOptions,
  { window, scan }: HarvestPass,
): boolean {
  // A changed record may have left a window with an end; a skipped record without an identifier may
  // be any of them.
  if (window.untilMs !== null || state.listSkipped().some(isUnidentified)) return false;
  const identifier = state.listSeenIn(scan).find((each) => !each.includes('/id/'));
  if (identifier === undefined) return true;
  const list = formatSetName(setSpec);
  onNote?.(
    t`${list}: the service writes its identifiers in another form (${identifier}), so no record is marked as vanished.`,
  );
  return false;
}
