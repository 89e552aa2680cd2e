import type { Find } from '../../find/find.ts';
import { importOfFind } from '../../outbox/entries.ts';
import type { ImportEntry } from '../../outbox/entry.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findByLocalId, importDigests, type StoredFind } from '../../outbox/stored-finds.ts';

type EqualFind = { readonly localId: string; readonly stored: StoredFind; readonly entry: ImportEntry };

/** The finds that were there before a table was imported, by what they say. */
export type EqualFinds = {
  /**
   * A find that says the same as a row, whose local id the table has no row for, and that came from this table or was sent; each is found
   * once. Equal finds of two tables are two finds as long as none of them was sent.
   */
  take(find: Find, digest: string | null, table: FindTable): EqualFind | undefined;
};

type FindTable = { readonly path: string | undefined; keys(): { has(localId: string): boolean } };

/** Reads the finds when it is first asked. */
export function openEqualFinds(outbox: Outbox): EqualFinds {
  let known: Map<string, string[]> | undefined;
  return {
    take(find, digest, { path, keys }) {
      known ??= importDigests(outbox);
      if (digest === null || !tellsApart(find)) return undefined;
      const candidates = known.get(digest) ?? [];
      for (const [index, localId] of candidates.entries()) {
        if (localId === find.localId || keys().has(localId)) continue;
        const stored = findByLocalId(outbox, localId);
        const entry = stored === undefined ? undefined : importOfFind(outbox, stored.id);
        if (stored === undefined || entry === undefined || stored.isHidden || entry.digest !== digest) continue;
        if (entry.state === 'dropped' || (entry.attempts === 0 && (path ?? null) !== stored.sourcePath)) continue;
        candidates.splice(index, 1);
        return { localId, stored, entry };
      }
      return undefined;
    },
  };
}

/** Finds of which little is said are alike without being the same: at least two of object, place, date and note must be there. */
function tellsApart({ elements }: Find): boolean {
  const { druh_nalezu, datum_nalezu, lokalizace, poznamka, geom_wkt, geom_sjtsk_wkt } = elements;
  const place = geom_wkt ?? geom_sjtsk_wkt ?? lokalizace;
  return [druh_nalezu, place, datum_nalezu, poznamka].filter((value) => value !== undefined).length >= 2;
}
