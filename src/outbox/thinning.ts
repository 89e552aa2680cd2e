import { MAX_COMMANDS } from './command-log.ts';
import type { Outbox } from './open-outbox.ts';

/**
 * Empties the content of intents that are neither wanted nor attempted, and that none of the last
 * commands wanted. Ids and facts stay.
 * @returns the number of emptied intents
 */
export function thinContents(outbox: Outbox): number {
  return outbox.change(
    () =>
      outbox
        .sql(
          `update intents set content = null, document = null, issues = null, prepared_id = null
           where content is not null and row not in (select intent from entries) and row not in (select intent from finds)
             and id not in (select body ->> 'intent' from facts where kind = 'attempted')
             and id not in (
               select coalesce(body ->> 'intent', body ->> 'was', '') from facts where kind = 'current' and command in (
                 select command from facts where command is not null group by command order by max(seq) desc limit ?))`,
        )
        .run(MAX_COMMANDS).changes,
  );
}
