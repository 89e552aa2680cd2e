import type { Outbox } from '../../outbox/open-outbox.ts';
import { findByIdentCely, findByLocalId, namesOfFinds, type StoredFind } from '../../outbox/stored-finds.ts';

/** Result of a lookup: a find, none, or several that differ only in case. */
export type NamedFind = StoredFind | undefined | { readonly alike: readonly string[] };

/** Makes a lookup of finds by local id and identifier, exact first, then in any case. The index is loaded once. */
export function createFindLookup(outbox: Outbox): (name: string) => NamedFind {
  let folded: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  return (name) => {
    const exact = findByLocalId(outbox, name) ?? findByIdentCely(outbox, name);
    if (exact !== undefined) return exact;
    folded ??= foldedNames(outbox);
    const [localId, ...others] = folded.get(foldCase(name)) ?? [];
    if (others.length > 0) return { alike: [localId ?? '', ...others] };
    return localId === undefined ? undefined : findByLocalId(outbox, localId);
  };
}

function foldedNames(outbox: Outbox): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  for (const { name, localId } of namesOfFinds(outbox)) {
    const key = foldCase(name);
    names.set(key, (names.get(key) ?? new Set()).add(localId));
  }
  return names;
}

function foldCase(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Form of find identifiers; the contract leaves it open (A-ASSIGN-1), so it only helps to detect a typing error. */
const LOOKS_LIKE_IDENT = /^(X-)?[A-Z]-[A-Za-z0-9-]+-N\d+$/;

export function looksLikeIdent(text: string): boolean {
  return LOOKS_LIKE_IDENT.test(text);
}

/** Returns the identifier of a text in any case; undefined where it is none. */
export function asIdent(text: string): string | undefined {
  return [text, text.toUpperCase()].find(looksLikeIdent);
}
