import { groupBy } from '../../base/collections.ts';
import { createRowParser, isNumber, isText, makeMemberGuard } from '../../base/disk/database.ts';
import { NEW_PERSON } from '../../finds/fields.ts';
import type { LookupTerm, TermCandidate } from '../../finds/find.ts';
import { groupSimilarNames } from '../../finds/person-name.ts';
import {
  ENTRY_KINDS,
  ENTRY_STATES,
  type Entry,
  type EntryKind,
  type EntryState,
} from '../entry.ts';
import { listDelayedEntries, listEntriesNeedingPerson } from '../entry-queries.ts';
import type { Outbox } from '../open-outbox.ts';
import { findByUuid } from '../stored-finds.ts';

const parseKindCount = createRowParser({ kind: makeMemberGuard(ENTRY_KINDS), count: isNumber });

/**
 * Counts queued entries of each kind, also those that must wait, but not held ones.
 * @param subjects those whose entries are counted; undefined for all
 */
export function countUnheldQueuedEntries(
  outbox: Outbox,
  subjects: readonly string[] | undefined,
): Readonly<Record<EntryKind, number>> {
  const rows = outbox
    .sql(
      `select kind, count(*) as count from entries where state = 'queued' and held is null
         and (:subjects is null or entries.subject in (select value from json_each(:subjects))) group by kind`,
    )
    .all({ subjects: subjects === undefined ? null : JSON.stringify(subjects) });
  const counts = rows.map(parseKindCount).map(({ kind, count }) => [kind, count] as const);
  return { import: 0, number: 0, photo: 0, ...Object.fromEntries(counts) };
}

/** Returns local ids of dropped finds that block numbers or photographs. */
export function listDroppedFindsWithDependents(outbox: Outbox): string[] {
  return outbox.listTexts(
    `select local_id from entries as dropped where kind = 'import' and state = 'dropped' and hidden = 0 and exists (
         select 1 from entries where subject = dropped.subject and kind <> 'import' and state = 'queued' and ident_cely is null)
       order by id`,
  );
}

type EntryCounts = Readonly<Record<EntryKind, Readonly<Record<EntryState, number>>>>;

/**
 * Nearly all entries are accepted imports in time. They are what is left of all, which SQLite
 * counts by pages: a count of 100,000 by their index takes a tenth of the time of `pas status`. Of
 * the kinds and states these are the first in the index. Entries of removed finds are subtracted.
 */
const COUNT_ENTRIES = `with others as materialized (
    select kind, state, count(*) as count from entries where kind = 'import' and state > 'accepted' group by state
    union all select kind, state, count(*) from entries where kind > 'import' group by kind, state)
  select kind, state, count from others
  union all select 'import', 'accepted', (select count(*) from entries) - (select coalesce(sum(count), 0) from others)
  union all select kind, state, -count(*) from entries where subject in (select uuid from finds where hidden = 1)
    group by kind, state`;

/** Counts entries by kind and state, without those of removed finds. */
function countEntries(outbox: Outbox): EntryCounts {
  const counts = Object.fromEntries(
    ENTRY_KINDS.map((kind) => [kind, Object.fromEntries(ENTRY_STATES.map((state) => [state, 0]))]),
  ) as Record<EntryKind, Record<EntryState, number>>;
  for (const { kind, state, count } of outbox.sql(COUNT_ENTRIES).all().map(parseCount))
    counts[kind][state] += count;
  return counts;
}

const parseCount = createRowParser({
  kind: makeMemberGuard(ENTRY_KINDS),
  state: makeMemberGuard(ENTRY_STATES),
  count: isNumber,
});

/**
 * Queued entries by what they wait for: their find's import, a dropped import, an answer of a
 * person, a moment.
 */
const parseWaiting = createRowParser({
  forImport: isNumber,
  forDropped: isNumber,
  forPerson: isNumber,
  forTime: isNumber,
});
/** Numbers of queued entries that wait, by what they wait for. */
export type WaitingCounts = ReturnType<typeof parseWaiting>;

/**
 * Counts the queued entries that wait: for their find's acceptance, behind a dropped find, for a
 * person's answer, or for a moment, such as the end of their backoff.
 */
export function countWaitingEntries(outbox: Outbox): WaitingCounts {
  const counts = outbox
    .sql(
      `select
         (select count(*) from entries join finds on uuid = subject
          where kind in ('number', 'photo') and entries.state = 'queued' and entries.held is null
            and entries.ident_cely is null and finds.state <> 'dropped') as forImport,
         (select count(*) from entries join finds on uuid = subject
          where kind in ('number', 'photo') and entries.state = 'queued' and entries.held is null
            and entries.ident_cely is null and finds.state = 'dropped') as forDropped,
         (select count(*) from entries where held is not null and state = 'queued') as forPerson,
         (select count(*) from entries where state = 'queued' and held is null and (kind = 'import' or ident_cely is not null)
            and not_before_at > :now) as forTime`,
    )
    .get({ now: outbox.clock.now() });
  return parseWaiting(counts);
}

// An index has the versions with a new person, by this very condition; SQLite begins with it in a
// cross join only.
const OF_NEW_FINDERS = `from intents cross join finds on uuid = subject and intent = row
  where instr(content, '${JSON.stringify(NEW_PERSON)}') > 0 and content ->> '$.nalezce.id' = '${NEW_PERSON}'`;

const parseNewFinder = createRowParser({ find: isText, name: isText });

/**
 * Returns the names of finders without an identifier, with the UUIDs of their queued finds in the
 * order of entry. Those of accepted finds are excluded, since the service knows them.
 * @param subjects undefined means all
 */
function groupNewFinders(
  outbox: Outbox,
  subjects: readonly string[] | undefined,
): (readonly [name: string, finds: readonly string[]])[] {
  const rows = outbox
    .sql(
      `select uuid as find, content ->> '$.nalezce.text' as name ${OF_NEW_FINDERS}
         and +state = 'queued' and hidden = 0
         and (:subjects is null or subject in (select value from json_each(:subjects))) order by finds.id`,
    )
    .all({ subjects: subjects === undefined ? null : JSON.stringify(subjects) })
    .map(parseNewFinder);
  if (rows.length === 0) return [];
  const known = new Set(
    outbox.listTexts(
      `select distinct content ->> '$.nalezce.text' ${OF_NEW_FINDERS} and +state = 'accepted'`,
    ),
  );
  return [...groupBy(rows, ({ name }) => name)]
    .filter(([name]) => !known.has(name))
    .map(([name, group]) => [name, group.map(({ find }) => find)]);
}

/**
 * Returns the identifiers of terms, people and projects in the elements of finds that are neither
 * accepted nor dropped, each once.
 */
export function listIdentifiersOfUnacceptedFinds(outbox: Outbox): string[] {
  return outbox.listTexts(
    `select distinct parts.value from entries join intents on intents.row = entries.intent, json_tree(content) as parts
       where entries.kind = 'import' and entries.state not in ('accepted', 'dropped')
         and parts.key = 'id' and parts.type = 'text'`,
  );
}

/**
 * Stores that a person allows the service to create people of these names. A name that is stored
 * already keeps its time.
 */
export function storeAcceptedPeople(
  outbox: Outbox,
  people: readonly Pick<NewPerson, 'name'>[],
): void {
  const now = outbox.clock.now();
  outbox.change(() => {
    for (const { name } of people)
      outbox
        .sql('insert or ignore into accepted_people (name, accepted_at) values (?, ?)')
        .run(name, now);
  });
}

const parseAccepted = createRowParser({ identCely: isText, atMs: isNumber });

/**
 * Returns by record, for imports that the service accepted since a moment of its clock, the server
 * time of its answer, in milliseconds since 1970 UTC. Records that only a search found are left
 * out.
 */
export function getAcceptedMsByRecord(outbox: Outbox, sinceMs: number): Map<string, number> {
  const rows = outbox
    .sql(
      `select ident_cely as identCely, max(body ->> 'serverDateMs') as atMs
       from finds join facts on facts.subject = uuid and kind = 'answered' and slot = 'import ' || uuid
       where state = 'accepted' and body ->> 'settles' = 'accepted' and body ->> 'serverDateMs' is not null
       group by uuid having atMs >= :sinceMs`,
    )
    .all({ sinceMs });
  return new Map(rows.map(parseAccepted).map(({ identCely, atMs }) => [identCely, atMs]));
}

/** Maximum of listed entries; further ones are only counted. */
const MAX_LISTED = 1000;

/** Finds and entries as `pas status` shows them, without removed ones. */
export type OutboxStatus = {
  readonly finds: number;
  /** There are no finds, and no numbers or photographs for records. */
  readonly isEmpty: boolean;
  /** There are finds, every entry is accepted or dropped, and no question is open. */
  readonly isAllDone: boolean;
  readonly entries: EntryCounts;
  /** `entries` without empty states. */
  readonly table: {
    readonly states: readonly EntryState[];
    readonly rows: readonly { readonly kind: EntryKind; readonly counts: readonly number[] }[];
  };
  /** Number of entries that a push would send now. */
  readonly sendable: number;
  readonly sending: number;
  readonly waiting: WaitingCounts;
  /** Most frequent reasons of attempted entries that are still queued. */
  readonly delayed: readonly Entry[];
  /** Local ids of dropped finds that block numbers or photographs. */
  readonly dropped: readonly string[];
  /** Local ids of finds of which another version was sent. */
  readonly changed: readonly string[];
  /** Held entries first, at most 1000. */
  readonly needsPerson: readonly Entry[];
};

/**
 * Collects what `pas status` shows: entries by state, what waits for what, and what needs a person.
 * @throws DatabaseError where a row is damaged
 */
export function getOutboxStatus(outbox: Outbox): OutboxStatus {
  const entries = countEntries(outbox);
  const waiting = countWaitingEntries(outbox);
  const totals = getTotals(entries);
  const states = ENTRY_STATES.filter((state) => totals[state] > 0);
  const rows = ENTRY_KINDS.map((kind) => ({
    kind,
    counts: states.map((state) => entries[kind][state]),
  }));
  const { forImport, forDropped, forPerson, forTime } = waiting;
  const finds = sum(Object.values(entries.import));
  const needsPerson = listEntriesNeedingPerson(outbox, MAX_LISTED);
  return {
    finds,
    isEmpty: finds === 0 && states.length === 0,
    isAllDone:
      finds > 0 &&
      needsPerson.length === 0 &&
      states.every((state) => state === 'accepted' || state === 'dropped'),
    entries,
    table: { states, rows },
    sendable: totals.queued - forImport - forDropped - forPerson - forTime,
    sending: totals.sending,
    waiting,
    delayed: listDelayedEntries(outbox),
    dropped: forDropped === 0 ? [] : listDroppedFindsWithDependents(outbox),
    changed: outbox.listTexts(
      'select local_id from finds where changed = 1 and hidden = 0 order by id',
    ),
    needsPerson,
  };
}

/** Counts entries of all kinds by state, without those of removed finds. */
export function countEntriesByState(outbox: Outbox): Readonly<Record<EntryState, number>> {
  return getTotals(countEntries(outbox));
}

function getTotals(counts: EntryCounts): Readonly<Record<EntryState, number>> {
  return Object.fromEntries(
    ENTRY_STATES.map((state) => [state, sum(ENTRY_KINDS.map((kind) => counts[kind][state]))]),
  ) as Record<EntryState, number>;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

/** A finder whom the service would create. */
export type NewPerson = {
  readonly name: string;
  readonly finds: readonly string[];
  /** Local id of the first of them. */
  readonly first: string;
  /** A person confirmed the creation. */
  readonly isAccepted: boolean;
  /** Known people who may be meant. */
  readonly nearest: readonly TermCandidate[];
  /** Other new people whose names may mean the same person. */
  readonly similar: readonly string[];
};

/**
 * Returns known people who may be meant by a new person's name; undefined where no new person would
 * be created.
 */
function findNearestPeople(
  name: string,
  lookupTerm: LookupTerm,
): readonly TermCandidate[] | undefined {
  const lookup = lookupTerm('osoba', name);
  switch (lookup.kind) {
    case 'found':
      return lookup.isOwn === true || lookup.term.label === name ? undefined : [lookup.term];
    case 'ambiguous':
      return lookup.candidates;
    case 'unknown':
      return lookup.nearest;
    case 'not-harvested':
      return undefined;
    default:
      return [];
  }
}

type FindersOfQueue = {
  /** Those whom the service does not know by exactly this name. */
  readonly people: readonly NewPerson[];
  /** People to whom own terms map finders without an identifier, with the UUIDs of their finds. */
  readonly mapped: readonly (readonly [id: string, finds: readonly string[]])[];
};

/**
 * Returns the finders without an identifier that queued finds have: in `people` those whom the
 * service does not know by this name, in `mapped` those to whom an own term gives an identifier. No
 * people where the vocabulary of people was not harvested.
 * @param openLookup opens the lookup of people; called only where there are such finders
 * @param subjects finds that count; undefined for all
 * @throws errors of `openLookup`; DatabaseError where a row is damaged
 */
export async function listNewFinders(
  outbox: Outbox,
  openLookup: () => Promise<LookupTerm>,
  subjects?: readonly string[],
): Promise<FindersOfQueue> {
  const named = groupNewFinders(outbox, subjects);
  if (named.length === 0) return { people: [], mapped: [] };
  const lookupTerm = await openLookup();
  const mapped = named.flatMap(([name, finds]) => {
    const lookup = lookupTerm('osoba', name);
    return lookup.kind === 'found' && lookup.isOwn === true
      ? [[lookup.term.id, finds] as const]
      : [];
  });
  // People whom a person has allowed the service to create.
  const accepted = outbox.listTexts('select name from accepted_people');
  const people = named.flatMap(([name, finds]) => {
    const nearest = findNearestPeople(name, lookupTerm);
    const first = findByUuid(outbox, finds[0] ?? '')?.localId ?? '';
    return nearest === undefined
      ? []
      : [{ name, finds, first, isAccepted: accepted.includes(name), nearest }];
  });
  const groups = groupSimilarNames(people.map(({ name }) => name));
  const withSimilar = people.map((person) => {
    const group = groups.find((names) => names.includes(person.name)) ?? [];
    return { ...person, similar: group.filter((name) => name !== person.name) };
  });
  return { people: withSimilar, mapped };
}

type PeopleAdmission = {
  /** Admits the people of all queued finds, and may ask a person; false where some are left. */
  readonly admitAll: () => Promise<boolean>;
  /**
   * Admits people again, without a question, if the entry has one that is new since: its find may
   * have been queued or changed. False where the entry must not leave.
   */
  readonly admitIfNew: (entry: Entry) => Promise<boolean>;
};

/**
 * Makes the functions by which one push admits finders that would be new people at the service,
 * also those of finds that are queued during the push.
 * @param subjects finds that are pushed; undefined for all
 * @param admit stores which people the service may make; false where some are left. `mayAsk`: a
 * person may be asked now
 */
export function makePeopleAdmission(
  outbox: Outbox,
  subjects: readonly string[] | undefined,
  admit: (mayAsk: boolean) => Promise<boolean>,
): PeopleAdmission {
  const admittedNames = new Set<string>();
  const admitAll = async (mayAsk: boolean): Promise<boolean> => {
    const named = groupNewFinders(outbox, subjects);
    if (!(await admit(mayAsk))) return false;
    for (const [name] of named) admittedNames.add(name);
    return true;
  };
  return {
    admitAll: () => admitAll(true),
    admitIfNew: async ({ kind, subject }) => {
      const find = kind === 'import' ? findByUuid(outbox, subject) : undefined;
      const { nalezce } = find?.elements ?? {};
      return nalezce?.id !== NEW_PERSON || admittedNames.has(nalezce.text) || admitAll(false);
    },
  };
}
