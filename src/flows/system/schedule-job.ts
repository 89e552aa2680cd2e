import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, UsageError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { packageRoot } from '../../base/package-root.ts';
import { shellWord } from '../../base/shell-word.ts';
import { writePrivateFile } from '../../store/files.ts';
import { type Job, logOf, writeJob } from './jobs.ts';
import { type SystemCommand, type SystemTimer, type TimerSystem, timerFor } from './system-timer.ts';

/** File of a job, and the timer of the system. */
export type ScheduledJob = { readonly file: string; readonly timer: SystemTimer; readonly cronLine: string };

type JobId = Pick<Job, 'command' | 'profile' | 'home'>;

/** Returns the one job of a command, profile and home: making it again replaces it. */
export function scheduledJob(job: Job, folder: string, nowMs: number, system: TimerSystem): ScheduledJob {
  const ownHash = createHash('sha256').update(job.home).digest('hex').slice(0, 8);
  const name = `pas-${job.command}-${job.profile}-${ownHash}`;
  const file = join(folder, `${name}.json`);
  const command = [process.execPath, join(packageRoot, 'bin', 'pas.js'), '__scheduled', file] as const;
  const first = new Date(nowMs + 60_000);
  const firstAt = new Date(first.getTime() - first.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  const description = `pas ${job.command}, profile ${job.profile}`;
  return {
    file,
    timer: timerFor({ name, description, command, everyMs: job.every_ms, firstAt }, system),
    cronLine: `${cronTime(job.every_ms)} ${typedCommand(job, logOf(file))}`,
  };
}

/** Formats the command for cron, where an unescaped `%` would end the line. */
function typedCommand({ environment, args }: Job, log: string): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const words = ['env', ...variables, process.execPath, join(packageRoot, 'bin', 'pas.js'), ...args];
  return `${words.map((word) => shellWord(word)).join(' ')} >> ${shellWord(log)} 2>&1`.replaceAll('%', '\\%');
}

/** Returns the nearest interval of cron. */
function cronTime(everyMs: number): string {
  const minutes = everyMs / 60_000;
  if (minutes < 60) return `*/${minutes} * * * *`;
  return minutes < 24 * 60 ? `7 */${Math.round(minutes / 60)} * * *` : `7 5 */${Math.round(minutes / 1440)} * *`;
}

export function timerSystem(environment: Readonly<Record<string, string | undefined>>, folder: string): TimerSystem {
  const userFolder = environment['HOME'] ?? homedir();
  return {
    platform: process.platform,
    userFolder,
    configFolder: environment['XDG_CONFIG_HOME'] ?? join(userFolder, '.config'),
    userId: process.getuid?.() ?? 0,
    ownFolder: folder,
  };
}

/**
 * Stores the job, and installs its timer.
 * @throws ConfigError where the system refuses, and then nothing is left of it; DatabaseError when the disk fails
 */
export function beginJob({ file, timer, cronLine }: ScheduledJob, job: Job): void {
  const known = existsSync(file);
  writeJob(file, job);
  for (const { path, content } of timer.files) writePrivateFile(path, content);
  // launchd refuses a name that it has already.
  if (known) for (const command of timer.end) tell(command);
  const [refused] = timer.begin.flatMap((command) => tell(command) ?? []);
  if (refused === undefined) return;
  takeAway({ file, timer });
  throw new ConfigError(t`The system does not take the job: ${refused}`, {
    hint:
      process.platform === 'linux'
        ? t`Where there is no systemd, add a line by \`crontab -e\`: ${cronLine}`
        : t`Look at what it is told: ${cmd`pas schedule ${job.command} --dry-run`}`,
  });
}

/** @throws UsageError where no such job is scheduled */
export function endJob({ file, timer }: Omit<ScheduledJob, 'cronLine'>, { command, profile }: JobId): void {
  if (!existsSync(file)) throw new UsageError(t`pas ${command} of profile ${profile} is not scheduled.`);
  for (const told of timer.end) tell(told);
  takeAway({ file, timer });
}

function takeAway({ file, timer }: Omit<ScheduledJob, 'cronLine'>): void {
  for (const { path } of timer.files) rmSync(path, { force: true });
  rmSync(file, { force: true });
  for (const command of timer.ended) tell(command);
}

/** @returns the message of a failed command */
function tell([program, ...args]: SystemCommand): string | undefined {
  const { status, error, stderr, stdout } = spawnSync(program, args, { encoding: 'utf8', windowsHide: true });
  if (status === 0) return undefined;
  const said = error?.message ?? ([stderr, stdout].map((text) => text.trim()).find((text) => text !== '') || `${status}`);
  return `${[program, ...args].join(' ')}: ${said}`;
}
