-- What the account might see when the sets were read last, as the service's user information has it; null: not known.
alter table outputs add column rights text;
