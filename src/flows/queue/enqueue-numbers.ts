import { groupBy } from '../../base/group-by.ts';
import { type Issue, makeErrorIssue, makeWarningIssue } from '../../base/issue.ts';
import { cmd, joinMessages, msg } from '../../base/message.ts';
import { withColumnMap } from '../../columns/apply-column-map.ts';
import type { ColumnMap } from '../../columns/column-rule.ts';
import { withoutOtherRows } from '../../columns/map-table.ts';
import { type NumberRow, parseNumbers } from '../../columns/number-rows.ts';
import {
  findImportOfFind,
  getSubject,
  isDropped,
  listEffectiveNumbers,
  type Target,
} from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { iterateFinds, type StoredFind } from '../../outbox/stored-finds.ts';
import type { Table } from '../../tables/table.ts';
import {
  assertMayNumber,
  enqueueNumber,
  getNumberOfFind,
  type NumberChange,
  planNumber,
} from './enqueue-change.ts';
import {
  asIdent,
  createFindLookup,
  explainGone,
  GONE_HINT,
  type NamedFind,
} from './resolve-finds.ts';

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

type Addressee = { readonly find: string; readonly target: Target };
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
 * Plans the numbers of a table. A number that a find has already is skipped, so that the table can
 * be imported again, also after an interruption. A find with two numbers gets neither; a number of
 * two finds gives a warning.
 * @throws UsageError where the account may not set numbers
 */
export function planNumbers(outbox: Outbox, table: Table, map?: ColumnMap): NumbersPlan {
  assertMayNumber(outbox);
  const ofFinds = withoutOtherRows(table, map);
  const { rows, issues: unreadable } = parseNumbers(
    map === undefined ? ofFinds : withColumnMap(ofFinds, map),
  );
  const issues: Issue[] = [...unreadable];
  const lookUp = createFindLookup(outbox);
  const meant = rows.flatMap((row): AddressedNumber[] => {
    const meant = findMeant(outbox, lookUp, row);
    if ('rule' in meant) issues.push(meant.with(row.place));
    return 'rule' in meant ? [] : [{ row, ...meant }];
  });
  const single = withoutContradictions(outbox, meant, issues);
  warnOfTwice(outbox, single, issues);
  const planned = single.map((each) => {
    const { find, target, row } = each;
    const { change, replaces = null } = planNumber(outbox, target, row.value);
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
 * Queues planned numbers. One that would replace another number of the record than the planned one
 * is left out, with an issue.
 * @param mayReplace false leaves out all that would replace a number
 */
export function queueNumbers(
  outbox: Outbox,
  { rows, issues: rowIssues }: NumbersPlan,
  mayReplace: boolean,
): NumbersReport {
  const issues: Issue[] = [...rowIssues];
  const queue = ({ row, find, target, planned }: (typeof rows)[number]): TableNumber[] => {
    const change = enqueueNumber(outbox, target, planned.value, (replaces) => {
      // Another process may have changed the number while a person was asked about the planned
      // ones.
      if (mayReplace && replaces === planned.replaces) return true;
      const message = msg`${find} has the number ${replaces}, but the row has ${row.value}. The number was not changed.`;
      issues.push(
        makeErrorIssue('number-replaces', message, {
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
    const ident = named === undefined ? asIdent(name) : undefined;
    if (named === undefined && ident === undefined)
      return makeUnknownFindIssue(name, name === localId);
    findsOrIdents.push(named ?? ident ?? '');
  }
  const [first = '', second = first] = findsOrIdents;
  if (getFindKey(first) !== getFindKey(second)) {
    const message = msg`${localId} and ${identCely} are not the same find. Correct one, or leave it empty.`;
    return makeErrorIssue('number-find', message, { find: localId });
  }
  if (typeof first !== 'string') return toStoredMeant(outbox, first);
  return toServiceMeant(outbox, first, { findId: null, identCely: first });
}

function getFindKey(findOrIdent: StoredFind | string): string {
  return typeof findOrIdent === 'string' ? findOrIdent : String(findOrIdent.id);
}

function makeUnknownFindIssue(name: string, isLocalId: boolean): Issue {
  return isLocalId
    ? makeErrorIssue(
        'number-find',
        msg`There is no find ${name}. \`${cmd`pas list`}\` shows the finds.`,
        { find: name },
      )
    : makeErrorIssue(
        'number-find',
        msg`${name} is neither a find here nor the identifier of a find in the service.`,
      );
}

function toStoredMeant(
  outbox: Outbox,
  { id, localId: find, isHidden }: StoredFind,
): Addressee | Issue {
  if (isHidden || isDropped(outbox, id)) {
    const message = msg`${find} was dropped, so its number would never be sent. To queue it again: ${cmd`pas resolve ${find} --resend`}`;
    return makeErrorIssue('number-given-up', message, { find });
  }
  return toServiceMeant(outbox, find, {
    findId: id,
    identCely: findImportOfFind(outbox, id)?.identCely ?? null,
  });
}

function toServiceMeant(outbox: Outbox, find: string, target: Target): Addressee | Issue {
  const goneMessage = explainGone(outbox, target);
  return goneMessage === undefined
    ? { find, target }
    : makeErrorIssue('number-gone', joinMessages([goneMessage, GONE_HINT], ' '), { find });
}

function withoutContradictions(
  outbox: Outbox,
  meant: readonly AddressedNumber[],
  issues: Issue[],
): AddressedNumber[] {
  const byFind = groupBy(meant, ({ target }) => getSubject(outbox, target));
  return [...byFind.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const other = same.find(({ row }) => row.value !== first.row.value);
    if (other === undefined) return [first];
    const row = first.row.place.row;
    const otherRow = other.row.place.row;
    const message = msg`Rows ${row} and ${otherRow} give ${first.find} two numbers, ${first.row.value} and ${other.row.value}. Keep one; neither was queued.`;
    issues.push(makeErrorIssue('number-twice', message, { ...other.row.place, find: first.find }));
    return [];
  });
}

/** Warns of duplicate numbers: the service accepts them, but museums use unique ones. */
function warnOfTwice(outbox: Outbox, meant: readonly AddressedNumber[], issues: Issue[]): void {
  const owners = listOwnNumbers(outbox);
  const ofTable = new Set(meant.map(({ target }) => getSubject(outbox, target)));
  const first = new Map<string, AddressedNumber>();
  for (const each of meant) {
    const { value, place } = each.row;
    const before = first.get(value);
    const elsewhere = owners.get(value)?.find(({ key }) => !ofTable.has(key));
    first.set(value, before ?? each);
    const other = before?.find ?? elsewhere?.find;
    if (other === undefined) continue;
    const message = msg`${value} is also the number of ${other}. Check that both are right.`;
    issues.push(
      makeWarningIssue('number-used', message, {
        ...place,
        find: each.find,
        element: 'evidencni_cislo',
      }),
    );
  }
}

/** Returns the known numbers of all finds, and of records without a find here. */
function listOwnNumbers(
  outbox: Outbox,
): Map<string, { readonly key: string; readonly find: string }[]> {
  const numbers = new Map<string, { readonly key: string; readonly find: string }[]>();
  const note = (value: string | undefined, key: string, find: string): void => {
    if (value !== undefined && value !== '')
      numbers.set(value, [...(numbers.get(value) ?? []), { key, find }]);
  };
  const queued = new Map<string, { value: string; find: string }>();
  for (const entry of listEffectiveNumbers(outbox)) {
    queued.set(entry.subject, {
      value: entry.value,
      find: entry.localId ?? entry.identCely ?? '',
    });
  }
  for (const [key, { value, find }] of queued) note(value, key, find);
  for (const find of iterateFinds(outbox)) {
    if (!queued.has(find.uuid)) note(getNumberOfFind(find), find.uuid, find.localId);
  }
  return numbers;
}
