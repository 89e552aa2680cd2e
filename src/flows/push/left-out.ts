import type { Clock } from '../../base/clock.ts';
import type { Message } from '../../base/message.ts';
import type { EntryKind } from '../../outbox/entry.ts';

/**
 * What refuses one entry after another in the same way is a wall, and no matter of each of them: a project that the account has no
 * right to, a proxy that lets no upload through, an address that is another service's. What it concerns is left out for a while and
 * stays queued.
 */
export type Walls = { readonly rows: Map<string, Row>; readonly leftOut: Map<string, LeftOut> };

/** Equal answers in a row about a kind of entries, or about those of one project. */
type Row = {
  readonly answer: string;
  /** What they were about, each once: one record that is refused often is no wall. */
  readonly about: Set<string>;
  readonly refused: Set<number>;
  /** On the monotonic clock. */
  lastAtMs: number;
};

export type LeftOut = {
  readonly kind: EntryKind;
  /** Only the entries of this project, or all of the kind. */
  readonly project: string | null;
  /** Null where no answer came. */
  readonly status: number | null;
  readonly reason: Message;
  /** On the monotonic clock. */
  readonly untilMs: number;
  readonly pauseMs: number;
};

export function noWalls(): Walls {
  return { rows: new Map(), leftOut: new Map() };
}

export function leftOutNow({ leftOut }: Walls, { monotonicMs }: Clock): LeftOut[] {
  const nowMs = monotonicMs();
  return [...leftOut.values()].filter(({ untilMs }) => untilMs > nowMs);
}
