-- An outbox: the finds of one account at one service, the writes that the service must see once (entries), and every event about them.
-- Times are whole milliseconds since 1970 UTC. Other programs read the view outbox_overview, never the tables.
-- A `crc` is the CRC-32 of the row's content: a changed bit in a readable file is noticed when the row is read. The JSON of finds and
-- entries has no other check.

create table header (
  only integer primary key check (only = 1),
  -- UUID of this outbox, the same in its copies and backups
  outbox text not null,
  -- the service, in one spelling, and the documents that it takes
  address text not null,
  prefix text not null,
  schema_version text not null,
  -- UUID of the journal that this outbox is pushed with, and the machine of that journal; empty before the first push
  journal text not null default '',
  machine text not null default '',
  -- where the merge with that journal stands: the last event of it that was read
  merged_seq integer not null default 0,
  merged_event text not null default '',
  -- adopted from another journal, or its journal was lost: the service is searched for everything unsent before it is sent
  must_look integer not null default 0 check (must_look in (0, 1)),
  -- the service's identifier of the account, bound at the first attempt
  account text,
  -- outboxes of the same account on this machine that a person wants kept separate, as JSON
  separate_from text not null default '[]',
  -- in a backup: when it was made
  copy_made_at integer,
  crc integer not null
) strict;

-- the account as the service last described it
create table account (
  only integer primary key check (only = 1),
  ident_cely text not null,
  username text not null,
  name text not null,
  email text not null,
  organisation text not null,
  role text not null,
  -- the prefix and namespace in which the service wrote the account; empty where it did not
  prefix text not null default '',
  namespace text not null default '',
  seen_at integer not null
) strict;

-- names of people whom the service does not know, and that a person said it is to make
create table accepted_people (
  name text primary key,
  accepted_at integer not null
) strict, without rowid;

create table finds (
  id integer primary key autoincrement,
  uuid text not null unique,
  -- the user's own key: importing it again means the same find
  local_id text not null unique check (length(local_id) > 0),
  -- contract element names to values
  elements text not null,
  -- raised by each change, so that a change can depend on the version that was read
  version integer not null default 1,
  source_file text,
  source_row integer,
  -- the table by its full path, with the sheet
  source_path text,
  -- the row of the table as last imported: its elements where they differ, and its photographs with the digests that they had
  base text,
  created_at integer not null,
  updated_at integer not null,
  -- removed by a person after something was attempted: not shown, and its local id stays taken
  hidden_at integer,
  crc integer not null
) strict;

create index finds_hidden on finds (id) where hidden_at is not null;
-- finds with a person who is new to the service
create index finds_of_new_people on finds (id) where instr(elements, '":tba"') > 0;

-- Commands that changed finds, and each find as it was before. What a command did is undone from here, also after it was killed.
create table commands (
  seq integer primary key autoincrement,
  id text not null unique,
  -- the command's words, such as `import`
  command text not null,
  at integer not null,
  -- what could be undone was
  undone_at integer
) strict;

create table find_changes (
  command integer not null references commands (seq) on delete cascade,
  -- row of the find, which is used once only
  find_id integer not null,
  local_id text not null,
  -- null for a find that the command made
  before text check (before is null or json_valid(before)),
  -- attempts of all its entries at that time
  attempts integer not null,
  primary key (command, find_id)
) strict, without rowid;

create index find_changes_of_find on find_changes (find_id, command);

create table entries (
  id integer primary key autoincrement,
  uuid text not null unique,
  -- null for a record of the service that is not kept here as a find
  find_id integer references finds (id),
  kind text not null check (kind in ('import', 'number', 'photo')),
  -- entries of one record share it, so that they are sent one at a time
  record_key text not null,

  -- What is wanted. import: the exact bytes that passed validation, and the digest of the find as it was found.
  document blob,
  document_sha512 blob,
  digest text,
  project text,
  -- number: the new value, and the value that the record showed when it was queued
  value text,
  expects text,
  -- photo: a copy named by its digest in the folder of photographs, or where it was linked
  photo_name text,
  photo_type text,
  photo_sha512 blob,
  -- of the file before its place was removed, where that was done
  photo_original_sha512 blob,
  photo_bytes integer,
  photo_link text,
  -- the file that it was read from: other content there replaces it as long as it is not sent
  photo_source text,
  -- the refusal that is overruled: the content was changed, or a person wants it sent again
  retry_of text,
  -- not sent before; 0 means at once
  not_before_at integer not null default 0,
  -- a question that a person must answer before it is sent, as JSON
  held text,
  crc integer not null,

  -- What the events say, kept here for status and list; `pas outbox check` compares it with the events.
  state text not null check (state in ('draft', 'queued', 'sending', 'accepted', 'refused', 'uncertain', 'dropped')),
  -- import: the identifier that it was given; number, photo: the record to change
  ident_cely text,
  -- attempts of which it is not known whether they arrived
  unknown_attempts integer not null default 0,
  attempts integer not null default 0,
  -- for people, and findings of validation or of the service as JSON
  reason text,
  issues text,
  created_at integer not null,
  updated_at integer not null,

  check (kind <> 'import' or find_id is not null),
  check (kind <> 'number' or value is not null),
  check (kind <> 'photo' or (photo_name is not null and photo_sha512 is not null and photo_bytes is not null)),
  check (kind <> 'import' or state <> 'accepted' or ident_cely is not null)
) strict;

create unique index entries_one_import on entries (find_id) where kind = 'import';
create index entries_claimable on entries (not_before_at, id) where state = 'queued' and held is null and (kind = 'import' or ident_cely is not null);
create index entries_of_find on entries (find_id);
create index entries_of_ident on entries (ident_cely) where ident_cely is not null;
create index entries_of_record on entries (record_key);
create index entries_by_state on entries (kind, state);
create index entries_unsettled on entries (state, id) where state in ('draft', 'refused', 'sending', 'uncertain');
create index entries_held on entries (id) where held is not null;
create index entries_of_photo on entries (photo_sha512, record_key) where kind = 'photo';
create index entries_of_photo_source on entries (record_key, photo_source) where kind = 'photo';

-- Facts, never changed. The journal of the machine has the same table; each event has one id in both.
create table events (
  seq integer primary key autoincrement,
  id text not null unique,
  outbox text not null,
  -- UUIDs; null for what concerns the whole outbox
  find text,
  entry text,
  -- the place among the events of its entry; with the id it orders them alike wherever they were merged
  position integer not null,
  kind text not null check (kind in ('attempted', 'answered', 'found', 'absent', 'decided', 'bound', 'moved')),
  body text not null check (json_valid(body)),
  crc integer not null,
  in_journal integer not null default 0 check (in_journal in (0, 1))
) strict;

create index events_of_entry on events (entry, position, id) where entry is not null;
create index events_for_journal on events (seq) where in_journal = 0;

-- The last inconclusive lookup of an entry: its reason, and the considered records or files.
create table lookups (
  entry_id integer primary key references entries (id) on delete cascade,
  looked_at integer not null,
  server_at integer,
  basis text not null,
  reason text not null,
  candidates text not null check (json_valid(candidates))
) strict;

-- The last complete search of each project before a push, by the server's clock; and the decision of a person that records hidden
-- from the account belong to others.
create table project_searches (
  project text primary key,
  server_at integer not null,
  others_write integer not null default 0 check (others_write in (0, 1))
) strict, without rowid;

-- Records of this account that a search showed and that no event explains, or with files that none explains: a later search shows only
-- changes, and an equal find may be queued after it. record: null where it is listed and not shown.
create table unexplained (
  ident_cely text primary key,
  record text check (record is null or json_valid(record))
) strict, without rowid;

-- How harvesting last showed the records that were sent from here. Server times come from its answers.
create table pulled (
  ident_cely text primary key,
  -- shown: read as it is; withheld: listed, but not shown to this account; deleted: the service says so; missing: not listed
  standing text not null check (standing in ('shown', 'withheld', 'deleted', 'missing')),
  -- the server's time of the record's last change, or of its deletion; null where it is not listed
  datestamp_at integer,
  -- the state that the service has it in, and the record as it was last shown; null where it never was
  stav integer,
  record text check (record is null or json_valid(record)),
  -- first pull with this standing, and last lookup of the record
  since_at integer not null,
  seen_at integer not null,
  check ((stav is null) = (record is null)),
  check (standing <> 'shown' or record is not null)
) strict, without rowid;

-- how far the outbox is pulled: the server's time when the last complete pull began
create table pulls (
  only integer primary key check (only = 1),
  watermark_at integer not null,
  completed_at integer not null
) strict;

create view outbox_overview as
select
  entries.id as entry,
  finds.local_id as local_id,
  (select address from header) as service,
  entries.kind as kind,
  entries.state as state,
  entries.held is not null as held,
  entries.ident_cely as ident_cely,
  case json_type(entries.reason) when 'text' then entries.reason ->> '$' else (
    with recursive said (left_over, text) as (
      select json_array_length(entries.reason, '$.values'), entries.reason ->> '$.text'
      union all
      select left_over - 1, replace(text, '${' || (left_over - 1) || '}', coalesce(
        entries.reason ->> ('$.values[' || (left_over - 1) || '].text'), entries.reason ->> ('$.values[' || (left_over - 1) || ']')))
      from said where left_over > 0)
    select text from said where left_over = 0) end as reason,
  entries.not_before_at as not_before_at,
  entries.attempts as attempts,
  pulled.standing as standing,
  pulled.stav as stav
from entries
left join finds on finds.id = entries.find_id
left join pulled on pulled.ident_cely = entries.ident_cely;
