import { errorIssue, type Issue, warningIssue } from '../../base/issue.ts';
import { cmd, msg } from '../../base/message.ts';
import { withColumnMap } from '../../columns/apply-column-map.ts';
import type { ColumnMap } from '../../columns/column-rule.ts';
import { leaveOutOtherRows } from '../../columns/other-rows.ts';
import { type NumberRow, readNumbers } from '../../columns/read-numbers.ts';
import { isDropped, recordKey, type Target } from '../../outbox/entries.ts';
import { effectiveNumbers } from '../../outbox/numbers.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { allFinds, findByIdentCely, findByLocalId } from '../../outbox/stored-finds.ts';
import type { Table } from '../../tables/table.ts';
import { enqueueNumber, looksLikeIdent, type NumberChange, numberChange, targetOf } from './enqueue-change.ts';
import { numberOfFind } from './known-number.ts';

type TableNumber = { readonly find: string; readonly value: string; readonly change: Exclude<NumberChange, 'kept'> | 'current' };

type NumbersReport = {
  /** In the order of the table: one for each find. */
  readonly numbers: readonly TableNumber[];
  readonly issues: readonly Issue[];
};

type Meant = { readonly row: NumberRow; readonly find: string; readonly target: Target };

/** Numbers queued in one transaction: few enough that a push beside it waits for less than a quarter of a second. */
const BATCH = 100;

/**
 * Queues the numbers of a table. What a find has already is left alone, so that the same table may be imported again, also after a run
 * that was stopped. A find that is given two numbers gets neither; a number that two finds get is only warned of.
 */
export function enqueueNumbers(
  outbox: Outbox,
  table: Table,
  { dryRun, map }: { readonly dryRun: boolean; readonly map?: ColumnMap | undefined },
): NumbersReport {
  const ofFinds = leaveOutOtherRows(table, map);
  const { rows, issues: unreadable } = readNumbers(map === undefined ? ofFinds : withColumnMap(ofFinds, map));
  const issues: Issue[] = [...unreadable];
  const meant = rows.flatMap((row): Meant[] => {
    const found = findOf(outbox, row);
    if ('rule' in found) issues.push(found.with(row.place));
    return 'rule' in found ? [] : [{ row, ...found }];
  });
  const single = withoutContradictions(meant, issues);
  warnOfTwice(outbox, single, issues);
  const queue = ({ row: { value }, find, target }: Meant): TableNumber => {
    const change = dryRun ? numberChange(outbox, target, value) : enqueueNumber(outbox, target, value);
    return { find, value, change: change === 'kept' ? 'current' : change };
  };
  if (dryRun) return { numbers: single.map(queue), issues };
  const numbers: TableNumber[] = [];
  for (let at = 0; at < single.length; at += BATCH) {
    const beganMs = outbox.clock.monotonicMs();
    numbers.push(...outbox.change(() => single.slice(at, at + BATCH).map(queue)));
    if (at + BATCH < single.length) letOthersWrite(outbox, beganMs);
  }
  return { numbers, issues };
}

/** SQLite keeps no queue of writers: one that waits gets its turn only while the file is free. */
function letOthersWrite({ clock }: Outbox, beganMs: number): void {
  clock.hold(Math.min(MAX_PAUSE_MS, clock.monotonicMs() - beganMs));
}

const MAX_PAUSE_MS = 50;

function findOf(outbox: Outbox, { localId, identCely }: NumberRow): Omit<Meant, 'row'> | Issue {
  const byKey = localId === '' ? undefined : findByLocalId(outbox, localId);
  const byIdent = identCely === '' ? undefined : findByIdentCely(outbox, identCely);
  if (localId !== '' && byKey === undefined) {
    return errorIssue('number-find', msg`There is no find ${localId}. \`${cmd`pas list`}\` shows the finds.`, { find: localId });
  }
  if (byKey !== undefined && identCely !== '' && byIdent?.id !== byKey.id) {
    const message = msg`${localId} and ${identCely} are not the same find. Correct one, or leave it empty.`;
    return errorIssue('number-find', message, { find: localId });
  }
  const stored = byKey ?? byIdent;
  if (stored === undefined && !looksLikeIdent(identCely)) {
    return errorIssue('number-find', msg`${identCely} is no find here, and no identifier of one at the service.`);
  }
  if (stored !== undefined && (stored.isHidden || isDropped(outbox, stored.id))) {
    const word = stored.localId;
    const message = msg`${stored.localId} was given up, so its number would never be sent. To take it back: ${cmd`pas resolve ${word} --resend`}`;
    return errorIssue('number-given-up', message, { find: stored.localId });
  }
  return { find: stored?.localId ?? identCely, target: targetOf(outbox, stored?.localId ?? identCely) };
}

function withoutContradictions(meant: readonly Meant[], issues: Issue[]): Meant[] {
  const byFind = new Map<string, Meant[]>();
  for (const each of meant) byFind.set(recordKey(each.target), [...(byFind.get(recordKey(each.target)) ?? []), each]);
  return [...byFind.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const other = same.find(({ row }) => row.value !== first.row.value);
    if (other === undefined) return [first];
    const [row, otherRow] = [first.row.place.row, other.row.place.row];
    const message = msg`Rows ${row} and ${otherRow} give ${first.find} two numbers, ${first.row.value} and ${other.row.value}. Keep one; neither was queued.`;
    issues.push(errorIssue('number-twice', message, { ...other.row.place, find: first.find }));
    return [];
  });
}

/** The service does not mind; a museum does. */
function warnOfTwice(outbox: Outbox, meant: readonly Meant[], issues: Issue[]): void {
  const owners = numbersHere(outbox);
  const ofTable = new Set(meant.map(({ target }) => recordKey(target)));
  const first = new Map<string, Meant>();
  for (const each of meant) {
    const { value, place } = each.row;
    const before = first.get(value);
    const elsewhere = owners.get(value)?.find(({ key }) => !ofTable.has(key));
    first.set(value, before ?? each);
    const other = before?.find ?? elsewhere?.find;
    if (other === undefined) continue;
    const message = msg`${value} is also the number of ${other}. Check that both are meant.`;
    issues.push(warningIssue('number-used', message, { ...place, find: each.find, element: 'evidencni_cislo' }));
  }
}

/** The numbers of all finds, and of records that are not kept here, as far as they are known. */
function numbersHere(outbox: Outbox): Map<string, { readonly key: string; readonly find: string }[]> {
  const numbers = new Map<string, { readonly key: string; readonly find: string }[]>();
  const note = (value: string | undefined, key: string, find: string): void => {
    if (value !== undefined && value !== '') numbers.set(value, [...(numbers.get(value) ?? []), { key, find }]);
  };
  const queued = new Map<string, { value: string; find: string }>();
  for (const entry of effectiveNumbers(outbox)) {
    queued.set(entry.recordKey, { value: entry.value, find: entry.localId ?? entry.identCely ?? '' });
  }
  for (const [key, { value, find }] of queued) note(value, key, find);
  for (const find of allFinds(outbox)) {
    const key = recordKey({ findId: find.id, identCely: null });
    if (!queued.has(key)) note(numberOfFind(find), key, find.localId);
  }
  return numbers;
}
