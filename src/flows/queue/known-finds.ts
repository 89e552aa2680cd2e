import { hashSha512 } from '../../base/digest.ts';
import type { FindElements } from '../../find/fields.ts';
import type { Find } from '../../find/find.ts';
import type { ValidatedFind } from '../../find/rules.ts';
import type { Attempt, Entry } from '../../outbox/entry.ts';
import { type Evidence, listAttempts, listEvidence } from '../../outbox/entry-facts.ts';
import { findImportOfFind, listEntriesOfSubject } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { findByUuid, type StoredFind } from '../../outbox/stored-finds.ts';
import { formatLabelledElements } from '../finds/find-texts.ts';
import { getRemoteState } from '../finds/remote-state.ts';
import { findSentFind } from '../finds/sent-finds.ts';
import { asFind } from './enqueue-finds.ts';
import { resolveRecordName } from './resolve-finds.ts';

export type Story = {
  readonly entry: Entry;
  readonly attempts: readonly Attempt[];
  readonly evidence: readonly Evidence[];
};

/**
 * Returns all data of a find, or of a record with queued changes.
 * @throws UsageError for an unknown name
 */
export function toKnownFind(outbox: Outbox, name: string) {
  const subject = resolveRecordName(outbox, name);
  const find = findByUuid(outbox, subject);
  const sent = find === undefined ? undefined : findSentFind(outbox, find);
  return {
    find,
    texts: formatLabelledElements((find?.elements ?? {}) as FindElements),
    stories: listEntriesOfSubject(outbox, subject).map(
      (entry): Story => ({
        entry,
        attempts: listAttempts(outbox, entry),
        evidence: listEvidence(outbox, entry),
      }),
    ),
    atService: sent === undefined ? undefined : getRemoteState(outbox, sent),
  };
}

type OpenValidation = () => Promise<(find: Find) => ValidatedFind>;

/**
 * Returns the import document of a find, byte for byte; for a draft, the one that it would have.
 */
export async function getDocumentOfFind(
  outbox: Outbox,
  find: StoredFind,
  openValidation: OpenValidation,
) {
  const document = findImportOfFind(outbox, find.uuid)?.document ?? undefined;
  return document === undefined ? (await openValidation())(asFind(find)) : { document, issues: [] };
}

/** Returns the SHA-512 of a document as it is displayed. */
export function digestDocument(document: Buffer): string {
  return hashSha512(document).toString('hex');
}
