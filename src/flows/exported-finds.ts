import type { ExportedFind } from '../find/export/exported-find.ts';
import type { FindElements } from '../find/find.ts';
import type { KnownFind } from '../find/map-row.ts';
import { entriesOfFind } from '../outbox/entries.ts';
import type { Entry, EntryState } from '../outbox/entry.ts';
import { allFinds, findByLocalId, type StoredFind } from '../outbox/finds.ts';
import { latestNumber } from '../outbox/latest-number.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';

export type ExportFilter = {
  /** Only these finds; otherwise all. */
  readonly finds?: readonly StoredFind[];
  /** States of the import; a find that is not queued under the profile has none. */
  readonly states?: readonly EntryState[];
  readonly project?: string;
};

/** The finds of the outbox as they stand under a profile: with its identifiers, numbers and photographs. */
export function* exportedFinds(outbox: ServiceOutbox, filter: ExportFilter): Generator<ExportedFind> {
  for (const find of filter.finds ?? allFinds(outbox)) {
    const entries = entriesOfFind(outbox, find.id);
    const sent = importOf(entries);
    const elements = find.elements as FindElements;
    if (filter.states !== undefined && (sent === undefined || !filter.states.includes(sent.state))) continue;
    if (filter.project !== undefined && elements.projekt?.id !== filter.project) continue;
    yield {
      localId: find.localId,
      ...(sent?.identCely == null ? {} : { identCely: sent.identCely }),
      elements: withNumber(elements, latestNumber(entries)),
      photos: photosOf(entries),
    };
  }
}

function withNumber(elements: FindElements, number: string | undefined): FindElements {
  return number === undefined ? elements : { ...elements, evidencni_cislo: number };
}

function photosOf(entries: readonly Entry[]): string[] {
  const names = entries.flatMap((entry) => (entry.kind === 'photo' && entry.state !== 'dropped' ? [entry.photograph.name] : []));
  return [...new Set(names)];
}

/** What an exported table may say of a find that is kept: its identifier, and photographs that do not lie beside the table. */
export function knownFind(outbox: ServiceOutbox, localId: string): KnownFind | undefined {
  const stored = findByLocalId(outbox, localId);
  if (stored === undefined) return undefined;
  const entries = entriesOfFind(outbox, stored.id);
  return { identCely: importOf(entries)?.identCely ?? undefined, photos: photosOf(entries) };
}

function importOf(entries: readonly Entry[]): Entry | undefined {
  return entries.find(({ kind, state }) => kind === 'import' && state !== 'dropped');
}
