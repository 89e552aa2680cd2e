import type { Counters } from '../counters.ts';
import type { Body } from './record.ts';

/** Children of a find in the order of the 2.2 schema. */
export const FIND_CHILDREN = [
  'ident_cely',
  'evidencni_cislo',
  'igsn',
  'projekt',
  'okres',
  'hloubka',
  'okolnosti',
  'obdobi',
  'presna_datace',
  'druh_nalezu',
  'specifikace',
  'pocet',
  'poznamka',
  'nalezce',
  'datum_nalezu',
  'stav',
  'predano',
  'predano_organizace',
  'geom_system',
  'pristupnost',
  'chranene_udaje',
  'historie',
  'soubor',
] as const;

/** The children of a project that come after its list of finds. */
export const PROJECT_CHILDREN_AFTER_FINDS = ['dokument'] as const;

/** The same children in the given order; what has no value is left out. */
export function inOrder(children: Readonly<Record<string, Body[string] | undefined>>, order: readonly string[]): Body {
  const ordered: Record<string, Body[string]> = {};
  for (const name of order) {
    const value = children[name];
    if (value !== undefined) ordered[name] = value;
  }
  return ordered;
}

/** Codes of history entries (A-HISTORY-2, A-HISTORY-3): transitions of a find, single-field updates, files. */
export type HistoryCode = 'SN01' | 'SN12' | 'SN23' | 'SN34' | 'SN-1' | 'SN-UPD' | 'SBR0';

/** One `historie` element. @param atMs milliseconds since 1970, with fractions */
export function historyEntry(counters: Counters, code: HistoryCode, user: string, atMs: number, note?: string): Body {
  return {
    id: counters.next('hist'),
    datum_zmeny: isoMicroseconds(atMs),
    uzivatel: { '@id': user, '#': user },
    ...(note === undefined ? {} : { poznamka: note }),
    typ_zmeny: code,
  };
}

/** ISO 8601 with microseconds and offset, such as `2024-07-11T12:27:13.968250+00:00`. */
function isoMicroseconds(ms: number): string {
  const whole = Math.floor(ms);
  const micros = Math.floor((ms - whole) * 1000);
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}+00:00`;
}
