import type { Ledger } from './ledger.ts';

/** How far a harvest is. Every function that writes expects to run inside {@link Ledger.change}. Times are the server's. */

/** How datestamps run along a list. */
export type Direction = 'falling' | 'rising' | 'neither';

export type Window = { readonly fromMs: number | null; readonly untilMs: number | null };

/** One reading of everything that a window holds, perhaps over several runs of pas and several walks along the list. */
export type Pass = {
  readonly kind: 'full' | 'changes';
  readonly window: Window;
  /** When the service answered the first page; null before that. */
  readonly beganMs: number | null;
  readonly firstWalk: number;
  /** Number of the walk under way. */
  readonly walk: number;
  /** How many different records the pass has met. */
  readonly met: number;
  /** As the service counted the window last. */
  readonly listSize: number | null;
  /** What the walk asks for: the pass's window, or less where the rest was met. */
  readonly walkWindow: Window;
  /** Where the walk goes on; null before its first page. */
  readonly token: string | null;
  /** The list came to its end. */
  readonly ended: boolean;
  readonly direction: Direction | null;
  /** Datestamp of the last record that the walk met. */
  readonly edgeMs: number | null;
};

type PassRow = Omit<Pass, 'kind' | 'window' | 'walkWindow' | 'ended'> & {
  readonly kind: Pass['kind'] | null;
  readonly fromMs: number | null;
  readonly untilMs: number | null;
  readonly walkFromMs: number | null;
  readonly walkUntilMs: number | null;
  readonly ended: number;
};

/** The pass under way; undefined when there is none. */
export function passOf(ledger: Ledger): Pass | undefined {
  const row = ledger
    .sql(
      `select pass as kind, window_from_at as fromMs, window_until_at as untilMs, pass_began_at as beganMs,
         first_walk as firstWalk, walk, met, list_size as listSize, walk_from_at as walkFromMs, walk_until_at as walkUntilMs,
         token, ended, direction, edge_at as edgeMs from harvest`,
    )
    .get() as PassRow | undefined;
  if (row === undefined || row.kind === null) return undefined;
  const { kind, fromMs, untilMs, walkFromMs, walkUntilMs, ended, ...rest } = row;
  return {
    ...rest,
    kind,
    window: { fromMs, untilMs },
    walkWindow: { fromMs: walkFromMs, untilMs: walkUntilMs },
    ended: ended === 1,
  };
}

/** When the last complete pass began; null where there was none. */
export function watermarkOf(ledger: Ledger): number | null {
  return ledger.sql('select watermark_at from harvest').pluck().get() as number | null;
}

export function beginPass(ledger: Ledger, kind: Pass['kind'], { fromMs, untilMs }: Window): void {
  ledger
    .sql(
      `update harvest set pass = :kind, window_from_at = :fromMs, window_until_at = :untilMs, pass_began_at = null,
         first_walk = walk + 1, met = 0, list_size = null`,
    )
    .run({ kind, fromMs, untilMs });
  beginWalk(ledger, { fromMs, untilMs });
}

/** Goes to the first page of a list again; what was met and stored so far is kept. */
export function beginWalk(ledger: Ledger, { fromMs, untilMs }: Window): void {
  ledger
    .sql(
      `update harvest set walk = walk + 1, token = null, ended = 0, walk_from_at = :fromMs, walk_until_at = :untilMs,
         direction = null, edge_at = null`,
    )
    .run({ fromMs, untilMs });
}

type PageNote = {
  /** Undefined at the end of the list. */
  readonly token: string | undefined;
  /** Undefined where the service did not count, or counted less than the pass's window. */
  readonly listSize: number | undefined;
  readonly responseDateMs: number;
  readonly direction: Direction | null;
  readonly edgeMs: number | null;
};

/** Notes a page of the walk together with its records, so that a kill leaves both or neither. */
export function notePage(ledger: Ledger, note: PageNote): void {
  ledger
    .sql(
      `update harvest set token = :token, ended = :ended, list_size = coalesce(:listSize, list_size),
         pass_began_at = coalesce(pass_began_at, :responseDateMs), direction = :direction, edge_at = :edgeMs`,
    )
    .run({
      token: note.token ?? null,
      ended: note.token === undefined ? 1 : 0,
      listSize: note.listSize ?? null,
      responseDateMs: note.responseDateMs,
      direction: note.direction,
      edgeMs: note.edgeMs,
    });
}

/** Ends the pass: the output is complete as of the moment at which the pass began. */
export function completePass(ledger: Ledger, nowMs: number): void {
  ledger
    .sql(
      `update harvest set watermark_at = pass_began_at, completed_at = ?, pass = null, window_from_at = null,
         window_until_at = null, pass_began_at = null, list_size = null, token = null, ended = 0, walk_from_at = null,
         walk_until_at = null, direction = null, edge_at = null`,
    )
    .run(Math.floor(nowMs));
}
