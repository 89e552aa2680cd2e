import { OutboxLeasedError } from '../../base/errors.ts';
import { cmd, msg } from '../../base/message.ts';
import { lastAnswerMs } from '../../outbox/backup-copy.ts';
import { OPEN_END_MS } from '../../outbox/entry.ts';
import { addGap } from '../../outbox/gaps.ts';
import { beginHistory, countPush, historyOf, lastRequestMs, type Memory } from '../../outbox/history.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { doubtUnsent } from '../../outbox/put-back.ts';
import { allServices } from '../../outbox/services.ts';

export type Recognition = {
  readonly memory: Memory;
  /** What the machine is called; empty where another one may be called the same. */
  readonly machine: string;
  /** Asked once where the outbox comes from another machine: nobody pushes it there any more. */
  readonly wasMoved: () => Promise<boolean>;
  /** Told that it is a copy, and how many entries are in doubt for that. */
  readonly onCopy?: (found: Copied) => void;
};

export type Copied = { readonly from: Origin; readonly doubtful: number };

/**
 * What makes it a copy: it knows less than was sent from it (an older file that was put back, or the second of two that were pushed),
 * another copy has gone on in its place since, or it comes from another machine.
 */
type Origin = 'earlier' | 'divided' | 'elsewhere';

/**
 * Tells an outbox from a copy of it that is pushed as well. Of such a one nobody knows what was sent from the other, so what both have
 * queued is in doubt. It is sent from one of them: on one machine from the last that was recognised, which the other cannot pass any
 * more; of two machines from the one that it comes from. To be called under the lease, before anything is sent.
 * @throws OutboxLeasedError where a copy is pushed at this moment
 */
export async function recogniseOutbox(outbox: Outbox, { memory, machine, wasMoved, onCopy }: Recognition): Promise<void> {
  const known = historyOf(outbox);
  const recalled = memory.recall(known.id);
  const isBehind = (recalled?.attempts ?? 0) > known.attempts;
  const isDivided = recalled !== undefined && recalled.sharedUntil !== null;
  const isElsewhere = known.machine !== '' && machine !== '' && known.machine !== machine;
  const from = isDivided ? 'divided' : isBehind ? 'earlier' : isElsewhere && !(await wasMoved()) ? 'elsewhere' : undefined;
  if (from !== undefined) {
    // First of all, and for good: whoever else has this outbox must not go on with what this one is to send.
    if (from !== 'elsewhere') memory.divide(outbox);
    const doubtful = outbox.change(() => {
      const nowMs = outbox.clock.now();
      const fromMs = Math.min(lastRequestMs(outbox) ?? nowMs, lastAnswerMs(outbox) ?? nowMs, nowMs);
      // Of two copies each knows all that was sent until they were divided, unless it is behind as well: an old copy that is put back a second time.
      const isLost = from !== 'divided' || isBehind;
      const unsent = isLost ? doubtUnsent(outbox, { fromMs, untilMs: from === 'elsewhere' ? OPEN_END_MS : nowMs }) : [];
      const shared = from === 'divided' ? doubtUnsent(outbox, { fromMs, untilMs: OPEN_END_MS }, recalled?.sharedUntil) : [];
      if (isLost)
        for (const { id } of allServices(outbox)) addGap({ ...outbox, serviceId: id }, { project: null, fromMs, untilMs: nowMs });
      beginHistory(outbox, machine);
      return Math.max(unsent.length, shared.length);
    });
    // So that a file without its log does not forget it.
    outbox.sql('pragma wal_checkpoint(full)').all();
    onCopy?.({ from, doubtful });
  }
  countPush(outbox, machine);
  refuseCopy(outbox, memory);
}

/** Before a request leaves. @throws OutboxLeasedError where a copy of the outbox has taken its place meanwhile */
export function refuseCopy(outbox: Outbox, memory: Memory): void {
  if (memory.advance(outbox)) return;
  throw new OutboxLeasedError(msg`A copy of this outbox is pushed as well. Nothing more is sent from this one now.`, {
    hint: msg`${cmd`pas push`} looks for what was sent from there, and goes on with the rest.`,
  });
}
