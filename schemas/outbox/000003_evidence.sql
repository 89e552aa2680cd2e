-- What was found at the service about an entry of unknown end, and what was concluded from it. Never changed, only added to.

create table evidence (
  id integer primary key,
  entry_id integer not null references entries (id),
  found_at integer not null,
  verdict text not null check (verdict in ('found', 'absent', 'undecided', 'person')),
  reason text not null,
  -- identifiers or file names that were considered, as JSON
  candidates text not null check (json_valid(candidates))
) strict;

create index evidence_of_entry on evidence (entry_id, id);
