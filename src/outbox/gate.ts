import { type Message, msg } from '../base/message.ts';
import { createRowParser, isText, orNull } from '../store/database.ts';
import type { Entry, HeldBasis, HeldQuestion } from './entry.ts';
import type { Outbox } from './open-outbox.ts';

/**
 * Facts by which the gate decides which entries may be sent. The decision is pure, and linear in
 * entries plus candidates.
 */
export type GateFacts = {
  /** Imports of another outbox that this account attempted, by digest and by local id. */
  readonly attemptedByDigest: ReadonlyMap<string, readonly AttemptedElsewhere[]>;
  readonly attemptedByLocalId: ReadonlyMap<string, readonly AttemptedElsewhere[]>;
  /** Records of this account without an event that equal an entry, by the entry's UUID. */
  readonly equalRecords: ReadonlyMap<string, readonly string[]>;
  /** Files without an event that equal a queued photograph, by the entry's UUID. */
  readonly equalFiles: ReadonlyMap<string, readonly string[]>;
  /** Projects with records that this account may list but not read, and that have no event. */
  readonly hiddenRecords: ReadonlyMap<string, readonly string[]>;
  /** Current number of a record, by its identifier; absent where it was not looked up. */
  readonly shownNumbers: ReadonlyMap<string, string>;
  /** Returns the candidates that a person excluded for an entry. */
  readonly rejected: (entry: Entry) => ReadonlySet<string>;
  /** Returns the numbers that a record may have without a change by another user. */
  readonly ownNumbers: (entry: Entry) => ReadonlySet<string>;
};

export type AttemptedElsewhere = {
  readonly identCely: string | null;
  readonly localId: string | null;
  readonly digest: string | null;
};

type GateDecision =
  | { readonly kind: 'leave' }
  | { readonly kind: 'held'; readonly held: HeldQuestion };

/** Returns the first question that a person must answer before an entry is sent. */
export function checkDeparture(entry: Entry, facts: GateFacts): GateDecision {
  const rejected = facts.rejected(entry);
  for (const { basis, listCandidates, ask } of CHECKS) {
    const candidates = listCandidates(entry, facts).filter((candidate) => !rejected.has(candidate));
    if (candidates.length === 0) continue;
    const question = ask(candidates.slice(0, MAX_NAMED).join(', '), entry);
    return { kind: 'held', held: { basis, candidates, question } };
  }
  return { kind: 'leave' };
}

const MAX_NAMED = 5;

type Check = {
  readonly basis: HeldBasis;
  readonly listCandidates: (entry: Entry, facts: GateFacts) => readonly string[];
  readonly ask: (named: string, entry: Entry) => Message;
};

const CHECKS: readonly Check[] = [
  {
    basis: 'attempted-elsewhere',
    listCandidates: (entry, { attemptedByDigest }) =>
      listNames(
        entry.kind === 'import' && entry.digest !== null
          ? attemptedByDigest.get(entry.digest)
          : undefined,
      ),
    ask: (named) => msg`an identical find was sent from another outbox of this machine (${named})`,
  },
  {
    basis: 'local-id-sent-elsewhere',
    listCandidates: (entry, { attemptedByLocalId }) =>
      listNames(
        entry.kind === 'import' && entry.localId !== null
          ? attemptedByLocalId.get(entry.localId)
          : undefined,
      ),
    ask: (named) =>
      msg`a find with this local id was sent from another outbox of this machine (${named})`,
  },
  {
    basis: 'equal-record',
    listCandidates: ({ uuid }, { equalRecords }) => equalRecords.get(uuid) ?? [],
    ask: (named) => msg`the service shows an identical record of this account (${named})`,
  },
  {
    basis: 'hidden-records',
    listCandidates: (entry, { hiddenRecords }) =>
      (entry.kind === 'import' && hiddenRecords.get(entry.project ?? '')) || [],
    ask: (named) =>
      msg`the service lists records of this project that this account may not read (${named}): one may be this find`,
  },
  {
    basis: 'equal-photograph',
    listCandidates: ({ uuid }, { equalFiles }) => equalFiles.get(uuid) ?? [],
    ask: (named) => msg`the record has a file that may be this photograph (${named})`,
  },
  {
    basis: 'number-changed',
    listCandidates: listChangedNumbers,
    ask: (named, entry) => {
      const value = entry.kind === 'number' ? entry.value : '';
      return named === ''
        ? msg`the record no longer has a number; ${value} is to be set`
        : msg`the record has the number ${named}; ${value} is to replace it`;
    },
  },
];

function listNames(attempts: readonly AttemptedElsewhere[] = []): string[] {
  return [...new Set(attempts.map(({ identCely, localId }) => identCely ?? localId ?? ''))];
}

/** Returns a number that is neither the expected nor the new one: another user has set it. */
function listChangedNumbers(entry: Entry, facts: GateFacts): readonly string[] {
  if (entry.kind !== 'number' || entry.identCely === null) return [];
  const shown = facts.shownNumbers.get(entry.identCely);
  // The previous number of a record without a find here is unknown: an empty one is no change.
  const isFirst = shown === '' && entry.expects === null;
  const expected =
    isFirst ||
    shown === undefined ||
    shown === entry.value ||
    shown === entry.expects ||
    facts.ownNumbers(entry).has(shown);
  return expected ? [] : [shown];
}

/**
 * Tables `project_searches` and `unexplained`: the last search of each project, and the records
 * that no event explains.
 */

/** Returns the server time up to which a project was searched; undefined where it never was. */
export function getLastSearchAt(outbox: Outbox, project: string): number | undefined {
  const at = outbox
    .sql('select server_at from project_searches where project = ?')
    .pluck()
    .get(project);
  return typeof at === 'number' ? at : undefined;
}

/** Stores the server time of a search. @param keepsEarlier keeps the time of an earlier search */
export function recordSearch(
  outbox: Outbox,
  project: string,
  serverAt: number,
  keepsEarlier: boolean,
): void {
  const change = keepsEarlier ? 'nothing' : 'update set server_at = excluded.server_at';
  outbox
    .sql(
      `insert into project_searches (project, server_at) values (?, ?) on conflict (project) do ${change}`,
    )
    .run(project, Math.floor(serverAt));
}

/** Stores that other accounts write into a project, so that its hidden records hold no entry. */
export function recordOtherWriters(outbox: Outbox, project: string): void {
  outbox.sql('update project_searches set others_write = 1 where project = ?').run(project);
}

/** Tells if other accounts are known to write into the project. */
export function hasOtherWriters(outbox: Outbox, project: string): boolean {
  return (
    outbox
      .sql('select 1 from project_searches where project = ? and others_write = 1')
      .get(project) !== undefined
  );
}

const parseUnexplained = createRowParser({ identCely: isText, record: orNull(isText) });

/**
 * Returns the records that no event explains; `record` is JSON, or null for one that is listed and
 * not shown.
 */
export function listUnexplainedRecords(outbox: Outbox): ReturnType<typeof parseUnexplained>[] {
  const rows = outbox
    .sql('select ident_cely as identCely, record from unexplained order by ident_cely')
    .all();
  return rows.map(parseUnexplained);
}

/** @param record JSON, or null for one that is listed and not shown */
export function saveUnexplained(outbox: Outbox, identCely: string, record: string | null): void {
  outbox
    .sql('insert or replace into unexplained (ident_cely, record) values (?, ?)')
    .run(identCely, record);
}

export function deleteUnexplained(outbox: Outbox, identCely: string): void {
  outbox.sql('delete from unexplained where ident_cely = ?').run(identCely);
}
