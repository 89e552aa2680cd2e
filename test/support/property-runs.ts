import fc from 'fast-check';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 30);

/**
 * For properties of which one run takes long: it writes files, or plays a whole push or harvest.
 */
export const SLOW_RUNS = { numRuns: Math.ceil(RUNS / 10) };

fc.configureGlobal({ numRuns: RUNS });
