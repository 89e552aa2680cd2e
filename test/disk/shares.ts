/** Equal shares of all that there is to play; a process plays those from one on. */
const ALL = 100;
const SHARES = Number(process.env['DISK_SHARES'] ?? ALL);
const FROM = Number(process.env['DISK_FROM'] ?? 0);

/**
 * Without a common divisor with all, and so that neighbours are far from one another: what is left
 * over is dealt out, too.
 */
const STEP = 51;

export function isOfShares(index: number): boolean {
  const share = (index * STEP) % ALL;
  return share >= FROM && share < FROM + SHARES;
}

/** Approximate number of states after a power cut, over all shares. */
export const IMAGES = Number(process.env['DISK_IMAGES'] ?? 12_000);
export const SEED = Number(process.env['DISK_SEED'] ?? 1);
