import { HARVEST_QUIRKS } from './oai/quirks.ts';

/**
 * Where the deployed service departs from its contract. The contract holds by default; `--deployed` switches these on.
 * Keys are stable: tests and documentation cite them. Add at the end.
 */
export const QUIRKS = {
  'import-repeated-file-part': 'A repeated part `file` on import is not refused; the last one is used, other files are ignored.',
  'proxy-limit':
    'The proxy counts the multipart boundaries too: a photograph just under 262,144,000 bytes gets 413 with an HTML page.',
  'millisecond-rates': 'A rate limit per `ms` never refuses anything: its window is over before it is looked at.',
  'wkt-copied': 'With a leading `+` or an exponent in the WKT the other geometry is not computed; the numbers are copied.',
  'wkt-third-number': 'A third number in the WKT passes all checks and then fails to be stored: 500.',
  'wkt-epsg-unread': 'The attribute `EPSG` of a geometry is never compared with `geom_system`.',
  'wkt-blank': 'An empty geometry is none: a find in state 1 passes with it.',
  ...HARVEST_QUIRKS,
} as const satisfies Record<string, string>;
