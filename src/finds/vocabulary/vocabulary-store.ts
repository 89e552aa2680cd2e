import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { memoize } from '../../base/collections.ts';
import {
  convertDatabaseErrors,
  type Database,
  migrate,
  openDatabase,
  toDatabaseError,
} from '../../base/disk/database.ts';
import { guardDatabase } from '../../base/disk/database-file.ts';
import { packageRoot } from '../../base/own-files.ts';
import type { LookupArea, LookupProject, LookupTerm } from '../find.ts';
import type { Vocabulary } from './term.ts';
import { makeAreaLookup, makeProjectLookup, makeTermLookup } from './term-lookup.ts';

/** The open vocabulary file, with one source for each harvesting interface. */
export type VocabularyStore = {
  readonly path: string;
  /** Returns the terms that were harvested from `{oai_base}`. */
  openSource(oaiBase: string): Vocabulary;
  /**
   * Returns the lookups for the checks of a find.
   * @param account of the harvest; empty for an anonymous one
   */
  makeLookups(
    oaiBase: string,
    account?: string,
  ): {
    readonly lookupTerm: LookupTerm;
    readonly lookupArea: LookupArea;
    readonly lookupProject: LookupProject;
  };
  close(): void;
};

/**
 * Opens the vocabulary file; creates it where it is missing, and brings an older one up to date.
 * @throws DatabaseError when the file cannot be opened or is damaged
 * @throws DatabaseTooNewError when a newer pas wrote it
 */
export function openVocabulary(path: string, clock: Clock): VocabularyStore {
  const database = openDatabase(path, { synchronous: 'normal' });
  // Rows that others refer to are never deleted here, so no insert needs to check its references.
  database.pragma('foreign_keys = off');
  // In pages: a large harvest changes the same pages of the index again and again.
  database.pragma('wal_autocheckpoint = 8000');
  try {
    convertDatabaseErrors(path, () =>
      migrate(database, join(packageRoot, 'schemas', 'vocabulary')),
    );
  } catch (thrown) {
    database.close();
    throw thrown;
  }
  const wordIds = new Map<string, number>();
  const getSource = memoize((oaiBase: string) =>
    openSource(database, path, clock, oaiBase, wordIds),
  );
  return {
    path,
    openSource: getSource,
    makeLookups: (oaiBase, account) => ({
      lookupTerm: makeTermLookup(getSource(oaiBase)),
      lookupArea: makeAreaLookup(getSource(oaiBase)),
      lookupProject: makeProjectLookup(getSource(oaiBase), account),
    }),
    close: () => database.close(),
  };
}

function openSource(
  database: Database,
  path: string,
  clock: Clock,
  oaiBase: string,
  wordIds: Map<string, number>,
): Vocabulary {
  const guarded = guardDatabase(database, (thrown) => toDatabaseError(path, thrown));
  const { sql } = guarded;
  const change = <T>(work: () => T): T => {
    // After a rollback they are wrong.
    if (!database.inTransaction) wordIds.clear();
    return guarded.change(work);
  };
  const findId = () => sql('select id from sources where oai_base = ?').pluck().get(oaiBase);
  // Another process may add the source before this one has the lock.
  const id =
    findId() ??
    change(
      () =>
        findId() ??
        sql('insert into sources (oai_base) values (?) returning id').pluck().get(oaiBase),
    );
  return { path, clock, oaiBase, wordIds, source: Number(id), sql, change };
}
