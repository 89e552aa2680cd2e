import { msg } from '../../base/message.ts';
import { move } from '../../outbox/entries.ts';
import type { ImportEntry } from '../../outbox/entry.ts';
import { madeElsewhere } from '../../outbox/owners.ts';
import { gatherEvidence, type LookContext } from '../reconcile/gather-evidence.ts';
import { applyVerdict, judgeImportEntries, type Reconciled } from '../reconcile/reconcile-entries.ts';

/** Equal records of this account, of which it is open which is whose. */
const FOR_A_PERSON: readonly string[] = ['several-same', 'rival-find'];

/** Looks for the records that another copy of this outbox has made of what is to be sent, so that the two meet at the service. */
export async function meetCopies(context: LookContext, waiting: readonly ImportEntry[]): Promise<Reconciled[]> {
  const { outbox, clock } = context;
  const doubts = waiting.map((entry) => ({ ...entry, doubt: { fromMs: entry.createdAt, untilMs: clock.now() } }));
  const view = await gatherEvidence(context, doubts, []);
  const verdicts = judgeImportEntries(context, doubts, view);
  return waiting.flatMap((entry) => {
    const verdict = verdicts.get(entry.id);
    if (verdict === undefined || !(verdict.kind === 'found' || FOR_A_PERSON.includes(verdict.basis))) return [];
    // A training instance may be harvested where production is, which has the same finds.
    if (verdict.kind === 'found' && madeElsewhere(outbox, verdict.identCely) !== undefined) return [];
    outbox.change(() => {
      move(outbox, entry, 'uncertain', { reason: msg`a copy of this outbox may have sent it` });
      applyVerdict(context, { ...entry, state: 'uncertain' }, verdict, view.nowMs);
    });
    return [{ entry, verdict }];
  });
}
