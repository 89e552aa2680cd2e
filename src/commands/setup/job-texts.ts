import { EXIT_CODES } from '../../base/errors.ts';
import { momentText, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import type { Job } from '../../flows/system/jobs.ts';

/** Formats an interval: "30 min", "6 h", "1 d" */
export function everyText(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes % 1440 === 0) return `${minutes / 1440} d`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
}

/** Describes a scheduled command and its last run in a sentence. */
export function lastRunText({ command, profile, every_ms, last }: Job, nowMs: number): string {
  const [typed, every] = [cmd`pas ${command}`, everyText(every_ms)];
  if (last === null) return t`${typed} (profile ${profile}) runs by itself every ${every}; it has not run yet.`;
  const began = momentText(Date.parse(last.began_at), nowMs);
  if (last.exit_code === null)
    return t`${typed} (profile ${profile}) runs by itself every ${every}; the last run began ${began} and has not ended.`;
  const [code, meaning] = [
    last.exit_code,
    String(Object.values(EXIT_CODES).find(([number]) => number === last.exit_code)?.[1] ?? '?'),
  ];
  return t`${typed} (profile ${profile}) runs by itself every ${every}; the last run began ${began} and ended with ${code}: ${meaning}.`;
}
