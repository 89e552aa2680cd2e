import { createHash } from 'node:crypto';
import { t } from '../base/language.ts';
import { firstPage } from './pages.ts';
import { currentPass, type Losses, listArguments, listName, type Run } from './walk.ts';

/** Why a pass was not believed, and all is read again the next time. */
export type Disbelief =
  | { readonly kind: 'empty' }
  | { readonly kind: 'losses'; readonly lost: number; readonly held: number; readonly inUse: readonly string[] };

const MAX_LOST = 50;
const MAX_LOST_SHARE = 0.1;
/** An index is rebuilt in less time. */
const SECOND_LOOK_MS = 3_600_000;

/**
 * Decides whether what a full pass did not meet is gone. A list may be empty or short for a while, as while an index is
 * rebuilt: many losses count when a second look, an hour later, meets the same, or when the caller accepts them.
 * @returns undefined where the pass is believed; else it has ended in doubt
 */
export function disbelieve(
  { state, serverNowMs: nowMs, acceptLosses = false }: Run,
  { lost, inUse }: Losses,
): Disbelief | undefined {
  const pass = currentPass(state);
  const { heldBefore, window } = pass;
  if (lost.length === 0) {
    if (pass.look.met > 0 || window.fromMs !== null || window.untilMs !== null) return undefined;
    state.change(() => state.endInDoubt({ sinceMs: nowMs, digest: '' }));
    return { kind: 'empty' };
  }
  const areFew = lost.length <= Math.min(MAX_LOST, heldBefore * MAX_LOST_SHARE);
  const digest = createHash('sha256').update(lost.toSorted().join('\n')).digest('base64');
  const before = state.doubt();
  // A clock that stepped back begins the hour anew.
  const isSame = before?.digest === digest && before.sinceMs <= nowMs;
  const sinceMs = isSame ? before.sinceMs : nowMs;
  const isSecondLook = isSame && nowMs - sinceMs >= SECOND_LOOK_MS;
  if (acceptLosses || pass.lossesTaken || isSecondLook || (areFew && pass.look.met > 0 && inUse.length === 0)) {
    // So that a run that is killed while it marks them goes on with the rest.
    state.change(() => state.putPass({ ...pass, lossesTaken: true }));
    return undefined;
  }
  state.change(() => state.endInDoubt({ sinceMs, digest }));
  return { kind: 'losses', lost: lost.length, held: heldBefore, inUse };
}

/** Counts the whole list by one request; what is kept need not be what is there, however few changes are told. */
export async function isAsCounted(run: Run): Promise<boolean> {
  const { client, state, clock, signal, window, onNote } = run;
  // What changes leaves a window that ends.
  if (run.losses === undefined || window.untilMs !== null) return true;
  const { completeListSize, next, items } = await firstPage({
    fetchPage: client.listHeaders,
    start: listArguments(run, window),
    clock,
    ...(signal === undefined ? {} : { signal }),
  });
  const size = completeListSize ?? (next === undefined ? items.length : undefined);
  const [list, listed] = [listName(run), state.listed()];
  // An empty list is looked at again until it is not.
  if (size === undefined || (size === listed && size > 0)) return true;
  if (size !== listed)
    onNote?.(t`${list}: the service counts ${size} records, but ${listed} are known, so everything is read again.`);
  return false;
}
