-- An outbox: the finds of one account at one service, and everything that the service is to be told once. Times are whole milliseconds
-- since 1970 UTC. Facts and intents are the truth and never change; their ids are hashes of their content, and no row has another
-- checksum. Other programs read the view outbox_overview, never the tables.

create table header (
  only integer primary key check (only = 1),
  outbox text not null,
  -- the service, as the ledger of this machine names it
  service text not null,
  kind text not null check (kind in ('production', 'training')),
  address text not null,
  -- whose it is before the first sign-in, and the service's identifier of the account after it
  username text, account text,
  -- the ledger and the machine that pushed last, empty before the first push; and the last fact of the ledger that was read
  ledger text not null default '', machine text not null default '',
  united_seq integer not null default 0, united_fact text not null default '',
  -- pushed from elsewhere before, or with a ledger that is lost: the service is searched as for the first time
  must_look integer not null default 0 check (must_look in (0, 1)),
  -- the period that searches have covered, by the service's clock; null before the first that left no question
  looked_from integer, looked_until integer,
  -- in a backup: when it was made
  copy_made_at integer
) strict;

-- the account as the service last described it
create table account (
  only integer primary key check (only = 1),
  ident_cely text not null, username text not null, name text not null, email text not null,
  organisation text not null, role text not null,
  -- prefix and namespace in which the service wrote it; empty where it did not
  prefix text not null, namespace text not null,
  seen_at integer not null
) strict;

-- people whom the service does not know, and that a person said it is to make
create table accepted_people (name text primary key, accepted_at integer not null) strict, without rowid;

create table intents (
  row integer primary key autoincrement,
  id text not null,
  kind text not null check (kind in ('import', 'number', 'photo')),
  subject text not null,
  -- null after thinning
  content text,
  -- of an import, from its content and the profile, so that they have an id of their own: the bytes that passed validation, and the
  -- findings; without a document it is a draft
  document blob,
  issues text,
  prepared_id text,
  -- the id covers the subject, by which rows of one time are beside one another
  unique (subject, id)
) strict;

create index intents_of_new_people on intents (row) where instr(content, '":tba"') > 0;

create table facts (
  seq integer primary key autoincrement,
  id text not null,
  kind text not null check (kind in ('current', 'attempted', 'answered', 'matched', 'absent', 'decided')),
  -- the UUID of a find, or record:IDENT where there is no find here
  subject text not null,
  -- of what exactly one intent is wanted
  slot text not null,
  -- of a person: its facts are what an undo takes back
  command text,
  body text not null,
  -- 0: to be copied into the ledger; 1: it is there; 2: of a subject without an attempt, which the ledger need not know
  in_ledger integer not null check (in_ledger in (0, 1, 2)),
  unique (subject, id)
) strict;

create index facts_of_command on facts (command, seq) where command is not null;
create index facts_for_ledger on facts (seq) where in_ledger = 0;

-- A cache, derived from the facts; `pas doctor --repair` makes it again.

create table entries (
  -- the order of the queue: the number of its first fact, so that it has its place again after an undo
  id integer primary key,
  -- 'import', or the intent of a change
  key text not null,
  -- entries of one find or record are sent one at a time
  subject text not null,
  -- that of its facts
  slot text not null,
  kind text not null check (kind in ('import', 'number', 'photo')),
  intent integer not null references intents (row),
  state text not null check (state in ('draft', 'queued', 'sending', 'accepted', 'refused', 'uncertain', 'dropped')),
  -- another version is wanted than the one that was accepted
  changed integer not null check (changed in (0, 1)),
  -- import: the record that it became; number, photo: the record to change
  ident_cely text,
  -- an import is the row of its find, and fills the columns to `hidden`
  -- the user's own key: importing it again means the same find
  local_id text check (length(local_id) > 0),
  -- the fact with its wish
  fact text,
  -- it was removed after an attempt
  hidden integer check (hidden in (0, 1)),
  project text, value text, expects text, photograph text,
  attempts integer not null, unknown_attempts integer not null, not_before_at integer not null,
  -- a question for a person, and the last inconclusive lookup, as JSON
  held text check (json_valid(held)), lookup text check (json_valid(lookup)),
  reason text check (json_valid(reason)),
  -- the findings of the refusal that counts, as JSON; those of a draft or a queued find are its intent's
  refusal text check (json_valid(refusal)),
  created_at integer not null, updated_at integer not null,
  check ((key = 'import') = (kind = 'import' and local_id is not null and fact is not null and hidden is not null)),
  unique (subject, key),
  foreign key (subject, fact) references facts (subject, id)
) strict;

create unique index finds_named on entries (local_id) where key = 'import';
create index finds_hidden on entries (id) where hidden = 1;
create index finds_changed on entries (id) where changed = 1;
create index entries_claimable on entries (not_before_at, id) where state = 'queued' and held is null and (kind = 'import' or ident_cely is not null);
create index entries_of_ident on entries (ident_cely) where ident_cely is not null;
create index entries_by_state on entries (kind, state);
create index entries_unsettled on entries (state, id) where state in ('draft', 'refused', 'sending', 'uncertain');
create index entries_held on entries (id) where held is not null;

create view finds as
select id, subject as uuid, local_id, intent, fact, hidden, state, changed, attempts, ident_cely
from entries where key = 'import';

-- records that a search showed and no fact explains, as JSON
create table unexplained (ident_cely text primary key, record text not null check (json_valid(record))) strict, without rowid;

-- how harvesting last showed the records that were sent from here, by server times; record: as it was last shown
create table pulled (
  ident_cely text primary key,
  standing text not null check (standing in ('shown', 'withheld', 'deleted', 'missing')),
  datestamp_at integer, stav integer,
  record text check (record is null or json_valid(record)),
  since_at integer not null, seen_at integer not null
) strict, without rowid;

create view outbox_overview as
select entries.id as entry, finds.local_id, (select address from header) as service,
  entries.kind, entries.state, held is not null and entries.state = 'queued' as held, entries.ident_cely, case json_type(reason) when 'text' then reason ->> '$' else (
    with recursive said (left_over, text) as (
      select json_array_length(reason, '$.values'), reason ->> '$.text'
      union all select left_over - 1, replace(text, '${' || (left_over - 1) || '}', coalesce(
        reason ->> ('$.values[' || (left_over - 1) || '].text'), reason ->> ('$.values[' || (left_over - 1) || ']')))
      from said where left_over > 0)
    select text from said where left_over = 0) end as reason,
  not_before_at, entries.attempts, standing, stav
from entries left join finds on finds.uuid = entries.subject left join pulled on pulled.ident_cely = entries.ident_cely;
