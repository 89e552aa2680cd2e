import { msg } from '../base/message.ts';
import { copyDatabase } from '../store/database-file.ts';
import { move, selectEntries } from './entries.ts';
import type { Doubt, Entry } from './entry.ts';
import { reasonOfLostAttempt } from './journal.ts';
import type { Outbox } from './open-outbox.ts';

/** What is the machine's own, and not part of what was copied; the counts follow of themselves. */
const STAYS = ['lease', 'copy_made', 'entry_counts', 'find_counts', 'history'];

const IS_SHARED = '(:sharedUntil is null or entries.id <= :sharedUntil)';

/**
 * What became of the entries of an older copy since it was made is not known here: all that was to be sent may have been
 * sent. Drafts and refused entries stay what they are, but are in doubt as soon as they could be sent.
 * @param sharedUntil the last entry that may have been sent; null: all may
 * @returns those that are uncertain now
 */
export function doubtUnsent(outbox: Outbox, doubt: Doubt, sharedUntil: number | null = null): Entry[] {
  return outbox.change(() => {
    const reason = msg`it may have been sent after this copy of the outbox was made`;
    const changes = { doubtFromAt: Math.floor(doubt.fromMs), doubtUntilAt: Math.ceil(doubt.untilMs), sharedUntil };
    const doubtful = selectEntries(outbox, `state in ('queued', 'sending', 'uncertain') and ${IS_SHARED}`, { sharedUntil });
    for (const entry of doubtful) {
      if (entry.state === 'sending') reasonOfLostAttempt(outbox, entry.id);
      if (entry.state !== 'uncertain') move(outbox, entry, 'uncertain', { reason });
    }
    outbox
      .sql(
        `update entries set doubt_from_at = coalesce(doubt_from_at, :doubtFromAt), doubt_until_at = :doubtUntilAt
         where state in ('uncertain', 'draft', 'refused') and ${IS_SHARED}`,
      )
      .run(changes);
    return doubtful;
  });
}

/**
 * Gives the outbox the content of another one, in one transaction: whenever it is stopped, the file holds the old content
 * or the new. To be called while holding the lease.
 * @param from a database of the same schema, which nobody writes to
 * @param aside where the old content is kept; undefined where there is none worth keeping
 */
export function replaceContent(outbox: Outbox, from: string, aside: string | undefined): void {
  outbox.sql('attach database ? as brought').run(from);
  try {
    outbox.change(() => {
      // From here on nobody else can write, so what is put aside is all that is replaced.
      if (aside !== undefined) copyDatabase(outbox.path, aside);
      outbox.sql('pragma defer_foreign_keys = on').run();
      const tables = outbox
        .sql(`select name from main.sqlite_schema where type = 'table' and name not like 'sqlite_%'`)
        .pluck()
        .all() as string[];
      for (const table of tables.filter((name) => !STAYS.includes(name))) {
        const columns = (outbox.sql(`select name from pragma_table_info('${table}', 'main')`).pluck().all() as string[]).join(
          ', ',
        );
        outbox.sql(`delete from main.${table}`).run();
        outbox.sql(`insert into main.${table} (${columns}) select ${columns} from brought.${table}`).run();
      }
    });
  } finally {
    outbox.sql('detach database brought').run();
  }
}

/** Whether there is anything in it that a person could miss. */
export function isEmpty(outbox: Outbox): boolean {
  const row = outbox.sql('select exists (select 1 from finds) or exists (select 1 from entries) as filled').get() as {
    filled: number;
  };
  return row.filled === 0;
}
