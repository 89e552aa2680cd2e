-- The journal: the events of every outbox that is pushed on this machine, kept where no copy of a data folder takes it along.
-- Times are whole milliseconds since 1970 UTC.

create table identity (
  only integer primary key check (only = 1),
  journal text not null,
  machine text not null
) strict;

-- As in the outbox (schemas/outbox).
create table events (
  seq integer primary key autoincrement,
  id text not null unique,
  outbox text not null,
  find text,
  entry text,
  position integer not null,
  kind text not null check (kind in ('attempted', 'answered', 'found', 'absent', 'decided', 'bound', 'moved')),
  body text not null check (json_valid(body)),
  crc integer not null
) strict;

create index events_of_outbox on events (outbox, seq);
create index events_of_entry on events (entry) where entry is not null;
create index attempts_by_digest on events (body ->> 'digest') where kind = 'attempted' and body ->> 'digest' is not null;
create index attempts_by_local_id on events (body ->> 'localId') where kind = 'attempted' and body ->> 'localId' is not null;
create index bound_accounts on events (body ->> 'account') where kind = 'bound';
