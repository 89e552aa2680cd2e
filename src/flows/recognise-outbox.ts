import { lastAnswerMs } from '../outbox/backup-copy.ts';
import { addGap } from '../outbox/gaps.ts';
import { beginHistory, historyOf, lastRequestMs, type Memory, settleOn } from '../outbox/history.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { doubtUnsent } from '../outbox/put-back.ts';
import { allServices } from '../outbox/services.ts';

export type Recognition = {
  readonly memory: Memory;
  /** What the machine is called; empty where another one may be called the same. */
  readonly machine: string;
  /** Asked once where the outbox comes from another machine: nobody pushes it there any more. */
  readonly wasMoved: () => Promise<boolean>;
  /** Told that it is a copy, and how many entries are in doubt for that. */
  readonly onCopy?: (found: Copied) => void;
};

export type Copied = { readonly from: 'earlier' | 'elsewhere'; readonly doubtful: number };

/**
 * Tells an outbox from a copy of it that is pushed as well: an older one that was put back by hand, or one of another machine. Of such
 * a one nobody knows what was sent from the other, so all that it has queued is in doubt. To be called under the lease, before anything
 * is sent.
 */
export async function recogniseOutbox(outbox: Outbox, { memory, machine, wasMoved, onCopy }: Recognition): Promise<void> {
  const from = await originOf(outbox, memory, machine, wasMoved);
  if (from === undefined) settleOn(outbox, machine);
  else {
    const doubtful = outbox.change(() => {
      const nowMs = outbox.clock.now();
      const untilMs = (from === 'earlier' ? memory.recall(historyOf(outbox).id)?.notedMs : undefined) ?? nowMs;
      const fromMs = Math.min(lastRequestMs(outbox) ?? nowMs, lastAnswerMs(outbox) ?? nowMs, untilMs);
      const entries = doubtUnsent(outbox, { fromMs, untilMs });
      for (const { id } of allServices(outbox)) addGap({ ...outbox, serviceId: id }, { project: null, fromMs, untilMs });
      beginHistory(outbox, machine);
      return entries.length;
    });
    onCopy?.({ from, doubtful });
  }
  memory.note(outbox);
}

async function originOf(
  outbox: Outbox,
  memory: Memory,
  machine: string,
  wasMoved: () => Promise<boolean>,
): Promise<Copied['from'] | undefined> {
  const known = historyOf(outbox);
  if ((memory.recall(known.id)?.attempts ?? 0) > known.attempts) return 'earlier';
  const isElsewhere = known.machine !== '' && machine !== '' && known.machine !== machine;
  return isElsewhere && !(await wasMoved()) ? 'elsewhere' : undefined;
}
