import { t } from '../base/message.ts';
import type { HarvestRequest, SetResult } from '../harvest/harvest-records.ts';
import { isNeededByImports } from '../harvest/harvest-vocabulary.ts';
import { formatSetName } from '../harvest/protocol.ts';
import { type Context, handleSignals, makeDeadlineSignal } from './context/context.ts';
import { fetchHarvestingAccount, openHarvestClient } from './context/open-service.ts';
import type { Progress, Terminal } from './terminal.ts';

const MAX_BROKEN_NAMED = 20;

/**
 * Warns of records that could not be read: the first {@link MAX_BROKEN_NAMED} by name, then how
 * many more.
 */
export function warnOfBrokenRecords(
  terminal: Pick<Terminal, 'warn'>,
  sets: readonly Pick<SetResult, 'broken'>[],
): void {
  const broken = sets.flatMap((set) => set.broken);
  for (const record of broken.slice(0, MAX_BROKEN_NAMED))
    terminal.warn(
      t`${record} was skipped: it came without content that pas can read. Add --full to request it again.`,
    );
  const more = broken.length - MAX_BROKEN_NAMED;
  if (more > 0) terminal.warn(t`  … and ${more} more (--json lists them all)`);
}

/**
 * Converts a set's result to JSON. `set` is null for a harvest without a set. `kept_in_doubt` is
 * `losses` where records are no longer listed, `empty` where the service lists none and none is
 * known, else null.
 */
export function toSetResultJson({ setSpec, unconfirmed, ...figures }: SetResult) {
  const kind = unconfirmed?.held === 0 ? 'empty' : 'losses';
  return {
    set: setSpec || null,
    ...figures,
    kept_in_doubt: unconfirmed === undefined ? null : kind,
  };
}

const MAX_NAMED = 5;

/**
 * Warns of sets from which the service no longer lists records that are kept, and of those in which
 * it lists none at all.
 */
export function warnOfUnconfirmedLosses(terminal: Terminal, sets: readonly SetResult[]): void {
  for (const { setSpec, unconfirmed } of sets) {
    if (unconfirmed === undefined) continue;
    const name = formatSetName(setSpec);
    const { lost, held, inUse } = unconfirmed;
    if (held === 0) {
      terminal.warn(t`${name}: the service lists no records. The next run reads it in full.`);
      continue;
    }
    const used = inUse.slice(0, MAX_NAMED).join(', ');
    const inUseText = used === '' ? '' : t` Finds or the mapping use ${used}.`;
    terminal.warn(
      t`${name}: the service no longer lists ${lost} of ${held} records; its index may be being rebuilt. All are kept.${inUseText} Run the same command again in an hour, or add --accept-losses if they are really gone.`,
    );
  }
}

/**
 * Tells if a harvest left something for a person to do: a record could not be read, or losses are
 * unconfirmed. A set in which the service lists no records counts only where imports need it.
 */
export function hasDoubtfulRecords(sets: readonly SetResult[]): boolean {
  return sets.some(
    ({ setSpec, broken, unconfirmed }) =>
      broken.length > 0 ||
      (unconfirmed !== undefined && (unconfirmed.held > 0 || isNeededByImports(setSpec))),
  );
}

/** Flags of both harvests; `--deadline` is one of records only. */
export type HarvestFlags = {
  readonly full?: boolean;
  readonly acceptLosses?: boolean;
  readonly deadline?: string;
};

/**
 * Requests the account as {@link fetchHarvestingAccount}, then runs a harvest with progress on the
 * terminal, until it is done, Ctrl-C or `--deadline`. The signals of the system are handled until
 * the context is closed.
 * @param harvest called once with what every harvest needs; the caller adds sets and output
 * @throws UsageError for an invalid deadline; ConfigError for the profile; errors of `harvest`,
 * such as UnavailableError at the deadline
 */
export async function runHarvest<Result>(
  context: Context,
  options: HarvestFlags,
  harvest: (request: HarvestRequest) => Promise<Result>,
): Promise<Result> {
  const { terminal, clock } = context;
  const interrupts = handleSignals(context, t`Stopping. The harvested records are kept.`);
  let bar: Progress | undefined;
  // A harvest repeats its note about the account with each set.
  const noted = new Set<string>();
  const account = await fetchHarvestingAccount(context);
  return harvest({
    client: await openHarvestClient(context),
    clock,
    full: options.full === true,
    acceptLosses: options.acceptLosses === true,
    rights: account === undefined ? undefined : `${account.role}, ${account.organisation}`,
    indexAllowanceMs: context.getProfile().indexAllowanceMs,
    onNote: (text) => {
      if (!noted.has(text)) terminal.note(text);
      noted.add(text);
    },
    startProgress: (list) => {
      bar?.end();
      bar = terminal.startProgress(list);
      return bar.update;
    },
    signal: makeDeadlineSignal(context, interrupts.stop, options.deadline),
  }).finally(() => bar?.end());
}
