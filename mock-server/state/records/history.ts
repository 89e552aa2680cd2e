import type { Counters } from '../counters.ts';
import { withoutAbsent } from './child-order.ts';
import type { Body } from './record.ts';

/**
 * Codes of history entries (A-HISTORY-2, A-HISTORY-3): transitions of a find, single-field updates,
 * files.
 */
export type HistoryCode = 'SN01' | 'SN12' | 'SN23' | 'SN34' | 'SN-1' | 'SN-UPD' | 'SBR0';

/**
 * Makes one `historie` element.
 * @param atMs milliseconds since 1970, with fractions
 */
export function makeHistoryEntry(
  counters: Counters,
  code: HistoryCode,
  user: string,
  atMs: number,
  note?: string,
): Body {
  return withoutAbsent({
    id: counters.takeNext('hist'),
    datum_zmeny: formatIsoMicroseconds(atMs),
    uzivatel: { '@id': user, '#': user },
    poznamka: note,
    typ_zmeny: code,
  });
}

/** Formats ISO 8601 with microseconds and offset, such as `2024-07-11T12:27:13.968250+00:00`. */
function formatIsoMicroseconds(ms: number): string {
  const whole = Math.floor(ms);
  const micros = Math.floor((ms - whole) * 1000);
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}+00:00`;
}
