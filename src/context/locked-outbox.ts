import { OutboxLeasedError } from '../base/errors.ts';
import type { WithLockIfFree } from '../flows/reconcile/resolve-entries.ts';
import { acquirePushLock, type PushLock, withPushLock } from '../outbox/push-lock.ts';
import type { Context } from './context.ts';

/**
 * Runs `work` under the push lock.
 * @param id of another outbox than the profile's
 * @throws OutboxLeasedError during a push
 */
export function withLock<T>(context: Pick<Context, 'pushLock'>, work: () => Promise<T>, id?: string): Promise<T> {
  return withPushLock(context.pushLock(id), work);
}

/** Runs `work` under the lock where it is free, and without it during a push; `work` receives which. */
export function withLockIfFree(context: Pick<Context, 'pushLock'>): WithLockIfFree {
  return (work) => {
    const lock = lockIfFree(context);
    try {
      return work(lock !== undefined);
    } finally {
      lock?.release();
    }
  };
}

function lockIfFree({ pushLock }: Pick<Context, 'pushLock'>): PushLock | undefined {
  try {
    return acquirePushLock(pushLock());
  } catch (thrown) {
    if (thrown instanceof OutboxLeasedError) return undefined;
    throw thrown;
  }
}

/** Runs `work` under the push locks of these outboxes. */
export function withLocks<T>(context: Pick<Context, 'pushLock'>, ids: readonly string[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = ids;
  return first === undefined ? work() : withLock(context, () => withLocks(context, others, work), first);
}
