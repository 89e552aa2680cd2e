-- The pass under way becomes one value, as the harvest into files has it; one that was begun is begun again. What was met
-- stays from one pass to the next.

drop table pass_records;

alter table harvests drop column pass;
alter table harvests drop column window_from_at;
alter table harvests drop column pass_began_at;
alter table harvests drop column token;
alter table harvests drop column token_expires_at;
alter table harvests drop column list_size;

-- as whom, and from which endpoint in which format: what was met by another is met again
alter table harvests add column subject text not null default '';
-- role and organisation of the account; null where the service did not say them
alter table harvests add column rights text;
-- number of the last look at the list
alter table harvests add column looks integer not null default 0;
-- the pass under way; null when there is none
alter table harvests add column pass text check (json_valid(pass));

-- every record that was met, as it was met last
create table met_records (
  harvest integer not null references harvests (id) on delete cascade,
  identifier text not null,
  datestamp_at integer not null,
  -- of the record's text; empty where no text of it was taken
  digest blob not null,
  -- the last look that met it
  look integer not null,
  -- it was left out since it could not be read; it is asked for again
  skipped integer not null default 0 check (skipped in (0, 1)),
  primary key (harvest, identifier)
) strict, without rowid;
