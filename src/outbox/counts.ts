import { msg } from '../base/message.ts';
import { createRowGuard, createRowParser, isNumber, isOneOf } from '../store/row.ts';
import { ENTRY_KINDS, ENTRY_STATES, type EntryKind, type EntryState } from './entry.ts';
import { damagedRow } from './events.ts';
import type { Outbox } from './open-outbox.ts';

export { countFinds } from './stored-finds.ts';

export type Counts = Readonly<Record<EntryKind, Readonly<Record<EntryState, number>>>>;

/** Counts entries by kind and state, without those of removed finds. */
export function countEntries(outbox: Outbox): Counts {
  const counts = Object.fromEntries(
    ENTRY_KINDS.map((kind) => [kind, Object.fromEntries(ENTRY_STATES.map((state) => [state, 0]))]),
  ) as Record<EntryKind, Record<EntryState, number>>;
  const rows = outbox.sql('select kind, state, count(*) as count from entries group by kind, state').all();
  for (const row of rows) {
    if (!isCountRow(row)) throw damagedRow(outbox.path, msg`an entry`);
    counts[row.kind][row.state] = row.count;
  }
  const hidden = outbox
    .sql(
      `select kind, state, count(*) as count from entries where find_id in (select id from finds where hidden_at is not null)
       group by kind, state`,
    )
    .all();
  for (const row of hidden) if (isCountRow(row)) counts[row.kind][row.state] -= row.count;
  return counts;
}

const isCountRow = createRowGuard({ kind: isOneOf(ENTRY_KINDS), state: isOneOf(ENTRY_STATES), count: isNumber });

/** Queued entries by what they wait for: their find's import, a dropped import, an answer of a person, a moment. */
const parseWaiting = createRowParser({ forImport: isNumber, forDropped: isNumber, forPerson: isNumber, forTime: isNumber });
export type Waiting = ReturnType<typeof parseWaiting>;

export function countWaiting(outbox: Outbox): Waiting {
  const counts = outbox
    .sql(
      `select
         (select count(*) from entries join entries as made on made.find_id = entries.find_id and made.kind = 'import'
          where entries.kind in ('number', 'photo') and entries.state = 'queued' and entries.ident_cely is null and made.state <> 'dropped') as forImport,
         (select count(*) from entries join entries as made on made.find_id = entries.find_id and made.kind = 'import'
          where entries.kind in ('number', 'photo') and entries.state = 'queued' and entries.ident_cely is null and made.state = 'dropped') as forDropped,
         (select count(*) from entries where held is not null and state = 'queued') as forPerson,
         (select count(*) from entries where state = 'queued' and held is null and (kind = 'import' or ident_cely is not null)
            and not_before_at > :now) as forTime`,
    )
    .get({ now: Math.floor(outbox.clock.now()) });
  return parseWaiting(counts);
}
