import { withoutFullStop } from '../base/characters.ts';
import { t } from '../base/language.ts';
import { cmd } from '../base/message.ts';
import { isNeededByImports } from '../harvest/harvest-vocabulary.ts';
import { formatSetName } from '../harvest/pass.ts';
import type { HarvestRequest, SetResult } from '../harvest/service-lists.ts';
import { type Context, installSignalHandlers, makeDeadlineSignal } from './context/context.ts';
import { saveMalformedAnswer } from './context/harvest-output.ts';
import { fetchHarvestingAccount, openHarvestClient } from './context/open-service.ts';
import type { Progress, Terminal } from './terminal.ts';

/** Describes a record that `--skip-broken` leaves out. */
export function formatLeftOut(identifier: string | null | undefined, sentence: string): string {
  const record = identifier ?? t`a record`;
  const reason = withoutFullStop(sentence);
  return t`Skipped ${record}: ${reason}.`;
}

/**
 * Converts a set's result to JSON: `set` is null for a harvest without a set, `kept_in_doubt` the
 * kind of the unconfirmed losses, null without any.
 */
export function toSetJson({ setSpec, unconfirmed, ...figures }: SetResult) {
  const kind = unconfirmed?.held === 0 ? 'empty' : 'losses';
  return {
    set: setSpec || null,
    ...figures,
    kept_in_doubt: unconfirmed === undefined ? null : kind,
  };
}

const MAX_NAMED = 5;

/**
 * Prints the sets with unconfirmed losses.
 * @returns true if the harvest is therefore incomplete
 */
export function warnOfUnconfirmedLosses(
  terminal: Terminal,
  sets: readonly SetResult[],
  command: 'harvest' | 'harvest-vocab',
): boolean {
  let isIncomplete = false;
  for (const { setSpec, unconfirmed } of sets) {
    if (unconfirmed === undefined) continue;
    const name = formatSetName(setSpec);
    const { lost, held, inUse } = unconfirmed;
    isIncomplete ||= held > 0 || isNeededByImports(setSpec);
    if (held === 0) {
      terminal.warn(
        setSpec === ''
          ? t`The service lists no records. The next run reads everything again.`
          : t`${name}: the service lists this set but no records in it. The next run reads it in full.`,
      );
      continue;
    }
    const used = inUse.slice(0, MAX_NAMED).join(', ');
    const inUseText = used === '' ? '' : t` Finds or the mapping use ${used}.`;
    const flag = cmd`--accept-losses`;
    const again = command === 'harvest' ? cmd`pas harvest` : cmd`pas harvest-vocab`;
    terminal.warn(
      t`${name}: the service no longer lists ${lost} of ${held} records; its index may be being rebuilt. All are kept.${inUseText} Run \`${again}\` again in an hour, or add ${flag} if they are really gone.`,
    );
  }
  return isIncomplete;
}

/** Flags of both harvests; `--deadline` is one of records only. */
export type RequestOptions = {
  readonly full?: boolean;
  readonly skipBroken?: boolean;
  readonly acceptLosses?: boolean;
  readonly deadline?: string;
};

/**
 * Runs a harvest of sets until done, Ctrl-C or `--deadline`, with progress on the terminal. The
 * bytes of a malformed answer are saved, and its error is thrown on.
 * @param harvest makes the harvest from the common part of the request
 */
export async function runHarvest<Result>(
  context: Context,
  options: RequestOptions,
  harvest: (request: HarvestRequest) => Promise<Result>,
): Promise<Result> {
  const { terminal, clock } = context;
  const interrupts = installSignalHandlers(context, t`Stopping. The harvested records are kept.`);
  let bar: Progress | undefined;
  const { account, waitedMs } = await fetchHarvestingAccount(context);
  return harvest({
    client: await openHarvestClient(context, waitedMs),
    clock,
    full: options.full === true,
    skipBroken: options.skipBroken === true,
    acceptLosses: options.acceptLosses === true,
    rights: account === undefined ? undefined : `${account.role}, ${account.organisation}`,
    indexAllowanceMs: context.getProfile().indexAllowanceMs,
    onNote: terminal.note,
    startProgress: (list) => {
      bar?.end();
      bar = terminal.startProgress(list);
      return bar.update;
    },
    signal: makeDeadlineSignal(context, interrupts.stop, options.deadline),
  })
    .catch((thrown: unknown) => saveMalformedAnswer(context, thrown))
    .finally(() => bar?.end());
}
