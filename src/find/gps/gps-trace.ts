/** What of a place was found in a photograph, and taken out of it. */
export type GpsTrace = {
  /** Something of GPS was there, be it only the version of the standard, and is there no more. */
  readonly found: boolean;
  /** A latitude or a longitude was there. */
  readonly tells: boolean;
};

export const NO_GPS: GpsTrace = { found: false, tells: false };

export function together(...traces: readonly GpsTrace[]): GpsTrace {
  return { found: traces.some(({ found }) => found), tells: traces.some(({ tells }) => tells) };
}
