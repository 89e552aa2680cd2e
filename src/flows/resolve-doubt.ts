import { UsageError } from '../base/errors.ts';
import { applySettlement } from '../outbox/claims.ts';
import { entriesOfFind, entriesOfRecord, move, type Target } from '../outbox/entries.ts';
import type { Entry, EntryState } from '../outbox/entry.ts';
import { recordEvidence } from '../outbox/evidence.ts';
import { findByIdentCely } from '../outbox/finds.ts';
import type { Outbox } from '../outbox/outbox.ts';

/** What a person found out, or wants. */
export type Decision =
  | { readonly kind: 'created'; readonly identCely: string }
  | { readonly kind: 'resend' }
  | { readonly kind: 'drop' };

/** What each decision is about: the first of these states that the record has entries in. */
const DECIDES: Readonly<Record<Decision['kind'], readonly EntryState[]>> = {
  created: ['uncertain'],
  resend: ['uncertain', 'refused', 'dropped'],
  drop: ['uncertain', 'refused'],
};

const CHOICES = { resend: 'send again', drop: 'drop' } as const;

/**
 * Settles a record's uncertain entries as a person decided. What was refused can be sent again or given up as well, and
 * a find that was given up can be taken back. To be called while holding the lease.
 * @param entryId only this entry; otherwise all that the decision is about
 * @throws UsageError when there is nothing to decide, or the identifier is another find's
 */
export function resolveDoubts(outbox: Outbox, target: Target, decision: Decision, entryId?: number): Entry[] {
  return outbox.change(() => {
    const entries = decidable(outbox, target, decision, entryId);
    if (entries.length === 0) {
      const what = {
        created: 'is uncertain',
        resend: 'is uncertain or refused, nor is the find given up',
        drop: 'is uncertain or refused',
      };
      throw new UsageError(`Nothing here ${what[decision.kind]}${entryId === undefined ? '' : ` with the number ${entryId}`}.`, {
        hint: '`pas status` lists what needs a person, with the command for it.',
      });
    }
    for (const entry of entries) decide(outbox, entry, decision);
    return entries;
  });
}

function decidable(outbox: Outbox, target: Target, { kind }: Decision, entryId: number | undefined): Entry[] {
  const { findId, identCely, profile } = target;
  const all = findId === null ? entriesOfRecord(outbox, identCely ?? '', profile) : entriesOfFind(outbox, findId, profile);
  const mayBeMeant = (entry: Entry) =>
    (entryId === undefined || entry.id === entryId) && (entry.state !== 'dropped' || canBeTakenBack(entry, all));
  const groups = DECIDES[kind].map((state) => all.filter((entry) => entry.state === state && mayBeMeant(entry)));
  return groups.find((group) => group.length > 0) ?? [];
}

/** Only the find itself, and only where nothing took its place: a photograph or a number is simply queued anew. */
function canBeTakenBack(entry: Entry, all: readonly Entry[]): boolean {
  const imports = all.filter(({ kind }) => kind === 'import');
  return entry === imports.at(-1) && imports.every(({ state }) => state === 'dropped');
}

function decide(outbox: Outbox, entry: Entry, decision: Decision): void {
  const choice = decision.kind === 'created' ? `created as ${decision.identCely}` : CHOICES[decision.kind];
  recordEvidence(outbox, entry.id, { verdict: 'person', reason: `a person decided: ${choice}`, candidates: [] });
  switch (decision.kind) {
    case 'created':
      refuseOthersRecord(outbox, entry, decision.identCely);
      applySettlement(outbox, entry, {
        state: 'accepted',
        identCely: decision.identCely,
        reason: 'a person found it at the service',
      });
      return;
    case 'resend':
      move(outbox, entry, 'queued', { notBeforeAt: 0, reason: 'a person wants it sent', issues: null });
      return;
    case 'drop':
      move(outbox, entry, 'dropped', { reason: 'given up by a person' });
  }
}

/** Two finds settled as one record would leave one of them at no service at all. */
function refuseOthersRecord(outbox: Outbox, entry: Entry, identCely: string): void {
  if (!/^[A-Za-z0-9-]{3,64}$/.test(identCely)) throw new UsageError(`${identCely} is not an identifier of the service.`);
  if (entry.kind !== 'import') {
    if (entry.identCely === identCely) return;
    throw new UsageError(`The ${entry.kind} was sent to ${entry.identCely}, not to ${identCely}.`, {
      hint: `If ${entry.identCely} has it, give that identifier.`,
    });
  }
  const owner = findByIdentCely(outbox, identCely, entry.profile);
  if (owner === undefined) return;
  throw new UsageError(`${identCely} is the record of ${owner.localId} already.`, {
    hint: `Look at the service for another record like ${entry.localId}; if there is none: pas resolve ${entry.localId} --resend`,
  });
}
