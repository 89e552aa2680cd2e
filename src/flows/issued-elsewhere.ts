import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import { selectEntries, type Target } from '../outbox/entries.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { pulledRecord } from '../outbox/pulled.ts';
import { targetOf } from './enqueue-change.ts';

export type ServiceOutbox = {
  readonly outbox: Outbox;
  readonly profile: string;
  /** Whether another profile is known to write to another service. */
  readonly isOtherService: (profile: string) => boolean;
};

type IssuedElsewhere = { readonly localId: string; readonly profile: string };

/**
 * Who has an identifier that only another service is known to have given. A training instance counts on from where it was copied, so
 * production gives the same identifiers to other finds.
 */
export function issuedElsewhere(
  { outbox, profile, isOtherService }: ServiceOutbox,
  identCely: string,
): IssuedElsewhere | undefined {
  const imports = selectEntries(outbox, `ident_cely = :identCely and kind = 'import' and state = 'accepted'`, { identCely });
  const isKnownHere = imports.some((entry) => entry.profile === profile || !isOtherService(entry.profile));
  const [first] = imports;
  if (first === undefined || first.localId === null || isKnownHere) return undefined;
  if (pulledRecord(outbox, profile, identCely) !== undefined) return undefined;
  return { localId: first.localId, profile: first.profile };
}

/** Why an identifier is not taken for a record of this profile's service, and what to name instead. */
export function elsewhereText(identCely: string, profile: string, found: IssuedElsewhere): { message: string; hint: string } {
  const [find, there, flag] = [shellWord(found.localId), found.profile, shellWord(profile)];
  return {
    message: t`${identCely} was given to ${found.localId} by the service of profile ${there}; at this one it is another record, or none.`,
    hint: t`Name the find: ${find}. To send it to this service, too: pas push ${find} --profile ${flag}`,
  };
}

/**
 * The record that FIND names, to queue something for.
 * @throws UsageError where it is none, or the identifier is known from another service only
 */
export function targetForChange(known: ServiceOutbox, find: string): Target {
  const target = targetOf(known.outbox, known.profile, find);
  const found = target.findId === null ? issuedElsewhere(known, find) : undefined;
  if (found === undefined) return target;
  const { message, hint } = elsewhereText(find, known.profile, found);
  throw new UsageError(message, { hint });
}
