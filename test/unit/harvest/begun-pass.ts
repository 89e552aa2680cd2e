import {
  type HarvestPass,
  type HarvestState,
  type HarvestWindow,
  makePass,
} from '../../../src/harvest/harvest-state.ts';

/** A pass that nothing was held before. */
export function begunPass(
  kind: HarvestPass['kind'],
  window: HarvestWindow,
  beganMs: number,
  scan: number,
): HarvestPass {
  return makePass({ kind, window, beganMs, localMs: beganMs, scan });
}

/** As after a complete pass of everything. */
export function completePass(state: HarvestState, beganMs: number): void {
  const pass = begunPass('full', { fromMs: null, untilMs: null }, beganMs, 1);
  const { scan } = pass;
  state.saveProgress({ watermarkMs: beganMs, completedMs: beganMs, scan, fullScan: scan });
}
