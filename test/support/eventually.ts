import { expect } from 'vitest';

/**
 * More than anything takes that is waited for, also on a busy machine; less than a test may take,
 * so that it ends with what was seen.
 */
export const PATIENCE_MS = 60_000;

/**
 * Polls for an effect of another process or a browser until it holds. A value to compare belongs in
 * here: what is looked at once, beside it, may not be there yet.
 */
export function eventually<T>(find: () => T | Promise<T>) {
  return expect.poll(find, { timeout: PATIENCE_MS, interval: 20 });
}

/** Tells those who wait that something has changed. */
export type News = { tell(): void; next(): Promise<void> };

export function makeNews(): News {
  const waiting = new Set<() => void>();
  return {
    tell: () => {
      for (const go of waiting) go();
      waiting.clear();
    },
    next: () => new Promise((go) => waiting.add(go)),
  };
}

/** One look: what was seen, and in words what is still lacking, which may come or never will. */
export type Look<T> = {
  readonly seen: T;
  readonly lacks: string | undefined;
  readonly isOver: boolean;
};

/**
 * For what tells of every change: looked at whenever there is news, until nothing is lacking.
 * @throws Error with what is lacking, where it never comes, and after a deadline
 */
export async function found<T>(news: News, look: () => Promise<Look<T>>): Promise<T> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const tired = new Promise<void>((go) =>
    patience.addEventListener('abort', () => go(), { once: true }),
  );
  for (;;) {
    const change = news.next();
    const isLast = patience.aborted;
    const { seen, lacks, isOver } = await look();
    if (lacks === undefined) return seen;
    if (isOver) throw new Error(`It is over, and ${lacks}`);
    if (isLast) throw new Error(`Waited for ${PATIENCE_MS / 1000} s, and ${lacks}`);
    await Promise.race([change, tired]);
  }
}
