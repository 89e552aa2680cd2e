import { UsageError } from '../../base/errors.ts';
import { msgid } from '../../base/language.ts';
import { cmd, msg, nmsg } from '../../base/message.ts';
import type { EarlierOutbox } from '../../outbox/journal.ts';
import { headerOf, type Outbox, updateHeader } from '../../outbox/open-outbox.ts';

/**
 * Returns other outboxes from which this machine has sent with the account, and that a person has not declared separate; latest
 * first, empty without a journal.
 * @param account the service's identifier
 */
export function earlierOutboxes(outbox: Outbox, account: string): EarlierOutbox[] {
  const { outbox: id, address, separateFrom } = headerOf(outbox);
  const earlier = outbox.journal?.outboxesOf(account, address, id) ?? [];
  return earlier.filter(({ outbox: other }) => !separateFrom.includes(other));
}

/** Stores that these are separate from this outbox. */
export function keepSeparate(outbox: Outbox, others: readonly string[]): void {
  outbox.change(() => updateHeader(outbox, { separateFrom: [...new Set([...headerOf(outbox).separateFrom, ...others])] }));
}

/** Tells if no attempt was made from the outbox. */
export function isUnattempted(outbox: Outbox): boolean {
  return outbox.sql(`select 1 from events where kind = 'attempted' limit 1`).get() === undefined;
}

/** A person must first decide if a new outbox continues an earlier one. */
export class UndecidedOutboxError extends UsageError {
  /** Latest first. */
  readonly earlier: readonly EarlierOutbox[];

  constructor(earlier: readonly EarlierOutbox[]) {
    const [latest] = earlier;
    const { outbox = '', attempts = 0 } = latest ?? {};
    const message = nmsg(
      msgid`This machine has sent ${attempts} request for the account from another outbox, ${outbox}. Nothing was sent.`,
      msgid`This machine has sent ${attempts} requests for the account from another outbox, ${outbox}. Nothing was sent.`,
      attempts,
    );
    super(message, {
      hint: msg`If this one continues it: ${cmd`pas outbox adopt --continue ${outbox} --yes`}. If the two are separate: ${cmd`pas outbox adopt --separate`}`,
    });
    this.earlier = earlier;
  }
}
