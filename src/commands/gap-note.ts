import { t } from '../base/language.ts';
import type { Context } from '../context/context.ts';
import { heldProjects } from '../flows/outbox-status.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';

/** Says why what is added is held, where an older copy of the outbox was put back and it is open what was sent since. */
export function noteGap(context: Context, outbox: ServiceOutbox): void {
  const { terminal } = context;
  const held = heldProjects(outbox);
  if (held.length === 0) return;
  const projects = held === 'all' ? '' : held.join(', ');
  terminal.note(
    held === 'all'
      ? t`An older copy of the outbox was put back. What is added now may have been sent before, so it is uncertain until pas reconcile has looked.`
      : t`The service has records that were made after the copy of the outbox and that are not in it (${projects}). What is added to these projects is uncertain until pas reconcile has looked.`,
  );
  terminal.note(t`If you know that nothing you add was sent before: pas reconcile --release-new`);
}
