import type { Outbox } from './outbox.ts';

export type EvidenceVerdict = 'found' | 'absent' | 'undecided' | 'person';

/** What was found out about an entry of unknown end, and what was concluded. */
export type Evidence = {
  readonly foundAt: number;
  readonly verdict: EvidenceVerdict;
  readonly reason: string;
  readonly candidates: readonly string[];
};

/** Writes evidence down, unless it says what the last one said. */
export function recordEvidence(outbox: Outbox, entryId: number, evidence: Omit<Evidence, 'foundAt'>): void {
  const last = evidenceOf(outbox, entryId).at(-1);
  if (last?.verdict === evidence.verdict && last.reason === evidence.reason) return;
  outbox
    .sql(
      `insert into evidence (entry_id, found_at, verdict, reason, candidates)
       values (:entryId, :now, :verdict, :reason, :candidates)`,
    )
    .run({
      entryId,
      now: Math.floor(outbox.clock.now()),
      verdict: evidence.verdict,
      reason: evidence.reason,
      candidates: JSON.stringify(evidence.candidates),
    });
}

export function evidenceOf(outbox: Outbox, entryId: number): Evidence[] {
  const rows = outbox
    .sql('select found_at as foundAt, verdict, reason, candidates from evidence where entry_id = ? order by id')
    .all(entryId) as (Omit<Evidence, 'candidates'> & { candidates: string })[];
  return rows.map((row) => ({ ...row, candidates: JSON.parse(row.candidates) as string[] }));
}
