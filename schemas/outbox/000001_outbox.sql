-- The outbox: finds, the writes that the service must see once (entries), and every attempt at them.
-- Times are whole milliseconds since 1970 UTC. Other programs read the view outbox_overview, never the tables.

create table finds (
  id integer primary key,
  -- the user's own key: importing it again means the same find
  local_id text not null unique check (length(local_id) > 0),
  -- contract element names to values
  elements text not null check (json_valid(elements)),
  source_file text,
  source_row integer,
  created_at integer not null,
  updated_at integer not null
) strict;

create table entries (
  id integer primary key,
  -- null for a record of the service that is not kept here as a find
  find_id integer references finds (id),
  profile text not null,
  kind text not null check (kind in ('import', 'number', 'photo')),
  state text not null check (state in ('draft', 'queued', 'sending', 'accepted', 'refused', 'uncertain', 'dropped')),
  -- the service's identifier: of the record to change, and of an accepted import the one that was assigned
  ident_cely text,
  -- not sent before; 0 means at once
  not_before_at integer not null default 0,
  -- what entries of one record share, so that they go one at a time
  record_key text not null,

  -- import: the exact bytes that passed validation
  document blob,
  document_sha512 blob,
  project text,
  -- import: refused once while another import of its project was under way, so tried once more alone
  collided integer not null default 0,

  -- number
  value text,

  -- photo: a copy named by its digest in the photograph store, or where it was linked
  photo_name text,
  photo_type text,
  photo_sha512 blob,
  photo_bytes integer,
  photo_link text,

  -- why it is in this state, for people; findings of validation or of the service as JSON
  reason text,
  issues text check (issues is null or json_valid(issues)),
  created_at integer not null,
  updated_at integer not null,

  check (kind <> 'import' or find_id is not null),
  check (kind <> 'import' or state in ('draft', 'dropped') or (document is not null and document_sha512 is not null)),
  check (kind <> 'number' or value is not null),
  check (kind <> 'photo' or (photo_name is not null and photo_sha512 is not null and photo_bytes is not null)),
  check (kind <> 'import' or state <> 'accepted' or ident_cely is not null)
) strict;

create unique index entries_one_import on entries (find_id, profile) where kind = 'import' and state <> 'dropped';
create unique index entries_one_photo on entries (record_key, profile, photo_sha512) where kind = 'photo' and state <> 'dropped';
-- what may be sent: an import, or a change to a record whose identifier is known
create index entries_due on entries (profile, not_before_at, id) where state = 'queued' and (kind = 'import' or ident_cely is not null);
create index entries_of_find on entries (find_id, profile);
create index entries_of_ident on entries (ident_cely) where ident_cely is not null;
create index entries_by_state on entries (profile, kind, state);
create index entries_unsettled on entries (profile, state, id) where state in ('draft', 'refused', 'sending', 'uncertain');

create table attempts (
  id integer primary key,
  entry_id integer not null references entries (id),
  started_at integer not null,
  -- null while the request is under way, and for ever if the process died then
  ended_at integer,
  method text not null,
  path text not null,
  -- the service's own clock, from its answer
  server_date_at integer,
  status integer,
  outcome text,
  reason text
) strict;

create index attempts_of_entry on attempts (entry_id, id);

-- one pusher at a time
create table lease (
  only integer primary key check (only = 1),
  pid integer not null,
  host text not null,
  -- tells a process from a later one with the same pid
  process_mark text not null,
  taken_at integer not null
) strict;

-- what the service said of each profile's account, so that its role can be checked offline
create table accounts (
  profile text primary key,
  ident_cely text not null,
  name text not null,
  email text not null,
  organisation text not null,
  role text not null,
  seen_at integer not null
) strict;

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
  (select count(*) from attempts where attempts.entry_id = entries.id) as attempts
from entries
left join finds on finds.id = entries.find_id;
