-- The last look of the last complete pass that read everything: what it did not meet is not on the list.
alter table harvests add column full_look integer not null default 0;
-- losses that were not believed at once: since when, by the server's clock, and a digest of what was not met; null: none
alter table harvests add column doubt text check (json_valid(doubt));
-- a datestamp that was met is a day, so changes are asked for by day
alter table harvests add column by_day integer not null default 0 check (by_day in (0, 1));
