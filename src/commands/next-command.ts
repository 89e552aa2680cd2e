import { msgid, ngettext, t } from '../base/language.ts';
import { type Command, cmd } from '../base/message.ts';
import type { Profile } from '../context/config.ts';
import type { Context } from '../context/context.ts';
import { heldProjects } from '../flows/finds/outbox-status.ts';
import type { Entry } from '../outbox/entry.ts';
import type { ServiceOutbox } from '../outbox/open-outbox.ts';

/** What sends finds of other services to this one as well. */
export function copyCommand({ kind, name }: Profile): Command {
  return kind === 'production' ? cmd`pas push --profile ${name} --copy` : cmd`pas push --profile ${name}`;
}

/** Nobody's finds are sent in another one's name unless that is asked for. */
export function noteOtherAccounts({ terminal }: Context, others: ReadonlyMap<string, number>): void {
  for (const [username, count] of others) {
    terminal.note(
      ngettext(
        msgid`${count} entry here was queued by ${username}, and is sent by that account; or by yours with ${cmd`pas push --any-account`}.`,
        `${count} entries here were queued by ${username}, and are sent by that account; or by yours with ${cmd`pas push --any-account`}.`,
        count,
      ),
    );
  }
}

/** What comes after something was queued. */
export function adviseSending({ terminal }: Context): void {
  terminal.note(t`Next: \`${cmd`pas status`}\`, then \`${cmd`pas push`}\` when there is a network.`);
}

/**
 * The command that takes an entry on that waits for a person, to be typed as it stands. A record may have several photographs, of which
 * some are there and some are not: each is decided by itself.
 */
export function commandFor({ id, kind, state, localId, identCely }: Entry): Command {
  const find = localId ?? identCely ?? '';
  switch (state) {
    case 'uncertain':
      return kind === 'import' ? cmd`pas resolve ${find}` : cmd`pas resolve ${find} --entry ${id}`;
    case 'refused':
      return kind === 'import' ? cmd`pas edit ${find}` : cmd`pas resolve ${find} --entry ${id}`;
    case 'draft':
      return cmd`pas edit ${find}`;
    default:
      return cmd`pas show ${find}`;
  }
}

/** Says why what is added is held, where an older copy of the outbox was put back and it is open what was sent since. */
export function noteGap(context: Context, outbox: ServiceOutbox): void {
  const { terminal } = context;
  const held = heldProjects(outbox);
  if (held.length === 0) return;
  const projects = held === 'all' ? '' : held.join(', ');
  terminal.note(
    held === 'all'
      ? t`An older copy of the outbox was put back. What is added now may have been sent before, so it is uncertain until ${cmd`pas reconcile`} has looked.`
      : t`The service has records that were made after the copy of the outbox and that are not in it (${projects}). What is added to these projects is uncertain until ${cmd`pas reconcile`} has looked.`,
  );
  terminal.note(t`If you know that nothing you add was sent before: ${cmd`pas reconcile --release-new`}`);
}
