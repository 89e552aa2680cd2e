import type { Clock } from '../base/clock.ts';
import { DatabaseError, FileError, isDamaged, isSound } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';
import { createRowGuard, isNumber, isText, parseTexts, parseValue } from '../store/database.ts';
import { assertUndamaged, copyDatabase } from '../store/database-file.ts';
import { makeDamagedError, parseFact } from './facts.ts';
import { type Outbox, openOutbox, readHeader, recordCopy } from './open-outbox.ts';
import { refold } from './record-facts.ts';
import {
  INTENT_COLUMNS,
  isSoundContent,
  isSoundlyPrepared,
  parseStoredIntent,
  type StoredIntent,
} from './stored-intent.ts';

/** Tables of every outbox; a file without them belongs to another program. */
const TABLES_OF_AN_OUTBOX = ['header', 'intents', 'facts', 'entries'];

/**
 * Copies a snapshot, also during a push, with its time.
 * @throws DatabaseError where anything is damaged; an old copy stays then
 */
export function backUpOutbox(outbox: Outbox, target: string): void {
  assertSound(outbox);
  copyDatabase(outbox.path, target, (copy) => recordCopy(copy, Math.floor(outbox.clock.now())));
}

/**
 * Checks the entries, so that none is left out. What is sent is checked by its ids when it is.
 * @throws DatabaseError where the table differs from its indexes
 */
export function assertSoundEntries({ path, sql }: Outbox): void {
  assertUndamaged(path, sql(`pragma integrity_check('entries')`));
}

/**
 * Checks the whole file, and each fact and intent by its id.
 * @throws DatabaseError where anything is damaged
 */
export function assertSound(outbox: Outbox): void {
  assertUndamaged(outbox.path, outbox.sql('pragma integrity_check(1)'));
  if (outbox.sql('pragma foreign_key_check').get() !== undefined)
    throw makeDamagedError(outbox.path, 'foreign_key');
  for (const row of outbox.sql('select * from facts not indexed').iterate())
    parseFact(outbox.path, row);
  for (const row of outbox.sql(`select ${INTENT_COLUMNS} from intents not indexed`).iterate())
    parseStoredIntent(outbox.path, row);
  readHeader(outbox);
}

export type Removed = {
  /** Finds or records of which a fact or the content of an intent was removed. */
  readonly subjects: readonly string[];
  /** Ids of intents without content now. */
  readonly intents: readonly string[];
  /** Finds without document now. */
  readonly drafts: readonly string[];
};

/** Removes what differs from what was written. */
export function removeDamaged(outbox: Outbox): Removed {
  return outbox.change(() => {
    const facts = outbox
      .sql('select seq as row, * from facts not indexed')
      .all()
      .filter((row) => !isSoundRow(outbox, row))
      .map(parseNamed);
    const contents: Named[] = [];
    const prepared: Named[] = [];
    for (const row of outbox
      .sql(`select row, ${INTENT_COLUMNS} from intents not indexed`)
      .iterate()) {
      const stored = row as StoredIntent;
      if (!isSoundContent(stored)) contents.push(parseNamed(row));
      else if (!isSoundlyPrepared(stored)) prepared.push(parseNamed(row));
    }
    // They refer to facts, and are made again.
    if (facts.length > 0) outbox.sql('delete from entries').run();
    for (const { row } of facts) outbox.sql('delete from facts where seq = ?').run(row);
    for (const column of ['held', 'lookup'])
      outbox.sql(`update entries set ${column} = null where not json_valid(${column})`).run();
    for (const { row } of contents)
      outbox.sql('update intents set content = null where row = ?').run(row);
    for (const { row } of [...contents, ...prepared])
      outbox
        .sql('update intents set document = null, issues = null, prepared_id = null where row = ?')
        .run(row);
    return {
      // The damage may be in the subject, which the slot has as well.
      subjects: [...facts, ...contents].flatMap(({ subject, slot }) => [
        subject,
        ...slot.split(' '),
      ]),
      intents: contents.map(({ id }) => id),
      drafts: prepared.map(({ subject }) => subject),
    };
  });
}

type Named = {
  readonly row: number;
  readonly id: string;
  readonly subject: string;
  readonly slot: string;
};

const isNamed = createRowGuard({ row: isNumber, id: isText, subject: isText });
const hasSlot = createRowGuard({ slot: isText });

/** Returns what is left of a damaged row. */
function parseNamed(row: unknown): Named {
  return { ...parseValue(isNamed, row), slot: hasSlot(row) ? row.slot : '' };
}

function isSoundRow(outbox: Outbox, row: unknown): boolean {
  return isSound(() => parseFact(outbox.path, row));
}

/**
 * Makes the caches again from the facts.
 * @returns the local ids or records that were wrong
 */
export function refoldAll(outbox: Outbox): string[] {
  const read = outbox.sql(
    `select coalesce((select local_id from finds where uuid = subject), ident_cely, '?') || ' ' || key || ' ' || state || ' ' || coalesce(ident_cely, '')
     from entries`,
  );
  return outbox.change(() => {
    const before = new Set(parseTexts(read.pluck().all()));
    const subjects = parseTexts(
      outbox.sql('select subject from facts group by subject order by min(seq)').pluck().all(),
    );
    outbox.sql('delete from entries').run();
    for (const subject of subjects) refold(outbox, subject);
    const after = parseTexts(read.pluck().all());
    return after.filter((each) => !before.has(each)).map((each) => each.split(' ')[0] ?? '');
  });
}

/**
 * Opens a verified copy of a backup, so that the backup itself stays unchanged.
 * @throws FileError when it is no outbox; DatabaseError when it is damaged; DatabaseTooNewError
 */
export function openBackup(file: string, draft: string, clock: Clock): Outbox {
  try {
    copyDatabase(file, draft, (copy) => {
      const tables = copy
        .prepare(`select name from sqlite_schema where type = 'table'`)
        .pluck()
        .all();
      if (TABLES_OF_AN_OUTBOX.every((name) => tables.includes(name))) return;
      throw new FileError(file, msg`${file} is a database, but not an outbox of pas.`, {
        hint: msg`Specify a file that ${cmd`pas backup`} created.`,
      });
    });
    return openSound(draft, clock);
  } catch (thrown) {
    throw isDamaged(thrown) ? makeDamagedBackupError(file, thrown) : thrown;
  }
}

function makeDamagedBackupError(file: string, cause: Error): DatabaseError {
  return new DatabaseError(msg`${file}: the backup is damaged.`, {
    cause,
    damaged: true,
    hint: msg`Restore an older backup.`,
  });
}

function openSound(path: string, clock: Clock): Outbox {
  const outbox = openOutbox(path, clock);
  try {
    assertSound(outbox);
    return outbox;
  } catch (thrown) {
    outbox.close();
    throw thrown;
  }
}

const OUTBOX_CONTENT = [
  'entries',
  'facts',
  'intents',
  'account',
  'accepted_people',
  'project_searches',
  'unexplained',
  'pulled',
  'pulls',
  'header',
] as const;

/**
 * Replaces the content of the outbox by that of another one of the same schema, in one transaction,
 * so that an interruption leaves the old or the new content. The caller holds the push lock.
 * @param aside path of the copy of the old content, which is made first
 */
export function replaceContents(outbox: Outbox, from: string, aside: string): void {
  outbox.sql('attach database ? as brought').run(from);
  try {
    outbox.change(() => {
      // The transaction keeps other processes from writing, so the copy has everything that is
      // replaced.
      copyDatabase(outbox.path, aside);
      outbox.sql('pragma defer_foreign_keys = on').run();
      for (const table of OUTBOX_CONTENT) outbox.sql(`delete from main.${table}`).run();
      for (const table of [...OUTBOX_CONTENT].reverse()) {
        const columns = outbox
          .sql(`select name from pragma_table_info('${table}', 'main')`)
          .pluck()
          .all()
          .join(', ');
        outbox
          .sql(`insert into main.${table} (${columns}) select ${columns} from brought.${table}`)
          .run();
      }
    });
  } finally {
    outbox.sql('detach database brought').run();
  }
}

/** Tells if the outbox has no find and nothing that is or was wanted. */
export function isEmptyOutbox(outbox: Outbox): boolean {
  return outbox.sql('select exists (select 1 from facts) as filled').pluck().get() === 0;
}
