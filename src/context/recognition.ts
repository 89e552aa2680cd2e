import { UsageError } from '../base/errors.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import type { Copied, Recognition } from '../flows/push/recognise-outbox.ts';
import { openMemory } from '../outbox/history.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import type { Context } from './context.ts';

/** How a push tells its outbox from a copy of it. @param said by a person of an outbox that comes from another machine */
export function openRecognition(context: Context, { processes }: Outbox, said: 'moved' | 'copied' | undefined): Recognition {
  const { onClose, places, prompt, terminal } = context;
  const memory = openMemory(places.memoryFile);
  onClose(() => memory.close());
  return {
    memory,
    machine: processes.machine(),
    wasMoved: async () => {
      if (said !== undefined) return said === 'moved';
      const what = t`This outbox was used on another machine before.`;
      if (!terminal.interactive)
        throw new UsageError(t`${what} Nothing was sent.`, {
          hint: t`If nothing is sent from there any more: ${cmd`pas push --moved`}. If it is a copy: ${cmd`pas push --copied`}`,
        });
      terminal.note(what);
      return (await prompt()).confirm(t`Was it moved here, so that nothing is sent from there any more? (No: it is a copy)`);
    },
    onCopy: (found) => terminal.warn(copyText(found)),
  };
}

const ORIGINS: Readonly<Record<Copied['from'], Message>> = {
  earlier: msg`This outbox is an older copy: more was sent from it, or from the one that it is a copy of, than it knows.`,
  divided: msg`A copy of this outbox has been pushed since, and sends what both have queued.`,
  elsewhere: msg`This outbox is a copy of one of another machine, from where what both have queued is sent.`,
};

function copyText({ from, doubtful }: Copied): string {
  const what = ORIGINS[from];
  const doubt = ngettext(
    msgid`${doubtful} entry is uncertain until it was looked for.`,
    `${doubtful} entries are uncertain until they were looked for.`,
    doubtful,
  );
  return `${what} ${doubt}`;
}
