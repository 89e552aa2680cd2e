-- The time between a copy and its being put back: finds may have been added and sent in it of which this outbox knows nothing.
-- What is added later is held as uncertain where such a gap covers it. Times are milliseconds since 1970 UTC, by this
-- machine's clock.
create table gaps (
  profile text not null,
  -- Null until a harvest has shown in which projects there are such records; then one row for each of them.
  project text,
  from_at integer not null,
  until_at integer not null
) strict;
