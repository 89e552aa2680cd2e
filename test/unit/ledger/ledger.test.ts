import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DatabaseError, UsageError } from '../../../src/base/errors.ts';
import { packageRoot } from '../../../src/base/package-root.ts';
import { setState } from '../../../src/flows/harvest/set-state.ts';
import { type Ledger, openLedger } from '../../../src/ledger/ledger.ts';
import { assertSubject, type Subject, subjectOf } from '../../../src/ledger/subject.ts';
import type { HarvestState } from '../../../src/oai/harvest-state.ts';
import { afterPage, startPass } from '../../../src/oai/pass.ts';
import { openSqlite } from '../../../src/store/database.ts';
import { harvestPlace } from '../../support/record-harvest.ts';
import { tempFolder } from '../../support/temp-outbox.ts';
import { aRepository, ident } from '../../support/term-repository.ts';

const aPath = (): string => join(tempFolder(), 'out.jsonl.harvest');

const SUBJECT: Subject = {
  oaiBase: 'https://harvest.example.org',
  version: '2.2',
  sets: 'projekt',
  verb: 'ListRecords',
  format: 'oai_svc',
  fromBound: '',
  untilBound: '',
  account: '',
  form: 'jsonl',
};
const BEGUN = startPass('full', { fromMs: null, untilMs: null }, 1000, 1);
const ANY_PAGE = {
  next: 'T',
  completeListSize: 5,
  responseDateMs: 1000,
  overlapMs: 0,
  cursor: undefined,
  datestampsMs: [],
  identifiers: [],
  againMs: [],
} as const;

const stateOf = (ledger: Ledger): HarvestState => setState(ledger, SUBJECT.sets, () => 2000);

describe('the notes of a harvest', () => {
  test('are for one process at a time', () => {
    const path = aPath();
    const ledger = openLedger(path);
    const failure = ((): unknown => {
      try {
        return openLedger(path);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(failure).toBeInstanceOf(DatabaseError);
    expect(failure).toMatchObject({ exitCode: 5 });
    expect(String(failure)).toMatch(/another program/);
    ledger.close();
    openLedger(path).close();
  });

  test('are not written into another program’s database', () => {
    const path = aPath();
    const other = openSqlite(path);
    other.exec('create table precious (x)');
    other.close();
    expect(() => openLedger(path)).toThrow(UsageError);
    const again = openSqlite(path);
    expect(again.prepare('select name from sqlite_master').pluck().all()).toEqual(['precious']);
    again.close();
  });

  test('are not written into what is no database', () => {
    const path = aPath();
    writeFileSync(path, 'x'.repeat(5000));
    expect(() => openLedger(path)).toThrow(/not a database/);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });
});

describe('an output', () => {
  test('keeps what it is for', () => {
    const ledger = openLedger(aPath());
    ledger.change(() => {
      assertSubject(ledger, SUBJECT, 'out.jsonl');
      stateOf(ledger).putPass({ ...afterPage(BEGUN, ANY_PAGE), met: 5 });
    });
    for (const change of [
      { sets: 'pian' },
      { verb: 'ListIdentifiers' } as const,
      { format: 'oai_dc' },
      { account: 'somebody' },
      { untilBound: '2025-01-01' },
    ]) {
      expect(() => ledger.change(() => assertSubject(ledger, { ...SUBJECT, ...change }, 'out.jsonl'))).toThrow(UsageError);
    }
    ledger.change(() => assertSubject(ledger, SUBJECT, 'out.jsonl'));
    expect(stateOf(ledger).pass()?.walk.token).toBe('T');
    ledger.close();
  });

  test('into which nothing was harvested may be for something else', () => {
    const ledger = openLedger(aPath());
    ledger.change(() => {
      assertSubject(ledger, SUBJECT, 'out.jsonl');
      stateOf(ledger).putPass(BEGUN);
    });
    ledger.change(() => assertSubject(ledger, { ...SUBJECT, format: 'oai_dc' }, 'out.jsonl'));
    expect(subjectOf(ledger)?.format).toBe('oai_dc');
    expect(stateOf(ledger).pass()).toBeUndefined();
    ledger.close();
  });

  test('that was empty when it was harvested is for that all the same', () => {
    const ledger = openLedger(aPath());
    ledger.change(() => {
      assertSubject(ledger, SUBJECT, 'out.jsonl');
      stateOf(ledger).putPass(afterPage(BEGUN, { ...ANY_PAGE, next: undefined, completeListSize: undefined }));
      stateOf(ledger).complete();
    });
    expect(stateOf(ledger).watermarkMs()).toBe(1000);
    expect(() => ledger.change(() => assertSubject(ledger, { ...SUBJECT, sets: 'pian' }, 'out.jsonl'))).toThrow(/its set is/);
    ledger.close();
  });
});

test('notes that a stopped process left without a table are begun anew', () => {
  const path = aPath();
  const left = openSqlite(path);
  left.pragma('journal_mode = wal');
  left.close();
  expect(statSync(path).size).toBeGreaterThan(0);
  const ledger = openLedger(path);
  expect(subjectOf(ledger)).toBeUndefined();
  ledger.close();
});

test('the notes of an older pas are gone on from, and its output is held against them from then on', async () => {
  const place = harvestPlace();
  const repository = aRepository(5);
  repository.nowMs += 3600_000;
  await place.run(repository.exchange);
  olderNotes(`${place.path}.harvest`);
  repository.nowMs += 3600_000;
  repository.put(ident(2), 'změněno');
  expect(await place.run(repository.exchange)).toMatchObject({ pass: 'changes', written: 1, held: 5 });
  writeFileSync(place.path, readFileSync(place.path, 'utf8').replace('věc 3', 'věc X'));
  await expect(place.run(repository.exchange)).rejects.toThrow(/was changed/);
});

/** The same notes as an older pas would have written them. */
function olderNotes(path: string): void {
  const now = openSqlite(path);
  const [row] = now.prepare('select o.*, h.watermark_at, h.looks from outputs as o, harvests as h').all() as Record<
    string,
    unknown
  >[];
  const met = now.prepare('select identifier, datestamp_at, digest, look from met_records').all();
  now.close();
  rmSync(path);
  const database = openSqlite(path);
  for (const name of ['000001_ledger.sql', '000002_looks.sql']) {
    database.exec(readFileSync(join(packageRoot, 'schemas', 'harvest', name), 'utf8'));
  }
  database.pragma('user_version = 2');
  database
    .prepare(
      `insert into harvests (id, oai_base, version, set_spec, format, from_bound, until_bound, account, form, watermark_at, length_bytes, looks)
       values (1, :oai_base, :version, :sets, :format, '', '', :account, :form, :watermark_at, :length_bytes, :looks)`,
    )
    .run(row);
  const put = database.prepare(
    'insert into met_records (identifier, datestamp_at, digest, look) values (:identifier, :datestamp_at, :digest, :look)',
  );
  for (const one of met) put.run(one);
  database.close();
}
