-- The store of a harvest into an output: the harvested subject, its progress, and the seen records.
-- Times are whole milliseconds since 1970 UTC. "The server's" ones come from its answers, the others from this machine.

-- so that no other database is taken for one of these ("pash")
pragma application_id = 1885434728;

create table outputs (
  id integer primary key check (id = 1),

  -- what is harvested, and as whom: another harvest needs another output
  oai_base text not null,
  -- schema version of the endpoint
  version text not null,
  -- in order, separated by a space; empty: all that the service has
  sets text not null,
  format text not null,
  -- the bounds that the user gave; empty: none
  from_bound text not null,
  until_bound text not null,
  -- empty: anonymous
  account text not null,
  form text not null,

  -- bytes of a growing file that belong to committed pages, and their digest; null: none yet
  length_bytes integer not null default 0,
  digest text,
  -- size of a growing file at the end of the last run; null while a run writes, and after one that was killed
  closed_bytes integer
) strict;

-- one row for each set
create table harvests (
  id integer primary key,
  set_spec text not null unique,
  -- rights of the account when the set was read last, as the service's user information has them; null: not known
  rights text,
  -- the server's time when the last complete pass began: the next one asks for what changed since
  watermark_at integer,
  -- when the last complete pass ended
  completed_at integer,
  -- the pass under way; null when there is none
  pass text check (json_valid(pass)),
  -- unconfirmed losses: first server time, and a digest of the unlisted identifiers; null: none
  observed_losses text check (json_valid(observed_losses))
) strict;

-- last seen version of each record, per set
create table seen_records (
  identifier text not null,
  harvest integer not null,
  -- these two are the same in all sets: they say what the output holds
  datestamp_at integer not null,
  -- of the record's text, since two changes may have one datestamp; empty where the record could not be read and so is not in the
  -- output
  digest text not null,
  -- last scan that saw the record; 0: it is not on the list
  scan integer not null,
  -- it was left out since it could not be read; it is asked for again
  skipped integer not null default 0 check (skipped in (0, 1)),
  primary key (identifier, harvest)
) strict, without rowid;
