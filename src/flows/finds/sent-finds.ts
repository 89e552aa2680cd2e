import type { FindElements } from '../../find/fields.ts';
import type { ImportEntry, Photograph } from '../../outbox/entry.ts';
import { listEntriesOfSubject } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { iterateFinds, type StoredFind } from '../../outbox/stored-finds.ts';

/** A find that the service has accepted, as it was sent. */
export type SentFind = {
  readonly find: string;
  readonly identCely: string;
  readonly entry: ImportEntry;
  /** Includes the registration number that was accepted last. */
  readonly elements: FindElements;
  readonly photographs: readonly Photograph[];
};

/** Yields the finds whose import was accepted, each as it was sent. */
export function* listSentFinds(outbox: Outbox): Generator<SentFind> {
  // Loaded at once, since the caller may change the outbox between finds.
  for (const find of [...iterateFinds(outbox)]) {
    const sent = findSentFind(outbox, find);
    if (sent !== undefined) yield sent;
  }
}

/**
 * Returns a find with its last accepted number and accepted photographs; undefined where its import
 * is not accepted.
 */
export function findSentFind(outbox: Outbox, find: StoredFind): SentFind | undefined {
  const accepted = listEntriesOfSubject(outbox, find.uuid).filter(
    (entry) => entry.state === 'accepted',
  );
  const sent = accepted.find((entry) => entry.kind === 'import');
  if (sent === undefined || sent.identCely === null) return undefined;
  const number = accepted.filter((entry) => entry.kind === 'number').at(-1)?.value;
  return {
    find: find.localId,
    identCely: sent.identCely,
    entry: sent,
    elements: { ...find.elements, ...(number === undefined ? {} : { evidencni_cislo: number }) },
    photographs: accepted.flatMap((entry) => (entry.kind === 'photo' ? [entry.photograph] : [])),
  };
}
