-- Why things are as they are is kept as JSON and put into the reader's language when it is shown: a text with its values, or,
-- of what an earlier pas wrote, the plain text. The same holds for the messages of issues.
update entries set reason = json_quote(reason) where reason is not null;
update attempts set reason = json_quote(reason) where reason is not null;
update evidence set reason = json_quote(reason);

-- Programs that read along get the English text.
drop view outbox_overview;
create view outbox_overview as
select
  entries.id as entry,
  finds.local_id as local_id,
  (select min(name) from profile_services where profile_services.service_id = entries.service_id) as profile,
  services.address as service,
  entries.username as username,
  entries.kind as kind,
  entries.state as state,
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
  (select count(*) from attempts where attempts.entry_id = entries.id) as attempts,
  pulled.standing as standing,
  pulled.stav as stav
from entries
join services on services.id = entries.service_id
left join finds on finds.id = entries.find_id
left join pulled on pulled.service_id = entries.service_id and pulled.username = entries.username
  and pulled.ident_cely = entries.ident_cely;
