-- The ledger: what was attempted on this machine, with all facts about it, kept where no copy of a data folder takes it along.

create table identity (only integer primary key check (only = 1), ledger text not null) strict;

create table services (id text primary key, kind text not null check (kind in ('production', 'training'))) strict, without rowid;
create table addresses (address text primary key, service text not null references services (id)) strict, without rowid;

-- Versions of finds, numbers and photographs that were wanted after an attempt; as in the outbox (schemas/outbox).
create table intents (id text not null, kind text not null, subject text not null, content text not null,
  document blob, issues text, prepared_id text, primary key (subject, id)) strict;

-- As in the outbox. An attempted fact has its intent, its wish and its document within.
create table facts (
  seq integer primary key autoincrement,
  id text not null,
  service text not null references services (id), account text not null,
  kind text not null, subject text not null, slot text not null, command text,
  body text not null,
  unique (subject, id)
) strict;

create index facts_of_account on facts (service, account, seq);
create index facts_of_attempts on facts (service, subject) where kind = 'attempted' and slot = 'import ' || subject;
