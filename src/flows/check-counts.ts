import { t } from '../base/language.ts';
import { countsAreRight } from '../outbox/counts.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { type Check, ok, warning } from './check-machine.ts';

/** Whether the counts that are kept are those of what is there. */
export function checkCounts(outbox: ServiceOutbox): Check {
  if (countsAreRight(outbox)) return ok('counts', t`the counts of finds and entries are right`);
  return warning(
    'counts',
    t`The counts that \`pas status\` shows are not those of the outbox.`,
    t`Count anew: pas status --recount`,
  );
}
