import { groupBy } from '../../base/collections.ts';
import type { FindElements } from '../../finds/fields.ts';
import {
  type Comparable,
  createFindIndex,
  type FindIndex,
  findEditions,
  isDistinct,
  makeComparable,
  matchFinds,
} from '../../finds/match-finds.ts';
import { foldEntry } from '../decisions.ts';
import { findImportOfFind, storeQuestion } from '../entry-queries.ts';
import { type Candidate, mayLeave, NOTHING_KNOWN } from '../gate.ts';
import type { Outbox } from '../open-outbox.ts';
import {
  countFinds,
  iterateFinds,
  listUnattemptedFinds,
  type StoredFind,
} from '../stored-finds.ts';
import { bindAccount, type United, uniteWithLedger } from '../unite.ts';

/** Finds per transaction: few enough that a parallel push waits only briefly. */
const BATCH = 100;

type EnteredFind = Pick<StoredFind, 'uuid' | 'localId' | 'wish' | 'command'>;
type Tables = {
  readonly editions: ReadonlyMap<string | null, ReadonlySet<string>>;
  readonly entrance: Entrance;
};
type Entered = { readonly stored: StoredFind; readonly find: Comparable };

/** Finds that entered; all that are here, if nothing says which. */
type Entrance = {
  /** Command by which they entered. */
  readonly command?: string;
  /** Their subjects, at an undo. */
  readonly only?: ReadonlySet<string>;
  /** Subjects of those that came by a union. */
  readonly arrived?: ReadonlySet<string>;
};

/**
 * Compares finds that were never attempted with those of other commands and other tables, and asks
 * about what is the same or nearly so. Within one table, and of one command, equal finds are
 * different ones; but a find that came by a union may be a row that has another local id now.
 */
export function checkEnteredFinds(outbox: Outbox, entrance: Entrance): void {
  const { command, only } = entrance;
  const stored = listUnattemptedFinds(outbox, command).filter(
    ({ uuid }) => only === undefined || only.has(uuid),
  );
  if (stored.length === 0 || (countFinds(outbox) === stored.length && command !== undefined))
    return;
  const entered = stored.map((each) => ({
    stored: each,
    find: makeComparable(each.elements as FindElements, each.localId),
  }));
  const known = createFindIndex<EnteredFind>();
  for (const each of iterateFinds(outbox))
    if (command === undefined || each.command !== command)
      known.add(makeComparable(each.elements as FindElements, each.localId), each);
  const editions = findEditionsByTable(entered, known);
  for (let at = 0; at < entered.length; at += BATCH)
    outbox.change(() => {
      for (const each of entered.slice(at, at + BATCH))
        askAboutAlike(outbox, each, known, { editions, entrance });
    });
}

/**
 * Unites the outbox with the ledger, and asks about finds that are like what came with it.
 * @throws as {@link uniteWithLedger}
 */
export function uniteAndCheck(outbox: Outbox): United {
  return checkUnited(outbox, uniteWithLedger(outbox));
}

/**
 * Binds the outbox to the account, and asks about finds that are like what came with it.
 * @throws ConfigError where it belongs to another account
 */
export function bindAndCheck(outbox: Outbox, account: string): United {
  return checkUnited(outbox, bindAccount(outbox, account));
}

export function checkUnited(outbox: Outbox, united: United): United {
  if (united.arrived.size > 0) checkEnteredFinds(outbox, united);
  return united;
}

/** Compares the finds that the running command changed. */
export function checkChangedFinds(outbox: Outbox): void {
  const { id: command } = outbox.command;
  if (command !== undefined) checkEnteredFinds(outbox, { command });
}

function findEditionsByTable(
  entered: readonly Entered[],
  known: FindIndex<EnteredFind>,
): ReadonlyMap<string | null, ReadonlySet<string>> {
  return new Map(
    [...groupBy(entered, ({ stored }) => stored.wish.path)].map(([table, rows]) => [
      table,
      findEditions(
        rows.map(({ find }) => find),
        known,
        (item) => item.wish.path ?? undefined,
      ),
    ]),
  );
}

function askAboutAlike(
  outbox: Outbox,
  { stored, find }: Entered,
  known: FindIndex<EnteredFind>,
  { editions, entrance }: Tables,
): void {
  const entry = findImportOfFind(outbox, stored.uuid);
  if (entry === undefined || entry.attempts > 0 || entry.held !== null || !isDistinct(find)) return;
  const alike = known.list(find).flatMap(({ find: other, item }): Candidate[] => {
    if (isOfOneEntry(stored, item, entrance)) return [];
    const isEdition = editions.get(stored.wish.path)?.has(item.wish.path ?? '') === true;
    const matched = matchFinds(find, other, isEdition);
    return matched === 'other' ? [] : [{ name: item.localId, matched }];
  });
  const { rejected } = foldEntry(outbox, entry);
  const departure = mayLeave(entry, { ...NOTHING_KNOWN, alike, rejected });
  if (departure.kind === 'ask') storeQuestion(outbox, entry.id, departure.held);
}

/** One table and one command bring each find once. */
function isOfOneEntry(one: StoredFind, other: EnteredFind, entrance: Entrance): boolean {
  if (one.uuid === other.uuid) return true;
  if (one.command !== null && one.command === other.command) return true;
  if (one.wish.path === null || one.wish.path !== other.wish.path) return false;
  return ![one, other].some(({ uuid }) => entrance.arrived?.has(uuid));
}
