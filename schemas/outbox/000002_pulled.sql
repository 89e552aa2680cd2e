-- What harvesting last said of the records that were sent from here. "The server's" times come from its answers.

create table pulled (
  profile text not null,
  ident_cely text not null,
  -- shown: read as it is; withheld: listed, but not shown to this account; deleted: the service says so; missing: not listed
  standing text not null check (standing in ('shown', 'withheld', 'deleted', 'missing')),
  -- the server's time of the record's last change, or of its deletion; null where it is not listed
  datestamp_at integer,
  -- the state that the service has it in, and the record as it was last shown; null where it never was
  stav integer,
  record text check (record is null or json_valid(record)),
  -- when this standing was first met, and when the record was last looked for
  since_at integer not null,
  seen_at integer not null,
  primary key (profile, ident_cely),
  check ((stav is null) = (record is null)),
  check (standing <> 'shown' or record is not null)
) strict, without rowid;

-- how far each profile is pulled
create table pulls (
  profile text primary key,
  -- the server's time when the last complete pull began: the next one asks for what changed since
  watermark_at integer not null,
  completed_at integer not null
) strict;

drop view outbox_overview;
create view outbox_overview as
select
  entries.id as entry,
  finds.local_id as local_id,
  entries.profile as profile,
  entries.kind as kind,
  entries.state as state,
  entries.ident_cely as ident_cely,
  entries.reason as reason,
  entries.not_before_at as not_before_at,
  (select count(*) from attempts where attempts.entry_id = entries.id) as attempts,
  pulled.standing as standing,
  pulled.stav as stav
from entries
left join finds on finds.id = entries.find_id
left join pulled on pulled.profile = entries.profile and pulled.ident_cely = entries.ident_cely;
