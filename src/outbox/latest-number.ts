import type { Entry } from './entry.ts';

/** The registration number that was set last for a find, whether the service has it already or not. */
export function latestNumber(entries: readonly Entry[]): string | undefined {
  return entries
    .flatMap((entry) => (entry.kind === 'number' && entry.state !== 'dropped' && entry.state !== 'refused' ? [entry.value] : []))
    .at(-1);
}
