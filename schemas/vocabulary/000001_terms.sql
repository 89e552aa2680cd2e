-- The harvested vocabularies. A cache: the file may be deleted and harvested again.
-- Times are whole milliseconds since 1970 UTC. "The server's" ones come from its answers, the others from this machine.

-- one harvesting interface; what two of them say is never mixed
create table sources (
  id integer primary key,
  oai_base text not null unique
) strict;

create table terms (
  id integer primary key,
  source integer not null references sources (id),
  -- HES-000253, ORG-000091, OS-001507, ruian-676730
  ident text not null,
  -- the most specific set: heslo:obdobi, organizace, osoba, ruian_katastr, …
  set_spec text not null,
  label text not null,
  label_en text,
  abbreviation text,
  description text,
  description_en text,
  -- place in the vocabulary's own order
  sort_order integer,
  -- dating, links and what else only `show` and `export` need
  details text not null check (json_valid(details)),
  -- the server's time of the last change
  datestamp_at integer not null,
  -- deleted: the service says so; vanished: a full harvest no longer lists it
  gone text check (gone in ('deleted', 'vanished')),
  gone_at integer,
  check ((gone is null) = (gone_at is null)),
  unique (source, ident)
) strict;

create index terms_by_set on terms (source, set_spec, sort_order, label);

-- superior entries: the hierarchy of a vocabulary, the district of a cadastral area, the region of a district
create table superiors (
  term integer not null references terms (id) on delete cascade,
  superior text not null,
  kind text not null,
  primary key (term, superior, kind)
) strict, without rowid;

create index superiors_by_superior on superiors (superior);

-- every name that stands for a term on its own, without case and accents; of people also the sorted words of it
create table names (
  folded text not null,
  term integer not null references terms (id) on delete cascade,
  primary key (folded, term)
) strict, without rowid;

create index names_by_term on names (term);

-- words of names and descriptions, for search
create table words (
  id integer primary key,
  text text not null unique
) strict;

-- every three letters of a word, its edges marked, so that a mistyped word is found; rowid is the word's id
create virtual table word_grams using fts5 (word, tokenize = 'trigram', detail = 'none', content = '');

create table term_words (
  word integer not null references words (id),
  term integer not null references terms (id) on delete cascade,
  -- 3 label, 2 other name, 1 description
  weight integer not null check (weight between 1 and 3),
  primary key (word, term)
) strict, without rowid;

create index term_words_by_term on term_words (term);

-- boundaries in WGS 84; boxes for the index
create table areas (
  term integer primary key references terms (id) on delete cascade,
  boundary text not null
) strict;

create virtual table area_boxes using rtree (term, min_lon, max_lon, min_lat, max_lat);

-- how far each set is harvested
create table harvests (
  id integer primary key,
  source integer not null references sources (id),
  set_spec text not null,
  -- the server's time when the last complete pass began: the next one asks for what changed since
  watermark_at integer,
  -- when the last complete pass ended
  completed_at integer,
  -- how often a run of pas took this up; only the latest may go on writing
  runs integer not null default 0,

  -- as whom, and from which endpoint in which format: a record seen by another subject is requested again
  subject text not null default '',
  -- role and organisation of the account; null where the service did not say them
  rights text,
  -- the pass under way; null when there is none
  pass text check (json_valid(pass)),
  -- unconfirmed losses: first server time, and a digest of the unlisted identifiers; null: none
  observed_losses text check (json_valid(observed_losses)),

  unique (source, set_spec)
) strict;

-- last seen version of each record
create table seen_records (
  harvest integer not null references harvests (id) on delete cascade,
  identifier text not null,
  datestamp_at integer not null,
  -- of the record's text; empty where no text of it was taken
  digest text not null,
  -- last scan that saw it; 0: it is not on the list
  scan integer not null,
  -- it was left out since it could not be read; it is asked for again
  skipped integer not null default 0 check (skipped in (0, 1)),
  primary key (harvest, identifier)
) strict, without rowid;
