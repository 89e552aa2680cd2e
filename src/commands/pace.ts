import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { openPace, pauseText } from '../context/pacing.ts';
import { defineCommand, type Runner } from './command.ts';

type PaceOptions = GlobalOptions & { readonly clear?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'pace',
    summary: t`Show whether everybody pauses because the service asked for it, and end that pause.`,
    examples: ['pas pace', 'pas pace --clear'],
  })
    .option('--clear', t`end the pause, for everybody who shares the pace`)
    .action((options: PaceOptions) => run(options, (context) => pace(context, options)));
}

async function pace(context: Context, { clear }: PaceOptions): Promise<ExitReason> {
  const { terminal, clock } = context;
  const profile = context.profile();
  const shared = await openPace(context, profile);
  const nowMs = clock.now();
  const untilMs = nowMs + (await shared.pauseMs());
  const cleared = clear === true && untilMs > nowMs;
  if (cleared) await shared.endPause();
  terminal.line(pauseText(untilMs, nowMs) ?? t`No pause is kept: a request may leave every ${profile.minIntervalMs} ms.`);
  if (cleared) terminal.line(t`It is ended. If the service still wants it, it will ask again.`);
  terminal.value({
    service: profile.baseUrl,
    paused_until: cleared || untilMs <= nowMs ? null : new Date(untilMs).toISOString(),
    cleared,
  });
  return 'done';
}
