import { t } from '../../base/language.ts';
import { type Context, installSignalHandlers, makeDeadlineSignal } from '../../context/context.ts';
import { saveMalformedAnswer } from '../../context/malformed-answer.ts';
import { fetchHarvestingAccount, openHarvestClient } from '../../context/open-service.ts';
import type { HarvestRequest, SetProgress } from '../../flows/harvest/service-lists.ts';
import type { Progress, Terminal } from '../../ui/terminal.ts';

/** Flags of both harvests. */
export type RequestOptions = {
  readonly full?: boolean;
  readonly skipBroken?: boolean;
  readonly acceptLosses?: boolean;
  readonly deadline?: string;
};

/**
 * Runs a harvest of sets until done, Ctrl-C or `--deadline`; the bytes of a malformed answer are
 * saved.
 * @param version of the endpoint
 */
export async function runHarvest<Result>(
  context: Context,
  version: string,
  options: RequestOptions,
  harvest: (request: HarvestRequest) => Promise<Result>,
): Promise<Result> {
  const { terminal, clock } = context;
  const interrupts = installSignalHandlers(context, t`Stopping. The harvested records are kept.`);
  const show = makeProgressPerSet(terminal);
  const { account, waitedMs } = await fetchHarvestingAccount(context);
  return harvest({
    client: await openHarvestClient(context, version, waitedMs),
    clock,
    full: options.full === true,
    skipBroken: options.skipBroken === true,
    acceptLosses: options.acceptLosses === true,
    rights: account === undefined ? undefined : `${account.role}, ${account.organisation}`,
    indexAllowanceMs: context.getProfile().indexAllowanceMs,
    onNote: terminal.note,
    onProgress: show.update,
    signal: makeDeadlineSignal(context, interrupts.stop, options.deadline),
  })
    .catch((thrown: unknown) => saveMalformedAnswer(context, thrown))
    .finally(show.end);
}

/** Shows one bar per set. */
function makeProgressPerSet(terminal: Terminal): {
  update(progress: SetProgress): void;
  end(): void;
} {
  let current: { readonly setSpec: string; readonly bar: Progress } | undefined;
  return {
    update: ({ setSpec, done: doneCount, total }) => {
      if (current?.setSpec !== setSpec) {
        current?.bar.end();
        current = { setSpec, bar: terminal.startProgress(setSpec) };
      }
      current.bar.update(doneCount, total);
    },
    end: () => current?.bar.end(),
  };
}
