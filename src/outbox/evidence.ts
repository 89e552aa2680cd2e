import type { Message } from '../base/message.ts';
import { readReason, reasonText } from './kept-messages.ts';
import type { Outbox } from './open-outbox.ts';

export type EvidenceVerdict = 'found' | 'absent' | 'undecided' | 'person';

/** What was found out about an entry of unknown end, and what was concluded. */
export type Evidence = {
  readonly foundAt: number;
  /** The service's clock when the harvest was read; null for what a person decided, and where an older pas wrote it down. */
  readonly serverAt: number | null;
  readonly verdict: EvidenceVerdict;
  /** Stable code of what the verdict rests on; null where an older pas wrote it down. */
  readonly basis: string | null;
  /** The same for people. */
  readonly reason: Message;
  readonly candidates: readonly string[];
};

/** Writes evidence down, unless it says what the last one said; in which words does not matter. */
export function recordEvidence(outbox: Outbox, entryId: number, evidence: Omit<Evidence, 'foundAt'>): void {
  const last = evidenceOf(outbox, entryId).at(-1);
  const candidates = JSON.stringify(evidence.candidates);
  // What an older pas wrote down does not say when that was.
  const isKnown =
    (evidence.serverAt === null || last?.serverAt !== null) &&
    last?.verdict === evidence.verdict &&
    last.basis === evidence.basis;
  if (isKnown && JSON.stringify(last.candidates) === candidates) return;
  outbox
    .sql(
      `insert into evidence (entry_id, found_at, server_at, verdict, basis, reason, candidates)
       values (:entryId, :now, :serverAt, :verdict, :basis, :reason, :candidates)`,
    )
    .run({
      entryId,
      now: Math.floor(outbox.clock.now()),
      serverAt: evidence.serverAt === null ? null : Math.floor(evidence.serverAt),
      verdict: evidence.verdict,
      basis: evidence.basis,
      reason: reasonText(evidence.reason),
      candidates,
    });
}

export function evidenceOf(outbox: Outbox, entryId: number): Evidence[] {
  const rows = outbox
    .sql(
      'select found_at as foundAt, server_at as serverAt, verdict, basis, reason, candidates from evidence where entry_id = ? order by id',
    )
    .all(entryId) as (Omit<Evidence, 'candidates' | 'reason'> & { candidates: string; reason: string })[];
  return rows.map((row) => ({ ...row, reason: readReason(row.reason), candidates: JSON.parse(row.candidates) as string[] }));
}
