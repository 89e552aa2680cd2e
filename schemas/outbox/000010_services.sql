-- Which service an entry is for, and by which account: a profile is a name that a person may point somewhere else.
-- What hung on a profile's name hangs on a service from here on, and every attempt names its account.

create table services (
  id integer primary key,
  -- the write address, in the one spelling that src/base/address.ts gives it; null until it is known
  address text unique,
  -- the profile's name under which an earlier pas kept what it knew of this service; null once the address is known
  known_as text unique,
  check ((address is null) <> (known_as is null))
) strict;

insert into services (known_as)
  select profile from entries union select profile from pulled union select profile from pulls
  union select profile from gaps union select profile from accounts;

-- which service a profile's name meant last, so that a name that means another one now is noticed
create table profile_services (
  name text primary key,
  service_id integer not null references services (id)
) strict, without rowid;

insert into profile_services (name, service_id) select known_as, id from services;

drop view outbox_overview;
drop trigger entry_counts_insert;
drop trigger entry_counts_delete;
drop trigger entry_counts_before_update;
drop trigger entry_counts_after_update;
drop trigger import_stands_insert;
drop trigger import_stands_delete;
drop trigger import_stands_before_update;
drop trigger import_stands_after_update;
drop trigger find_counts_insert;
drop trigger find_counts_insert_late;
drop trigger find_counts_delete;
drop trigger find_counts_first_import;
drop trigger find_counts_before_entry_insert;
drop trigger find_counts_after_entry_insert;
drop trigger find_counts_before_entry_delete;
drop trigger find_counts_after_entry_delete;
drop trigger find_counts_before_entry_update;
drop trigger find_counts_after_entry_update;
drop view waits;
drop view entries_waiting;
drop view finds_counted;
drop view find_imports;
drop view entries_counted;
drop view imports_standing;
drop table entry_counts;
drop table find_counts;

-- Accounts: what the service said of each, and what signs it in.

create table accounts_of_services (
  id integer primary key,
  service_id integer not null references services (id),
  -- the service's own identifier of the account
  ident_cely text not null,
  -- the user name that signed it in last; null where only a token was given
  username text,
  -- null where only its identifier is known
  name text,
  email text,
  organisation text,
  role text,
  seen_at integer not null,
  unique (service_id, ident_cely)
) strict;

insert into accounts_of_services (service_id, ident_cely, username, name, email, organisation, role, seen_at)
  select services.id, ident_cely, username, name, email, organisation, role, seen_at
  from accounts join services on services.known_as = accounts.profile;

drop table accounts;
alter table accounts_of_services rename to accounts;
create unique index accounts_of_username on accounts (service_id, username) where username is not null;

insert or ignore into accounts (service_id, ident_cely, seen_at)
  select services.id, attempts.account, max(attempts.started_at)
  from attempts join entries on entries.id = entry_id join services on services.known_as = entries.profile
  where attempts.account is not null group by 1, 2;

-- null only in attempts of an earlier pas, which did not ask whose token it used
alter table attempts add column account_id integer references accounts (id);
update attempts set account_id = (
  select accounts.id from entries join services on services.known_as = entries.profile
  join accounts on accounts.service_id = services.id and accounts.ident_cely = attempts.account
  where entries.id = attempts.entry_id)
where account is not null;
alter table attempts drop column account;

-- Entries.

drop index entries_one_import;
drop index entries_one_photo;
drop index entries_due;
drop index entries_of_find;
drop index entries_by_state;
drop index entries_unsettled;

alter table entries add column service_id integer not null default 0;
-- the user name of the account that queued it and is to send it; empty: whoever pushes
alter table entries add column username text not null default '';
update entries set service_id = (select id from services where known_as = entries.profile);
alter table entries drop column profile;

create unique index entries_one_import on entries (find_id, service_id) where kind = 'import' and state <> 'dropped';
create unique index entries_one_photo on entries (record_key, service_id, photo_sha512) where kind = 'photo' and state <> 'dropped';
-- what may be sent: an import, or a change to a record whose identifier is known
create index entries_due on entries (service_id, not_before_at, id) where state = 'queued' and (kind = 'import' or ident_cely is not null);
create index entries_of_find on entries (find_id, service_id);
create index entries_by_state on entries (service_id, kind, state);
create index entries_unsettled on entries (service_id, state, id) where state in ('draft', 'refused', 'sending', 'uncertain');

-- What harvesting said, and where this outbox knows nothing.

-- How a record stands depends on who looks: an account may be shown what another is not.
create table pulled_of_services (
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

-- Nobody's, as the entries are, until the profile says its account.
insert into pulled_of_services
  select services.id, '', ident_cely, standing, datestamp_at, stav, record, since_at, seen_at
  from pulled join services on services.known_as = pulled.profile;
drop table pulled;
alter table pulled_of_services rename to pulled;

-- how far the records of a service are pulled, as one account is shown them; the account's user name, empty for nobody's
drop table pulls;
create table pulls (
  service_id integer not null references services (id),
  username text not null,
  -- the server's time when the last complete pull began: the next one asks for what changed since
  watermark_at integer not null,
  completed_at integer not null,
  primary key (service_id, username)
) strict, without rowid;

create table gaps_of_services (
  service_id integer not null references services (id),
  -- Null until a harvest has shown in which projects there are such records; then one row for each of them.
  project text,
  from_at integer not null,
  until_at integer not null,
  -- Whose records a harvest has left open; null: those of every account but the ones that have looked, a JSON list of user names.
  username text,
  looked text not null default '[]' check (json_valid(looked))
) strict;
insert into gaps_of_services (service_id, project, from_at, until_at)
  select services.id, project, from_at, until_at from gaps join services on services.known_as = gaps.profile;
drop table gaps;
alter table gaps_of_services rename to gaps;

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

-- The counts, as in 000008_counts.sql, by service and user name.

-- What numbers and photographs without an identifier wait for.
create view imports_standing as
select find_id, service_id from entries where kind = 'import' and state <> 'dropped';

create table entry_counts (
  service_id integer not null,
  username text not null,
  kind text not null,
  state text not null,
  -- import: the find's import stands, and will bring the identifier; given_up: there is none that could
  waits_for text not null check (waits_for in ('nothing', 'import', 'given_up')),
  count integer not null,
  primary key (service_id, username, kind, state, waits_for)
) strict, without rowid;

create view entries_counted as
select service_id, username, kind, state,
  case when kind = 'import' or ident_cely is not null or state not in ('queued', 'uncertain') then 'nothing'
    when exists (select 1 from imports_standing as made where made.find_id = entries.find_id and made.service_id = entries.service_id)
    then 'import' else 'given_up' end as waits_for,
  count(*) as count
from entries group by 1, 2, 3, 4, 5;

-- What has become of each find's imports, by service in the order of their numbers, as JSON: {"1":"sent"}. An import that is
-- dropped counts only where no other one stands.
create view find_imports as
select id as find_id, (
  select json_group_object(cast(service_id as text), standing) from (
    select service_id,
      case max(case when state = 'dropped' then 0 when state in ('sending', 'accepted', 'uncertain') then 2 else 1 end)
        when 0 then 'dropped' when 1 then 'unsent' else 'sent' end as standing
    from entries where entries.find_id = finds.id and kind = 'import' group by service_id order by service_id)) as imports
from finds;

create table find_counts (
  imports text primary key not null check (json_valid(imports)),
  count integer not null
) strict, without rowid;

create view finds_counted as
select imports, count(*) as count from find_imports group by imports;

insert into entry_counts (service_id, username, kind, state, waits_for, count) select service_id, username, kind, state, waits_for, count from entries_counted;
insert into find_counts (imports, count) select imports, count from finds_counted;

-- Entries by what they are.

create trigger entry_counts_insert after insert on entries begin
  insert into entry_counts (service_id, username, kind, state, waits_for, count) values (new.service_id, new.username, new.kind, new.state,
    case when new.kind = 'import' or new.ident_cely is not null or new.state not in ('queued', 'uncertain') then 'nothing'
      when exists (select 1 from imports_standing where find_id = new.find_id and service_id = new.service_id)
      then 'import' else 'given_up' end, 1)
  on conflict do update set count = count + 1;
end;

create trigger entry_counts_delete before delete on entries begin
  insert into entry_counts (service_id, username, kind, state, waits_for, count) values (old.service_id, old.username, old.kind, old.state,
    case when old.kind = 'import' or old.ident_cely is not null or old.state not in ('queued', 'uncertain') then 'nothing'
      when exists (select 1 from imports_standing where find_id = old.find_id and service_id = old.service_id)
      then 'import' else 'given_up' end, -1)
  on conflict do update set count = count - 1;
end;

create trigger entry_counts_before_update before update of find_id, service_id, username, kind, state, ident_cely on entries begin
  insert into entry_counts (service_id, username, kind, state, waits_for, count) values (old.service_id, old.username, old.kind, old.state,
    case when old.kind = 'import' or old.ident_cely is not null or old.state not in ('queued', 'uncertain') then 'nothing'
      when exists (select 1 from imports_standing where find_id = old.find_id and service_id = old.service_id)
      then 'import' else 'given_up' end, -1)
  on conflict do update set count = count - 1;
end;

create trigger entry_counts_after_update after update of find_id, service_id, username, kind, state, ident_cely on entries begin
  insert into entry_counts (service_id, username, kind, state, waits_for, count) values (new.service_id, new.username, new.kind, new.state,
    case when new.kind = 'import' or new.ident_cely is not null or new.state not in ('queued', 'uncertain') then 'nothing'
      when exists (select 1 from imports_standing where find_id = new.find_id and service_id = new.service_id)
      then 'import' else 'given_up' end, 1)
  on conflict do update set count = count + 1;
end;

-- What waits for an import, when one comes to stand or no longer stands.

create view entries_waiting as
select find_id, service_id, username, kind, state from entries
where kind <> 'import' and ident_cely is null and state in ('queued', 'uncertain');

-- How many more wait for what, of each that waits, when an import comes to stand.
create view waits as
select 'import' as waits_for, 1 as when_stands union all select 'given_up', -1;

create trigger import_stands_insert after insert on entries
when new.kind = 'import' and new.state <> 'dropped'
  and exists (select 1 from entries_waiting where find_id = new.find_id and service_id = new.service_id)
begin
  insert into entry_counts (service_id, username, kind, state, waits_for, count)
    select service_id, username, kind, state, waits_for, when_stands from entries_waiting, waits
    where find_id = new.find_id and service_id = new.service_id
  on conflict do update set count = count + excluded.count;
end;

create trigger import_stands_delete after delete on entries when old.kind = 'import' and old.state <> 'dropped' begin
  insert into entry_counts (service_id, username, kind, state, waits_for, count)
    select service_id, username, kind, state, waits_for, -when_stands from entries_waiting, waits
    where find_id = old.find_id and service_id = old.service_id
  on conflict do update set count = count + excluded.count;
end;

create trigger import_stands_before_update before update of find_id, service_id, kind, state on entries
when old.kind = 'import' and old.state <> 'dropped'
  and (old.kind, old.state = 'dropped', old.find_id, old.service_id) <> (new.kind, new.state = 'dropped', new.find_id, new.service_id)
begin
  insert into entry_counts (service_id, username, kind, state, waits_for, count)
    select service_id, username, kind, state, waits_for, -when_stands from entries_waiting, waits
    where find_id = old.find_id and service_id = old.service_id
  on conflict do update set count = count + excluded.count;
end;

create trigger import_stands_after_update after update of find_id, service_id, kind, state on entries
when new.kind = 'import' and new.state <> 'dropped'
  and (old.kind, old.state = 'dropped', old.find_id, old.service_id) <> (new.kind, new.state = 'dropped', new.find_id, new.service_id)
begin
  insert into entry_counts (service_id, username, kind, state, waits_for, count)
    select service_id, username, kind, state, waits_for, when_stands from entries_waiting, waits
    where find_id = new.find_id and service_id = new.service_id
  on conflict do update set count = count + excluded.count;
end;

-- Finds by what has become of their imports.

-- As a rule a new find has no entries yet; a copy that is put back brings them first.
create trigger find_counts_insert after insert on finds when not exists (select 1 from entries where find_id = new.id) begin
  insert into find_counts (imports, count) values ('{}', 1) on conflict do update set count = count + 1;
end;

create trigger find_counts_insert_late after insert on finds when exists (select 1 from entries where find_id = new.id) begin
  insert into find_counts (imports, count) select imports, 1 from find_imports where find_id = new.id
  on conflict do update set count = count + excluded.count;
end;

create trigger find_counts_delete before delete on finds begin
  insert into find_counts (imports, count) select imports, -1 from find_imports where find_id = old.id
  on conflict do update set count = count + excluded.count;
end;

-- A table brings thousands of finds with one import each: what its find was before and is after need not be put together from all entries.
create trigger find_counts_first_import after insert on entries
when new.kind = 'import' and not exists (select 1 from entries where find_id = new.find_id and kind = 'import' and id <> new.id)
begin
  insert into find_counts (imports, count) values ('{}', -1) on conflict do update set count = count - 1;
  insert into find_counts (imports, count) values (json_object(cast(new.service_id as text),
    case when new.state = 'dropped' then 'dropped' when new.state in ('sending', 'accepted', 'uncertain') then 'sent' else 'unsent' end), 1)
  on conflict do update set count = count + 1;
end;

create trigger find_counts_before_entry_insert before insert on entries
when new.kind = 'import' and exists (select 1 from entries where find_id = new.find_id and kind = 'import')
begin
  insert into find_counts (imports, count) select imports, -1 from find_imports where find_id = new.find_id
  on conflict do update set count = count + excluded.count;
end;

create trigger find_counts_after_entry_insert after insert on entries
when new.kind = 'import' and exists (select 1 from entries where find_id = new.find_id and kind = 'import' and id <> new.id)
begin
  insert into find_counts (imports, count) select imports, 1 from find_imports where find_id = new.find_id
  on conflict do update set count = count + excluded.count;
end;

create trigger find_counts_before_entry_delete before delete on entries when old.kind = 'import' begin
  insert into find_counts (imports, count) select imports, -1 from find_imports where find_id = old.find_id
  on conflict do update set count = count + excluded.count;
end;

create trigger find_counts_after_entry_delete after delete on entries when old.kind = 'import' begin
  insert into find_counts (imports, count) select imports, 1 from find_imports where find_id = old.find_id
  on conflict do update set count = count + excluded.count;
end;

create trigger find_counts_before_entry_update before update of find_id, service_id, kind, state on entries
when 'import' in (old.kind, new.kind)
  and (old.kind, old.find_id, old.service_id,
    old.state = 'dropped', old.state in ('sending', 'accepted', 'uncertain'))
  <> (new.kind, new.find_id, new.service_id,
    new.state = 'dropped', new.state in ('sending', 'accepted', 'uncertain'))
begin
  insert into find_counts (imports, count) select imports, -1 from find_imports where find_id in (old.find_id, new.find_id)
  on conflict do update set count = count + excluded.count;
end;

create trigger find_counts_after_entry_update after update of find_id, service_id, kind, state on entries
when 'import' in (old.kind, new.kind)
  and (old.kind, old.find_id, old.service_id,
    old.state = 'dropped', old.state in ('sending', 'accepted', 'uncertain'))
  <> (new.kind, new.find_id, new.service_id,
    new.state = 'dropped', new.state in ('sending', 'accepted', 'uncertain'))
begin
  insert into find_counts (imports, count) select imports, 1 from find_imports where find_id in (old.find_id, new.find_id)
  on conflict do update set count = count + excluded.count;
end;
