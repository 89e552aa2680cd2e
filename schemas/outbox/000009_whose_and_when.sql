-- Under which account, and by whose clock.

-- The service's own identifier of the account that an attempt was made with; null where that was not known.
alter table attempts add column account text;
-- The service's clock when the harvest was read that the evidence rests on; null for a person's, and in older rows.
alter table evidence add column server_at integer;
-- The user name that the profile had when the service was asked: with another one, the account is not known.
alter table accounts add column username text;
