import type { Find } from '../../find/find.ts';
import type { ImportEntry } from '../../outbox/entry.ts';
import { importOfFind } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findByLocalId, importDigests, type StoredFind } from '../../outbox/stored-finds.ts';

type EqualFind = { readonly localId: string; readonly stored: StoredFind; readonly entry: ImportEntry };

/** Finds before the import, indexed by their content. */
export type EqualFinds = {
  /** Returns a find that equals a row, and whose local id is not in the table; each is returned once. */
  take(find: Find, digest: string | null, isInTable: (localId: string) => boolean): EqualFind | undefined;
};

/** Loads the finds on first use. */
export function openEqualFinds(outbox: Outbox): EqualFinds {
  let known: Map<string, string[]> | undefined;
  return {
    take(find, digest, isInTable) {
      known ??= importDigests(outbox);
      if (digest === null || !tellsApart(find)) return undefined;
      const candidates = known.get(digest) ?? [];
      const index = candidates.findIndex((localId) => localId !== find.localId && !isInTable(localId));
      const [localId] = index === -1 ? [] : candidates.splice(index, 1);
      const stored = localId === undefined ? undefined : findByLocalId(outbox, localId);
      const entry = stored === undefined ? undefined : importOfFind(outbox, stored.id);
      if (localId === undefined || stored === undefined || stored.isHidden) return undefined;
      return entry === undefined || entry.state === 'dropped' || entry.digest !== digest ? undefined : { localId, stored, entry };
    },
  };
}

/** Tells if a find has enough content for the comparison: at least two of object, place, date and note. */
function tellsApart({ elements }: Find): boolean {
  const { druh_nalezu, datum_nalezu, lokalizace, poznamka, geom_wkt, geom_sjtsk_wkt } = elements;
  const place = geom_wkt ?? geom_sjtsk_wkt ?? lokalizace;
  return [druh_nalezu, place, datum_nalezu, poznamka].filter((value) => value !== undefined).length >= 2;
}
