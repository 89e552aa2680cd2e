import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, renameSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { ConfigError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { packageRoot } from '../../base/package-root.ts';
import { writePrivateFile } from '../../store/files.ts';

/** Commands that can run unattended. */
export const SCHEDULABLE = ['push', 'pull', 'harvest-vocab', 'reconcile'] as const;
export type Schedulable = (typeof SCHEDULABLE)[number];

/** A command that the system runs repeatedly, and its last run; one file each in the state folder. */
export type Job = {
  readonly command: Schedulable;
  readonly profile: string;
  /** Data home of the job. */
  readonly home: string;
  readonly every_ms: number;
  /** Arguments behind the program. */
  readonly args: readonly string[];
  /** Places of data and state when the job was made; no secrets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly last: LastRun | null;
};

/** `ended_at` and `exit_code` are null while it runs, and where it was killed. */
type LastRun = { readonly began_at: string; readonly ended_at: string | null; readonly exit_code: number | null };

const KEPT_VARIABLES = ['PAS_HOME', 'PAS_KEYRING', 'PAS_LANG', 'XDG_DATA_HOME', 'XDG_STATE_HOME'];
const MOST_LOG_BYTES = 1024 * 1024;
const PASSED_ON = ['SIGINT', 'SIGTERM'] as const;
/** Exit code of a killed program. */
const KILLED = 137;

export function keptVariables(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    KEPT_VARIABLES.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  );
}

/** @throws DatabaseError when the disk fails */
export function writeJob(file: string, job: Job): void {
  writePrivateFile(file, `${JSON.stringify(job, null, 2)}\n`);
}

/** @throws ConfigError where the file has no job */
function readJob(file: string): Job {
  const job = jobIn(file);
  if (job === undefined)
    throw new ConfigError(t`${file} holds no job of pas.`, { hint: t`Make it anew by \`pas schedule\`, or remove it there.` });
  return job;
}

function jobIn(file: string): Job | undefined {
  try {
    const job = JSON.parse(readFileSync(file, 'utf8')) as Partial<Job> | null;
    const isWhole =
      SCHEDULABLE.some((command) => command === job?.command) &&
      Array.isArray(job?.args) &&
      job.args.every((arg) => typeof arg === 'string') &&
      typeof job.every_ms === 'number' &&
      typeof job.home === 'string' &&
      typeof job.profile === 'string' &&
      typeof job.environment === 'object';
    return isWhole ? ({ last: null, ...job } as Job) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the jobs of this data home. Damaged files are left out, since the run itself reports them. */
export function jobsOf(folder: string, home: string): Job[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => jobIn(join(folder, name)) ?? [])
    .filter((job) => job.home === home)
    .sort((one, other) => one.command.localeCompare(other.command) || one.profile.localeCompare(other.profile));
}

/** Returns the JSON form of a job. */
export function jobValue({ command, profile, every_ms, last }: Job) {
  return { command, profile, every_ms, last };
}

export function logOf(file: string): string {
  return file.replace(/\.json$/, '.log');
}

/**
 * Runs a job to its end. The output goes to the log, which is rotated.
 * @returns the exit code of the command
 * @throws ConfigError where the file has no job; DatabaseError when the disk fails
 */
export async function runJob(
  file: string,
  clock: Pick<Clock, 'now'>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const job = readJob(file);
  const log = logOf(file);
  const now = (): string => new Date(clock.now()).toISOString();
  const began_at = now();
  writeJob(file, { ...job, last: { began_at, ended_at: null, exit_code: null } });
  if (existsSync(log) && statSync(log).size > MOST_LOG_BYTES) renameSync(log, `${log}.old`);
  const output = openSync(log, 'a', 0o600);
  try {
    writeSync(output, `\n== ${began_at} pas ${job.args.join(' ')}\n`);
    const child = spawn(process.execPath, [join(packageRoot, 'bin', 'pas.js'), ...job.args], {
      env: { ...environment, ...job.environment },
      cwd: packageRoot,
      stdio: ['ignore', output, output],
      windowsHide: true,
    });
    const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
    for (const signal of PASSED_ON) process.on(signal, pass);
    const exit_code = await new Promise<number>((end, fail) => {
      child.on('error', fail);
      child.on('exit', (code) => end(code ?? KILLED));
    });
    for (const signal of PASSED_ON) process.off(signal, pass);
    const ended_at = now();
    writeSync(output, `== ${ended_at}: ${exit_code}\n`);
    writeJob(file, { ...job, last: { began_at, ended_at, exit_code } });
    return exit_code;
  } finally {
    closeSync(output);
  }
}
