-- What a number or a photograph is to do, as a digest made when it was queued: a disk that changes a bit must not send something else.
-- Null for what an earlier pas queued, and for imports, whose document has its own.
alter table entries add column seal blob;
