-- Counts that are kept in the transaction of every change, so that showing them costs the same however many finds there are.
-- Each is defined by a view that really counts; the triggers take away what was before a change and add what is after it.

-- What numbers and photographs without an identifier wait for.
create view imports_standing as
select find_id, profile from entries where kind = 'import' and state <> 'dropped';

create table entry_counts (
  profile text not null,
  kind text not null,
  state text not null,
  -- import: the find's import stands, and will bring the identifier; given_up: there is none that could
  waits_for text not null check (waits_for in ('nothing', 'import', 'given_up')),
  count integer not null,
  primary key (profile, kind, state, waits_for)
) strict, without rowid;

create view entries_counted as
select profile, kind, state,
  case when kind = 'import' or ident_cely is not null or state not in ('queued', 'uncertain') then 'nothing'
    when exists (select 1 from imports_standing as made where made.find_id = entries.find_id and made.profile = entries.profile)
    then 'import' else 'given_up' end as waits_for,
  count(*) as count
from entries group by 1, 2, 3, 4;

-- What has become of each find's imports, by profile and in the order of their names, as JSON: {"training":"sent"}. An import that is
-- dropped counts only where no other one stands.
create view find_imports as
select id as find_id, (
  select json_group_object(profile, standing) from (
    select profile,
      case max(case when state = 'dropped' then 0 when state in ('sending', 'accepted', 'uncertain') then 2 else 1 end)
        when 0 then 'dropped' when 1 then 'unsent' else 'sent' end as standing
    from entries where entries.find_id = finds.id and kind = 'import' group by profile order by profile)) as imports
from finds;

create table find_counts (
  imports text primary key not null check (json_valid(imports)),
  count integer not null
) strict, without rowid;

create view finds_counted as
select imports, count(*) as count from find_imports group by imports;

insert into entry_counts (profile, kind, state, waits_for, count) select profile, kind, state, waits_for, count from entries_counted;
insert into find_counts (imports, count) select imports, count from finds_counted;

-- Entries by what they are.

create trigger entry_counts_insert after insert on entries begin
  insert into entry_counts (profile, kind, state, waits_for, count) values (new.profile, new.kind, new.state,
    case when new.kind = 'import' or new.ident_cely is not null or new.state not in ('queued', 'uncertain') then 'nothing'
      when exists (select 1 from imports_standing where find_id = new.find_id and profile = new.profile)
      then 'import' else 'given_up' end, 1)
  on conflict do update set count = count + 1;
end;

create trigger entry_counts_delete before delete on entries begin
  insert into entry_counts (profile, kind, state, waits_for, count) values (old.profile, old.kind, old.state,
    case when old.kind = 'import' or old.ident_cely is not null or old.state not in ('queued', 'uncertain') then 'nothing'
      when exists (select 1 from imports_standing where find_id = old.find_id and profile = old.profile)
      then 'import' else 'given_up' end, -1)
  on conflict do update set count = count - 1;
end;

create trigger entry_counts_before_update before update of find_id, profile, kind, state, ident_cely on entries begin
  insert into entry_counts (profile, kind, state, waits_for, count) values (old.profile, old.kind, old.state,
    case when old.kind = 'import' or old.ident_cely is not null or old.state not in ('queued', 'uncertain') then 'nothing'
      when exists (select 1 from imports_standing where find_id = old.find_id and profile = old.profile)
      then 'import' else 'given_up' end, -1)
  on conflict do update set count = count - 1;
end;

create trigger entry_counts_after_update after update of find_id, profile, kind, state, ident_cely on entries begin
  insert into entry_counts (profile, kind, state, waits_for, count) values (new.profile, new.kind, new.state,
    case when new.kind = 'import' or new.ident_cely is not null or new.state not in ('queued', 'uncertain') then 'nothing'
      when exists (select 1 from imports_standing where find_id = new.find_id and profile = new.profile)
      then 'import' else 'given_up' end, 1)
  on conflict do update set count = count + 1;
end;

-- What waits for an import, when one comes to stand or no longer stands.

create view entries_waiting as
select find_id, profile, kind, state from entries
where kind <> 'import' and ident_cely is null and state in ('queued', 'uncertain');

-- How many more wait for what, of each that waits, when an import comes to stand.
create view waits as
select 'import' as waits_for, 1 as when_stands union all select 'given_up', -1;

create trigger import_stands_insert after insert on entries
when new.kind = 'import' and new.state <> 'dropped'
  and exists (select 1 from entries_waiting where find_id = new.find_id and profile = new.profile)
begin
  insert into entry_counts (profile, kind, state, waits_for, count)
    select profile, kind, state, waits_for, when_stands from entries_waiting, waits
    where find_id = new.find_id and profile = new.profile
  on conflict do update set count = count + excluded.count;
end;

create trigger import_stands_delete after delete on entries when old.kind = 'import' and old.state <> 'dropped' begin
  insert into entry_counts (profile, kind, state, waits_for, count)
    select profile, kind, state, waits_for, -when_stands from entries_waiting, waits
    where find_id = old.find_id and profile = old.profile
  on conflict do update set count = count + excluded.count;
end;

create trigger import_stands_before_update before update of find_id, profile, kind, state on entries
when old.kind = 'import' and old.state <> 'dropped'
  and (old.kind, old.state = 'dropped', old.find_id, old.profile) <> (new.kind, new.state = 'dropped', new.find_id, new.profile)
begin
  insert into entry_counts (profile, kind, state, waits_for, count)
    select profile, kind, state, waits_for, -when_stands from entries_waiting, waits
    where find_id = old.find_id and profile = old.profile
  on conflict do update set count = count + excluded.count;
end;

create trigger import_stands_after_update after update of find_id, profile, kind, state on entries
when new.kind = 'import' and new.state <> 'dropped'
  and (old.kind, old.state = 'dropped', old.find_id, old.profile) <> (new.kind, new.state = 'dropped', new.find_id, new.profile)
begin
  insert into entry_counts (profile, kind, state, waits_for, count)
    select profile, kind, state, waits_for, when_stands from entries_waiting, waits
    where find_id = new.find_id and profile = new.profile
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
  insert into find_counts (imports, count) values (json_object(new.profile,
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

create trigger find_counts_before_entry_update before update of find_id, profile, kind, state on entries
when 'import' in (old.kind, new.kind)
  and (old.kind, old.find_id, old.profile,
    old.state = 'dropped', old.state in ('sending', 'accepted', 'uncertain'))
  <> (new.kind, new.find_id, new.profile,
    new.state = 'dropped', new.state in ('sending', 'accepted', 'uncertain'))
begin
  insert into find_counts (imports, count) select imports, -1 from find_imports where find_id in (old.find_id, new.find_id)
  on conflict do update set count = count + excluded.count;
end;

create trigger find_counts_after_entry_update after update of find_id, profile, kind, state on entries
when 'import' in (old.kind, new.kind)
  and (old.kind, old.find_id, old.profile,
    old.state = 'dropped', old.state in ('sending', 'accepted', 'uncertain'))
  <> (new.kind, new.find_id, new.profile,
    new.state = 'dropped', new.state in ('sending', 'accepted', 'uncertain'))
begin
  insert into find_counts (imports, count) select imports, 1 from find_imports where find_id in (old.find_id, new.find_id)
  on conflict do update set count = count + excluded.count;
end;
