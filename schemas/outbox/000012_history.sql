-- Which outbox this is, where it is used, and how many requests were made from it. The machine keeps the same beside the folders that people
-- copy: an outbox that is behind what the machine knows of it was copied back, or is a copy.
create table history (
  only integer primary key check (only = 1),
  id text not null,
  -- empty before anybody has used it, and where a machine has no name that no other one has
  machine text not null,
  attempts integer not null
) strict;
insert into history (only, id, machine, attempts) select 1, lower(hex(randomblob(16))), '', count(*) from attempts;

create trigger history_attempt after insert on attempts begin
  update history set attempts = attempts + 1;
end;

-- when an account last looked at what it has at the service
create table looks (
  service_id integer not null references services (id),
  username text not null,
  looked_at integer not null,
  primary key (service_id, username)
) strict, without rowid;
