import { type Command, Option } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { describePause, openPace } from '../../context/pacing.ts';
import { defineCommand, type Runner } from '../command.ts';

type PaceOptions = GlobalOptions & { readonly clear?: boolean; readonly keep?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'pace',
    summary: t`Show the pause that the service asked for, end it, or wait for all of it.`,
    examples: ['pas pace', 'pas pace --clear', 'pas pace --keep'],
  })
    .option('--clear', t`end the pause for all machines and programs that share the rate limit`)
    .addOption(
      new Option(
        '--keep',
        t`keep the whole pause that the service asked for, even if longer than an hour (at most a day)`,
      ).conflicts('clear'),
    )
    .action((options: PaceOptions) => run(options, (context) => runPace(context, options)));
}

async function runPace(context: Context, { clear, keep }: PaceOptions): Promise<ExitReason> {
  const { terminal, clock } = context;
  const profile = context.getProfile();
  const shared = await openPace(context, profile);
  const { pausedMs, requestedMs } = await shared.readPause();
  const cleared = clear === true && pausedMs + requestedMs > 0;
  const isKept = keep === true && requestedMs > pausedMs;
  if (cleared || isKept) await shared.setPause(cleared ? 'ended' : 'whole');
  const { text, value } = describePause(
    cleared ? { pausedMs, requestedMs } : await shared.readPause(),
    clock.now(),
  );
  terminal.printLine(
    text ?? t`There is no pause. A request can be sent every ${profile.minIntervalMs} ms.`,
  );
  if (cleared)
    terminal.printLine(t`The pause has ended. If the service still needs one, it will ask again.`);
  terminal.printValue({
    service: profile.baseUrl,
    ...(cleared ? { paused_until: null, asked_until: null } : value),
    cleared,
    kept: isKept,
  });
  return 'done';
}
