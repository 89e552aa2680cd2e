import { type HarvestPass, type HarvestWindow, startPass } from '../../src/oai/pass.ts';

/** A pass that nothing was held before. */
export function begunPass(
  kind: HarvestPass['kind'],
  window: HarvestWindow,
  beganMs: number,
  scan: number,
): HarvestPass {
  return startPass({ kind, window, beganMs, localMs: beganMs, heldBefore: 0 }, scan);
}
