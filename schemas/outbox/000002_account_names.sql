-- the prefix and namespace in which the service wrote the account; empty where it was not asked since
alter table account add column prefix text not null default '';
alter table account add column namespace text not null default '';
