-- The pass under way becomes one value, as the harvest of vocabularies has it; one that was begun is begun again.

alter table harvest rename to harvests;
alter table harvests drop column pass;
alter table harvests drop column window_from_at;
alter table harvests drop column window_until_at;
alter table harvests drop column pass_began_at;
alter table harvests drop column first_walk;
alter table harvests drop column met;
alter table harvests drop column list_size;
alter table harvests drop column token;
alter table harvests drop column ended;
alter table harvests drop column walk_from_at;
alter table harvests drop column walk_until_at;
alter table harvests drop column direction;
alter table harvests drop column edge_at;

-- number of the last look at the list
alter table harvests rename column walk to looks;
-- the pass under way; null when there is none
alter table harvests add column pass text check (json_valid(pass));

-- the last look that met the record
alter table met_records rename column walk to look;
alter table met_records add column harvest integer not null default 1;
-- it was left out since it could not be read; it is asked for again
alter table met_records add column skipped integer not null default 0 check (skipped in (0, 1));
update met_records set skipped = 1 where length(digest) = 0;
