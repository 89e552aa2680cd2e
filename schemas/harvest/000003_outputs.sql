-- One output may hold several sets, and notes how it stands, so that what another program did to it is noticed.

create table outputs (
  id integer primary key check (id = 1),

  -- what is harvested, and as whom: another harvest needs another output
  oai_base text not null,
  -- schema version of the endpoint; `newest` for the generic one
  version text not null,
  -- in order, with a space between them; empty: all that the service has
  sets text not null,
  -- what is asked for: whole records, or their headers alone
  verb text not null check (verb in ('ListRecords', 'ListIdentifiers')),
  format text not null,
  -- the bounds that the user gave; empty: none
  from_bound text not null,
  until_bound text not null,
  -- empty: anonymous
  account text not null,
  form text not null,

  -- bytes of a growing file that belong to committed pages, and their digest (see src/store/chained-digest.ts); null: none yet
  length_bytes integer not null default 0,
  digest text check (json_valid(digest)),
  -- how a growing file, or a folder, stood when the last run left it; null while a run writes, and after one that was killed
  seal text check (json_valid(seal)),
  -- of the table `records`: pas itself is writing; another program has written
  writing integer not null default 0 check (writing in (0, 1)),
  edited integer not null default 0 check (edited in (0, 1)),
  -- the pass under way compares the output with the service
  verifying integer not null default 0 check (verifying in (0, 1))
) strict;

insert into outputs (id, oai_base, version, sets, verb, format, from_bound, until_bound, account, form, length_bytes)
  select id, oai_base, version, set_spec, 'ListRecords', format, from_bound, until_bound, account, form, length_bytes from harvests;

-- one row for each set
create table set_harvests (
  id integer primary key,
  set_spec text not null unique,
  -- the server's time when the last complete pass began: the next one asks for what changed since
  watermark_at integer,
  -- when the last complete pass ended
  completed_at integer,
  -- the pass under way; null when there is none
  pass text check (json_valid(pass)),
  -- number of the last look at the list
  looks integer not null default 0
) strict;

insert into set_harvests select id, set_spec, watermark_at, completed_at, pass, looks from harvests;
drop table harvests;
alter table set_harvests rename to harvests;

-- every record that was met, as it was met last, for each set that it was met in
create table met_in_sets (
  identifier text not null,
  harvest integer not null,
  -- these two are the same in all sets: they say what the output holds
  datestamp_at integer not null,
  -- of the record's text, since two changes may fall into one second, or one day where the service knows only days; empty
  -- where the record could not be read and so is not in the output
  digest blob not null,
  -- the last look that met the record
  look integer not null,
  -- it was left out since it could not be read, or another program took it away; it is asked for again
  skipped integer not null default 0 check (skipped in (0, 1)),
  primary key (identifier, harvest)
) strict, without rowid;

insert into met_in_sets select identifier, harvest, datestamp_at, digest, look, skipped from met_records;
drop table met_records;
alter table met_in_sets rename to met_records;

-- the files of a folder of records, as they were written
create table files (
  name text primary key,
  identifier text not null,
  size_bytes integer not null,
  -- when the disk says that the file was changed, nanoseconds
  changed_at text not null,
  digest blob not null
) strict, without rowid;

-- Whoever has this file open: a change that is not pas's own leaves a mark.
create trigger record_added after insert on records when (select writing from outputs) = 0
  begin update outputs set edited = 1; end;
create trigger record_changed after update on records when (select writing from outputs) = 0
  begin update outputs set edited = 1; end;
create trigger record_removed after delete on records when (select writing from outputs) = 0
  begin update outputs set edited = 1; end;
