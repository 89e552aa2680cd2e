import type { Clock } from '../base/clock.ts';
import { FileError } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import { copyDatabase } from '../store/database-file.ts';
import { type Outbox, openOutbox } from './open-outbox.ts';

/** Tables that only an outbox has; a file without them is some other program's. */
const TABLES_OF_AN_OUTBOX = ['finds', 'entries', 'attempts', 'lease'];

/** Copies the outbox as it is at this moment, also while a push runs, and notes in the copy when that was. */
export function backUpOutbox(path: string, target: string, clock: Clock): void {
  copyDatabase(path, target, (copy) => {
    copy.prepare('insert or replace into copy_made (only, made_at) values (1, ?)').run(Math.floor(clock.now()));
  });
}

/**
 * A copy of a backup, brought up to the schema of this pas: what is done to it leaves the backup as it is.
 * @throws FileError when it is no outbox; DatabaseError when it is damaged; DatabaseTooNewError
 */
export function openBackup(file: string, draft: string, clock: Clock): Outbox {
  copyDatabase(file, draft, (copy) => {
    const tables = copy.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all();
    if (TABLES_OF_AN_OUTBOX.every((name) => tables.includes(name))) return;
    throw new FileError(file, msg`${file} is a database, but no outbox of pas.`, {
      hint: msg`Name a file that ${cmd`pas backup`} made.`,
    });
  });
  return openOutbox(draft, clock);
}

/** When the copy was made; of one that does not say so, when the last thing in it happened. Milliseconds since 1970 UTC. */
export function copyMadeMs(outbox: Outbox): number {
  const row = outbox
    .sql(
      `select coalesce(
         (select made_at from copy_made),
         max(coalesce((select max(coalesce(ended_at, started_at)) from attempts), 0),
             coalesce((select max(updated_at) from entries), 0),
             coalesce((select max(updated_at) from finds), 0))) as madeMs`,
    )
    .get() as { madeMs: number };
  return row.madeMs;
}

/** The service's time in the last of its answers that the copy has. */
export function lastAnswerMs(outbox: Outbox): number | undefined {
  const at = outbox.sql('select max(server_date_at) from attempts').pluck().get();
  return typeof at === 'number' ? at : undefined;
}
