-- The notes of a harvest into a file: what is harvested, how far it is, what was met. Where the records themselves go into
-- SQLite, they stand in the same file, in the table `records`.
-- Times are whole milliseconds since 1970 UTC. "The server's" ones come from its answers, the others from this machine.

-- so that no other database is taken for one of these ("pash")
pragma application_id = 1885434728;

create table harvest (
  id integer primary key check (id = 1),

  -- what is harvested, and as whom: another harvest needs another output
  oai_base text not null,
  -- schema version of the endpoint; `newest` for the generic one
  version text not null,
  set_spec text not null,
  format text not null,
  -- the bounds that the user gave; empty: none
  from_bound text not null,
  until_bound text not null,
  -- empty: anonymous
  account text not null,
  form text not null,

  -- the server's time when the last complete pass began: the next one asks for what changed since
  watermark_at integer,
  -- when the last complete pass ended
  completed_at integer,
  -- bytes of the output file that belong to committed pages; what stands behind them is cut off
  length_bytes integer not null default 0,

  -- the pass under way; null when there is none
  pass text check (pass in ('full', 'changes')),
  -- what the pass asks for; null: no bound
  window_from_at integer,
  window_until_at integer,
  -- the server's time at the first page of this pass
  pass_began_at integer,
  -- number of the pass's first walk along the list, and of the one under way
  first_walk integer not null default 0,
  walk integer not null default 0,
  -- different records met in this pass
  met integer not null default 0,
  -- of the pass's whole window, as the service counted last
  list_size integer,

  -- the walk under way: where it goes on (null before the first page), and whether the list came to its end
  token text,
  ended integer not null default 0 check (ended in (0, 1)),
  -- it is bounded more narrowly than the pass, since all beyond was met
  walk_from_at integer,
  walk_until_at integer,
  -- how the datestamps ran so far, and the last of them
  direction text check (direction in ('falling', 'rising', 'neither')),
  edge_at integer
) strict;

-- every record that was met, as it was met last
create table met_records (
  identifier text primary key,
  datestamp_at integer not null,
  -- of the record's text, since two changes may fall into one second, or one day where the service knows only days; empty
  -- where the record could not be read and so is not in the output
  digest blob not null,
  -- the last walk that met it
  walk integer not null
) strict, without rowid;

-- the records themselves, as they are now; empty unless the output is this database
create table records (
  identifier text primary key,
  -- as the service writes it
  datestamp text not null,
  -- JSON array of setSpecs
  sets text not null check (json_valid(sets)),
  deleted integer not null check (deleted in (0, 1)),
  -- the service lists the record, but this account may see nothing of it
  masked integer not null check (masked in (0, 1)),
  -- JSON; null where there is nothing to see. A part that this account may not see is {"masked": true}.
  metadata text check (json_valid(metadata)),
  -- the whole record as it came
  xml text not null
) strict;
