-- What an older copy cannot know, and which machine pushes.

-- Set where an older copy was put back: the write may have been sent between these two moments, by this machine's clock.
-- Null again as soon as it is settled.
alter table entries add column doubt_from_at integer;
alter table entries add column doubt_until_at integer;

-- In a copy alone: when it was made.
create table copy_made (
  only integer primary key check (only = 1),
  made_at integer not null
) strict;

-- Tells a machine that was renamed from another one; empty where a machine has no such name for itself.
alter table lease add column machine text not null default '';
