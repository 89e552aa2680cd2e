import type { HarvestPass, HarvestState } from '../../../src/harvest/harvest-state.ts';

/** A pass of which no page was read. */
export function begunPass(kind: HarvestPass['kind'], beganMs: number, scan: number): HarvestPass {
  return {
    kind,
    beganMs,
    localMs: beganMs,
    scan,
    listSize: null,
    seen: 0,
    agrees: false,
    moved: false,
    token: null,
    pages: 0,
    cutMs: null,
  };
}

/** As after a complete pass of everything. */
export function completePass(state: HarvestState, beganMs: number): void {
  state.saveProgress({ watermarkMs: beganMs, completedMs: beganMs });
}
