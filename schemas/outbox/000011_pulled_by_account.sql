-- How a record stands depends on who looks: an account may be shown what another is not.

create table pulled_by_accounts (
  service_id integer not null references services (id),
  -- of the account that was shown it; empty for nobody's
  username text not null,
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
  primary key (service_id, username, ident_cely),
  check ((stav is null) = (record is null)),
  check (standing <> 'shown' or record is not null)
) strict, without rowid;

-- Each pull looks for all that was sent, so what is here was met by the last account that pulled.
insert into pulled_by_accounts
  select service_id, coalesce(
      (select username from pulls where pulls.service_id = pulled.service_id order by completed_at desc limit 1),
      (select username from entries where entries.service_id = pulled.service_id and entries.ident_cely = pulled.ident_cely order by id limit 1),
      ''),
    ident_cely, standing, datestamp_at, stav, record, since_at, seen_at
  from pulled;

drop view outbox_overview;
drop table pulled;
alter table pulled_by_accounts rename to pulled;

-- The service's address, and the profile's name that meant it last, for programs that read along; how a record stands for its sender.
create view outbox_overview as
select
  entries.id as entry,
  finds.local_id as local_id,
  (select min(name) from profile_services where profile_services.service_id = entries.service_id) as profile,
  services.address as service,
  entries.username as username,
  entries.kind as kind,
  entries.state as state,
  entries.ident_cely as ident_cely,
  entries.reason as reason,
  entries.not_before_at as not_before_at,
  (select count(*) from attempts where attempts.entry_id = entries.id) as attempts,
  pulled.standing as standing,
  pulled.stav as stav
from entries
join services on services.id = entries.service_id
left join finds on finds.id = entries.find_id
left join pulled on pulled.service_id = entries.service_id and pulled.username = entries.username
  and pulled.ident_cely = entries.ident_cely;
