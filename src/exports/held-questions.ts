import { resolveEntries, sendHeld } from '../flows/reconcile/resolve-entries.ts';
import type { Entry, HeldBasis } from '../outbox/entry.ts';
import type { Outbox } from '../outbox/open-outbox.ts';

/** Question about a held entry. `candidates`: identifiers of records, file names or numbers. */
export type Question = {
  /** Local id of the find; null for a record without a find in this outbox. */
  readonly find: string | null;
  /** Stable code. */
  readonly basis: HeldBasis;
  readonly question: string;
  readonly candidates: readonly string[];
};

/** `send`: it is another find. `created`: the service has it as this record. */
export type Answer = 'send' | 'hold' | { readonly created: string };

/** Asks the program about held entries and records its answers. The caller holds the push lock. */
export async function answerHeld(
  outbox: Outbox,
  held: readonly Entry[],
  onQuestion: (question: Question) => Answer | Promise<Answer>,
): Promise<void> {
  for (const entry of held) {
    const question = questionOf(entry);
    const answer = question === undefined ? 'hold' : await onQuestion(question);
    if (answer === 'hold') continue;
    if (answer === 'send') sendHeld(outbox, [entry]);
    else {
      const name = entry.localId ?? entry.identCely ?? '';
      // The running push holds the lock already.
      resolveEntries(outbox, name, { kind: 'created', identCely: answer.created }, entry.id, (work) => work(false));
    }
  }
}

export function questionOf({ held, localId }: Entry): Question | undefined {
  if (held === null) return undefined;
  const { basis, question, candidates } = held;
  return { find: localId, basis, question: String(question), candidates };
}
