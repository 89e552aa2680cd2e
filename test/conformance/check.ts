import type { ClauseId } from './clauses.ts';
import type { Scene } from './scene.ts';

/** Kind of a check: it reads by harvesting, sends writes without effect, or writes. */
export type Kind = 'harvest' | 'ask' | 'write';

/**
 * One sentence of the contract as something that can be seen from outside. `run` throws Broken,
 * Skipped or Outage, or it passed.
 */
export type Check = {
  readonly id: string;
  readonly clause: ClauseId;
  readonly kind: Kind;
  readonly expected: string;
  run(scene: Scene): Promise<void>;
};

const make =
  (kind: Kind) =>
  (id: string, clause: ClauseId, expected: string, run: Check['run']): Check => ({
    id,
    clause,
    kind,
    expected,
    run,
  });

export const harvests = make('harvest');
export const asks = make('ask');
export const writes = make('write');

export type CheckResult = {
  readonly id: string;
  readonly clause_id: ClauseId;
  /** The clause in words, kept for programs that read it. */
  readonly clause: string;
  readonly expected: string;
  readonly result: 'pass' | 'break' | 'skipped' | 'outage';
  /**
   * Short difference to what was expected, or the reason why it was not checked. Empty where it
   * passed.
   */
  readonly seen: string;
  /** Attempts before it was believed. */
  readonly tries: number;
};

/** The deployment does not do what the contract says. */
export class Broken extends Error {
  override readonly name = 'Broken';
}

/** Error for a missing requirement of a check; the message names it. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

/**
 * The deployment gave no answer of its own: it is closed, out of reach, or something in between
 * answered for it.
 */
export class Outage extends Error {
  override readonly name = 'Outage';
  /**
   * The request was not repeated, since its effect is unknown: the check may be, from its
   * beginning.
   */
  readonly isOpen: boolean;
  /** It was a 500 of a deployment that is well otherwise. */
  readonly isOwn: boolean;

  constructor(message: string, { isOpen = false, isOwn = false } = {}) {
    super(message);
    this.isOpen = isOpen;
    this.isOwn = isOwn;
  }
}

/** The run must not go on: what is written to is no training instance. */
export class NotTraining extends Error {
  override readonly name = 'NotTraining';
}

/** @throws Broken with what was seen, where it does not hold */
export function must(holds: boolean, seen: string): asserts holds {
  if (!holds) throw new Broken(shortened(seen));
}

/** @throws Skipped */
export function skipUnless(holds: boolean, why: string): asserts holds {
  if (!holds) throw new Skipped(why);
}

/**
 * @throws Broken where a value is there that should not be, or none that should: both lists are
 * named
 */
export function mustBeSame(seen: Iterable<string>, expected: Iterable<string>, of: string): void {
  const has = new Set(seen);
  const wants = new Set(expected);
  const extra = [...has].filter((value) => !wants.has(value));
  const missing = [...wants].filter((value) => !has.has(value));
  must(
    extra.length + missing.length === 0,
    [
      missing.length > 0 ? `${of} missing: ${missing.slice(0, 5)}` : '',
      extra.length > 0 ? `${of} too many: ${extra.slice(0, 5)}` : '',
    ]
      .filter((part) => part !== '')
      .join('; '),
  );
}

const MAX_SEEN = 240;

export function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= MAX_SEEN ? line : `${line.slice(0, MAX_SEEN)}…`;
}
