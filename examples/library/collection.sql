-- The finds of a small collection, as its own system keeps them.
create table if not exists finds (
  inventory text primary key,
  project text not null,
  found text not null,
  depth integer not null,
  place text not null,
  lon real not null,
  lat real not null,
  ident_cely text
) strict;

insert or ignore into finds (inventory, project, found, depth, place, lon, lat) values
  ('KN-001', 'C-202400101', '2024-04-01', 5, 'Petrovice, cesta k brodu', 15.1701, 49.8401),
  ('KN-002', 'C-202400101', '2024-04-02', 7, 'Všesoky, pole za mlýnem', 15.1704, 49.8403),
  ('KN-003', 'C-202400101', '2024-04-03', 9, 'Petrovice, cesta k brodu', 15.1707, 49.8405),
  ('KN-004', 'C-202400101', '2024-04-04', 11, 'Všesoky, pole za mlýnem', 15.1710, 49.8407),
  ('KN-005', 'C-202400101', '2024-04-05', 13, 'Petrovice, cesta k brodu', 15.1713, 49.8409),
  ('KN-006', 'C-202400101', '2024-04-06', 15, 'Všesoky, pole za mlýnem', 15.1716, 49.8411),
  ('KN-007', 'C-202400101', '2024-04-07', 17, 'Petrovice, cesta k brodu', 15.1719, 49.8413),
  ('KN-008', 'C-202400101', '2024-04-08', 19, 'Všesoky, pole za mlýnem', 15.1722, 49.8415),
  ('KN-009', 'C-202400101', '2024-04-09', 21, 'Petrovice, cesta k brodu', 15.1725, 49.8417),
  ('KN-010', 'C-202400101', '2024-04-10', 23, 'Všesoky, pole za mlýnem', 15.1728, 49.8419),
  ('KN-011', 'C-202400101', '2024-04-11', 25, 'Petrovice, cesta k brodu', 15.1731, 49.8421),
  ('KN-012', 'C-202400101', '2024-04-12', 27, 'Všesoky, pole za mlýnem', 15.1734, 49.8423);
