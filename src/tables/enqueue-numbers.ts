import { withHiddenDifference } from '../base/characters.ts';
import { groupBy } from '../base/collections.ts';
import { UsageError } from '../base/errors.ts';
import { type Issue, makeErrorIssue } from '../base/issue.ts';
import { cmd, joinMessages, type Message, msg } from '../base/message.ts';
import { type ColumnName, findColumnByName } from '../finds/fields.ts';
import { findNumberDoubt, findUsedNumberProblem } from '../finds/value-rules.ts';
import {
  assertMaySetNumbers,
  enqueueNumber,
  type NumberChange,
  openNumberLookup,
  planNumberChange,
} from '../outbox/changes/enqueue-change.ts';
import {
  createFindLookup,
  explainGoneRecord,
  GONE_HINT,
  type NamedFind,
  parseTypedIdent,
} from '../outbox/changes/resolve-finds.ts';
import { isDropped } from '../outbox/entry-queries.ts';
import { makeRecordSubject, parseRecordSubject } from '../outbox/intents.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { findByUuid, type StoredFind } from '../outbox/stored-finds.ts';
import { findColumnsOfHeader } from './columns/column-rule.ts';
import type { Table } from './table.ts';
import { type NumberRow, type NumberTable, parseNumberRows } from './table-columns.ts';

/** A number of a table, and what queueing it does; `current`: the find has it already. */
export type TableNumber = {
  readonly find: string;
  readonly value: string;
  readonly change: Exclude<NumberChange, 'kept'> | 'current';
  /** Current number of the record, which this one replaces. */
  readonly replaces: string | null;
};

type NumbersReport = {
  /** In the order of the table, one for each find. */
  readonly numbers: readonly TableNumber[];
  readonly issues: readonly Issue[];
};

type Addressee = { readonly find: string; readonly subject: string };
type AddressedNumber = Addressee & { readonly row: NumberRow };

type NumbersPlan = NumbersReport & {
  readonly rows: readonly (AddressedNumber & { readonly planned: TableNumber })[];
};

/**
 * Numbers per transaction: few enough that a parallel push waits for less than a quarter of a
 * second.
 */
const BATCH = 100;

/**
 * Plans the numbers of a table; nothing is stored. A number that a find has already is `current`,
 * so that the table can be imported again, also after an interruption. Of a find with two
 * numbers, or a number of two finds, nothing is taken; such rows, unknown finds and unreadable
 * rows give issues.
 * @throws UsageError where the account may not set numbers
 */
export function planTableNumbers(
  outbox: Outbox,
  { table, map, proposed }: NumberTable,
  proposal = proposed,
): NumbersPlan {
  assertMaySetNumbers(outbox);
  const { rows, issues: unreadable } = parseNumberRows(table, proposal, map);
  const issues: Issue[] = [...unreadable];
  const lookUp = createFindLookup(outbox);
  const meant = rows.flatMap((row): AddressedNumber[] => {
    const meant = findMeant(outbox, lookUp, row);
    if ('rule' in meant) issues.push(meant.with(row.place));
    return 'rule' in meant ? [] : [{ row, ...meant }];
  });
  const single = withoutContradictions(meant, issues);
  const own = withoutUsed(outbox, single, issues);
  const planned = own.map((each) => {
    const { find, subject, row } = each;
    const { change, replaces = null } = planNumberChange(outbox, subject, row.value);
    return {
      ...each,
      planned: {
        find,
        value: row.value,
        change: change === 'kept' ? ('current' as const) : change,
        replaces,
      },
    };
  });
  return { rows: planned, numbers: planned.map((each) => each.planned), issues };
}

/**
 * Queues planned numbers, in transactions of {@link BATCH}, so that another process can write
 * between them. One that would replace another number of the record than the planned one is left
 * out, with an error.
 * @param mayReplace false leaves out all that would replace a number
 */
export function queueNumbers(
  outbox: Outbox,
  { rows, issues: rowIssues }: NumbersPlan,
  mayReplace: boolean,
): NumbersReport {
  const issues: Issue[] = [...rowIssues];
  const queue = ({ row, find, subject, planned }: (typeof rows)[number]): TableNumber[] => {
    const change = enqueueNumber(outbox, subject, planned.value, (replaces) => {
      // Another process may have changed the number while a person was asked about the planned
      // ones.
      if (mayReplace && replaces === planned.replaces) return true;
      const message = msg`${find} has the number ${replaces}, but the row has ${row.value}. The number was not changed.`;
      issues.push(
        makeErrorIssue('number-replaces', withHiddenDifference(message, replaces, row.value), {
          ...row.place,
          find,
          element: 'evidencni_cislo',
        }),
      );
      return false;
    });
    return change === undefined
      ? []
      : [{ ...planned, change: change === 'kept' ? 'current' : change }];
  };
  const numbers: TableNumber[] = [];
  for (let at = 0; at < rows.length; at += BATCH) {
    const beganMs = outbox.clock.monotonicMs();
    numbers.push(...outbox.change(() => rows.slice(at, at + BATCH).flatMap(queue)));
    if (at + BATCH < rows.length) yieldToWriters(outbox, beganMs);
  }
  return { numbers, issues };
}

/** SQLite has no queue of writers, so a waiting one needs a pause in which the file is free. */
function yieldToWriters({ clock }: Outbox, beganMs: number): void {
  clock.hold(Math.min(MAX_PAUSE_MS, clock.monotonicMs() - beganMs));
}

const MAX_PAUSE_MS = 50;

/** Returns the find of a row. Either column may hold a local id or an identifier, in any case. */
function findMeant(
  outbox: Outbox,
  lookUp: (name: string) => NamedFind,
  { localId, identCely }: NumberRow,
): Addressee | Issue {
  const names = [localId, identCely].filter((name) => name !== '');
  const findsOrIdents: (StoredFind | string)[] = [];
  for (const name of names) {
    const named = lookUp(name);
    if (named !== undefined && 'alike' in named) {
      const alike = named.alike.join(', ');
      return makeErrorIssue(
        'number-find',
        msg`${name} is ambiguous: it may be any of ${alike}. Spell the name of the find exactly.`,
      );
    }
    const ident = named === undefined ? parseTypedIdent(name) : undefined;
    if (named === undefined && ident === undefined) return makeUnknownFindIssue(name);
    findsOrIdents.push(named ?? ident ?? '');
  }
  const [first = '', second = first] = findsOrIdents;
  if (getFindKey(first) !== getFindKey(second)) {
    const message = msg`${localId} and ${identCely} are not the same find. Correct one, or leave it empty.`;
    return makeErrorIssue('number-find', message, { find: localId });
  }
  if (typeof first !== 'string') return toStoredMeant(outbox, first);
  return toServiceMeant(outbox, first, makeRecordSubject(first));
}

function getFindKey(findOrIdent: StoredFind | string): string {
  return typeof findOrIdent === 'string' ? findOrIdent : findOrIdent.uuid;
}

function makeUnknownFindIssue(name: string): Issue {
  return makeErrorIssue(
    'number-find',
    msg`${name} is neither a find here nor an identifier of the service, which keeps no field numbers. Write its ident_cely, or import the numbers where the find was imported.`,
    { find: name },
  );
}

function toStoredMeant(
  outbox: Outbox,
  { uuid, localId: find, isHidden }: StoredFind,
): Addressee | Issue {
  if (isHidden || isDropped(outbox, uuid)) {
    const message = msg`${find} was dropped, so its number would never be sent. To queue it again: ${cmd`pas resolve ${find} --resend`}`;
    return makeErrorIssue('number-given-up', message, { find });
  }
  return toServiceMeant(outbox, find, uuid);
}

function toServiceMeant(outbox: Outbox, find: string, subject: string): Addressee | Issue {
  const goneMessage = explainGoneRecord(outbox, subject);
  return goneMessage === undefined
    ? { find, subject }
    : makeErrorIssue('number-gone', joinMessages([goneMessage, GONE_HINT], ' '), { find });
}

function withoutContradictions(
  meant: readonly AddressedNumber[],
  issues: Issue[],
): AddressedNumber[] {
  const byFind = groupBy(meant, ({ subject }) => subject);
  return [...byFind.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const other = same.find(({ row }) => row.value !== first.row.value);
    if (other === undefined) return [first];
    const row = first.row.place.row;
    const otherRow = other.row.place.row;
    const message = withHiddenDifference(
      msg`Rows ${row} and ${otherRow} give ${first.find} two numbers, ${first.row.value} and ${other.row.value}. Keep one; neither was queued.`,
      first.row.value,
      other.row.value,
    );
    issues.push(makeErrorIssue('number-twice', message, { ...other.row.place, find: first.find }));
    return [];
  });
}

/**
 * Checks a number as a person wrote it.
 * @param subject find or record that gets it
 * @returns a warning of a misleading character; undefined without one
 * @throws UsageError where another find or record has it
 */
export function checkWrittenNumber(
  outbox: Outbox,
  subject: string,
  value: string,
): Message | undefined {
  const find = parseRecordSubject(subject) ?? findByUuid(outbox, subject)?.localId ?? '';
  const used = findUsedNumberProblem(value, find, { lookupNumber: openNumberLookup(outbox) });
  if (used !== undefined) throw new UsageError(used.problem);
  return findNumberDoubt(value)?.problem;
}

/** Leaves out a number that another find of the table, or one that is here, has as well. */
function withoutUsed(
  outbox: Outbox,
  meant: readonly AddressedNumber[],
  issues: Issue[],
): AddressedNumber[] {
  const coming = new Map(meant.map(({ find, row }) => [find, row.value]));
  const lookupNumber = openNumberLookup(outbox, () => coming);
  return meant.filter(({ find, row }) => {
    const used = findUsedNumberProblem(row.value, find, { lookupNumber });
    if (used !== undefined)
      issues.push(
        makeErrorIssue(used.rule, used.problem, {
          ...row.place,
          find,
          element: 'evidencni_cislo',
        }),
      );
    return used === undefined;
  });
}

/**
 * Tells if a table, some of whose headers are no elements, names finds and their registration
 * numbers, with notes at most.
 */
export function isNumberTable(table: Table): boolean {
  const headers = (table.names ?? table.header).filter((header) => header !== '');
  if (headers.every((header) => findColumnByName(header) !== undefined)) return false;
  const meanings = headers.map((header) => findColumnsOfHeader(header));
  const isOfNumbers = meanings.every((named) => {
    const columns = [...named.keys()];
    return columns.length > 0 && columns.every((column) => MEANT_BY_NUMBERS.includes(column));
  });
  const isOfFind = (named: (typeof meanings)[number]): boolean =>
    !named.has('evidencni_cislo') && (named.has('local_id') || named.has('ident_cely'));
  return (
    isOfNumbers && meanings.some(isOfFind) && meanings.some((named) => named.has('evidencni_cislo'))
  );
}

const MEANT_BY_NUMBERS: readonly ColumnName[] = [
  'local_id',
  'ident_cely',
  'evidencni_cislo',
  'poznamka',
];
