-- How an entry stood before a person decided about it, so that the decision can be taken back until something was sent on its account.
-- Entries that one decision changed share its number.
create table decisions (
  number integer not null,
  entry_id integer not null references entries (id) on delete cascade,
  decision text not null check (decision in ('created', 'resend', 'drop')),
  -- of the newest attempt by then, of any entry
  attempt_id integer not null,
  became text not null,
  state text not null,
  ident_cely text,
  not_before_at integer not null,
  reason text,
  issues text,
  doubt_from_at integer,
  doubt_until_at integer,
  primary key (number, entry_id)
) strict, without rowid;

create index decisions_of_entry on decisions (entry_id, number);
