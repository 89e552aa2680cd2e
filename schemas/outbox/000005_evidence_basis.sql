-- What a verdict rests on, as a stable code: the words beside it depend on the language of whoever asked. Null in older rows.

alter table evidence add column basis text;
