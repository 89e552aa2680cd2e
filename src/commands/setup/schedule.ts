import { Argument, type Command, InvalidArgumentError } from 'commander';
import { EXIT_CODES, type ExitReason } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { confirmProduction } from '../../context/open-service.ts';
import {
  type Job,
  jobsOf,
  jobValue,
  keptVariables,
  logOf,
  runJob,
  SCHEDULABLE,
  type Schedulable,
} from '../../flows/system/jobs.ts';
import { beginJob, endJob, type ScheduledJob, scheduledJob, timerSystem } from '../../flows/system/schedule-job.ts';
import { durationMs } from '../../text/duration.ts';
import { printable } from '../../ui/terminal.ts';
import { defineCommand, type Runner } from '../command.ts';
import { everyText, lastRunText } from './job-texts.ts';

type ScheduleOptions = GlobalOptions & {
  readonly every: number;
  readonly remove?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
};

const [HOUR_MS, LEAST_MS, MOST_MS] = [3_600_000, 5 * 60_000, 7 * 86_400_000];

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'schedule',
    summary: t`Have a command run by itself, by what the system has for that; without a word, show what does.`,
    examples: ['pas schedule push --every 1h', 'pas schedule push --remove'],
  })
    .addArgument(new Argument('[command]', t`the command`).choices(SCHEDULABLE))
    .option('--every <time>', t`how often, such as 30m, 1h or 1d`, interval, HOUR_MS)
    .option('--remove', t`let it no longer run by itself`)
    .option('--dry-run', t`show the files and what the system would be told, and change nothing`)
    .option('--yes', t`write to production without asking, now and each time`)
    .action((command: Schedulable | undefined, options: ScheduleOptions) =>
      run(options, (context) => schedule(context, command, options)),
    );
  // Command for the system's scheduler. It passes on the exit code of the job.
  program.command('__scheduled <file>', { hidden: true }).action((file: string, options: GlobalOptions) =>
    run(options, async ({ clock, environment }) => {
      const code = await runJob(file, clock, environment);
      const known = Object.entries(EXIT_CODES).find(([, [number]]) => number === code)?.[0] ?? 'bug';
      return known as ExitReason;
    }),
  );
}

function interval(text: string): number {
  const ms = durationMs(text, 'mhd') ?? 0;
  if (ms < LEAST_MS || ms > MOST_MS) throw new InvalidArgumentError(t`Write a time from 5m to 7d, such as 30m, 1h or 1d.`);
  return ms;
}

async function schedule(context: Context, command: Schedulable | undefined, options: ScheduleOptions): Promise<ExitReason> {
  const { terminal, places, environment, clock } = context;
  if (command === undefined) return showJobs(context);
  const profile = context.profile();
  const job: Job = {
    command,
    profile: profile.name,
    home: places.home,
    every_ms: options.every,
    args: [command, '--profile', profile.name, ...(command === 'push' && profile.kind === 'production' ? ['--yes'] : [])],
    environment: { ...keptVariables(environment), PAS_HOME: places.home },
    last: null,
  };
  const system = timerSystem(environment, places.schedulesFolder);
  const planned = scheduledJob(job, places.schedulesFolder, clock.now(), system);
  const [typed, log] = [cmd`pas ${command}`, logOf(planned.file)];
  if (options.remove === true) {
    endJob(planned, job);
    terminal.line(t`${typed} no longer runs by itself. Its log stays: ${log}`);
    terminal.value({ command, profile: profile.name, removed: true });
    return 'done';
  }
  if (options.dryRun === true) return showPlan(context, planned);
  if (command === 'push') await confirmProduction(context, options.yes === true);
  beginJob(planned, job);
  const every = everyText(job.every_ms);
  terminal.line(t`${typed} now runs by itself, every ${every}. Its log: ${log}`);
  terminal.note(t`It signs in with what ${cmd`pas login`} has kept. How the last run went: ${cmd`pas status`}`);
  terminal.value({ ...jobValue(job), log });
  return 'done';
}

function showPlan({ terminal }: Context, { timer }: ScheduledJob): ExitReason {
  const files = timer.files.map(({ path, content }) => ({
    path,
    text: typeof content === 'string' ? content : content.toString('utf16le').replace(/^\uFEFF/, ''),
  }));
  for (const { path, text } of files) terminal.line(`${terminal.color.bold(path)}\n${text}`);
  for (const command of timer.begin) terminal.line(command.join(' '));
  terminal.value({ dry_run: true, files, commands: timer.begin });
  return 'done';
}

function showJobs({ terminal, places, clock }: Context): ExitReason {
  const jobs = jobsOf(places.schedulesFolder, places.home);
  if (jobs.length === 0) terminal.line(t`Nothing runs by itself. For example: ${cmd`pas schedule push --every 1h`}`);
  for (const job of jobs) terminal.line(printable(lastRunText(job, clock.now())));
  terminal.value(jobs.map(jobValue));
  return 'done';
}
