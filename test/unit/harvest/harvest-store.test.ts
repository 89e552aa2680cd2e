import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../../src/base/disk/database.ts';
import { DatabaseError, UsageError } from '../../../src/base/errors.ts';
import { openSetState } from '../../../src/harvest/harvest-records.ts';
import type { HarvestState } from '../../../src/harvest/harvest-state.ts';
import {
  getOutputSubject,
  type HarvestStore,
  openHarvestStore,
  type RecordHarvestSubject,
  storeOrAssertSubject,
} from '../../../src/harvest/harvest-store.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { begunPass, completePass } from './begun-pass.ts';

const aPath = (): string => join(tempFolder(), 'out.jsonl.harvest');

const SUBJECT: RecordHarvestSubject = {
  oaiBase: 'https://harvest.example.org',
  version: '2.2',
  sets: 'projekt',
  format: 'oai_svc',
  fromBound: '',
  untilBound: '',
  account: '',
  form: 'jsonl',
};
const BEGUN = begunPass('full', 1000, 1);

const getState = (store: HarvestStore): HarvestState => openSetState(store, SUBJECT.sets);

describe('the state file of a harvest', () => {
  test('is used by one process at a time', () => {
    const path = aPath();
    const store = openHarvestStore(path);
    const failure = ((): unknown => {
      try {
        return openHarvestStore(path);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(failure).toBeInstanceOf(DatabaseError);
    expect(failure).toMatchObject({ exitCode: 5 });
    expect(String(failure)).toMatch(/another program/);
    store.close();
    openHarvestStore(path).close();
  });

  test('is not written into another program’s database', () => {
    const path = aPath();
    const other = openSqlite(path);
    other.exec('create table precious (x)');
    other.close();
    expect(() => openHarvestStore(path)).toThrow(UsageError);
    const again = openSqlite(path);
    expect(again.prepare('select name from sqlite_master').pluck().all()).toEqual(['precious']);
    again.close();
  });

  test('is not written into a file that is not a database', () => {
    const path = aPath();
    writeFileSync(path, 'x'.repeat(5000));
    expect(() => openHarvestStore(path)).toThrow(/not a database/);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });
});

describe('an output', () => {
  test('keeps its request', () => {
    const store = openHarvestStore(aPath());
    store.change(() => {
      storeOrAssertSubject(store, SUBJECT, 'out.jsonl');
      getState(store).saveProgress({ pass: { ...BEGUN, token: 'T', seen: 5 } });
    });
    for (const change of [
      { sets: 'pian' },
      { format: 'oai_dc' },
      { account: 'somebody' },
      { untilBound: '2025-01-01' },
    ]) {
      expect(() =>
        store.change(() => storeOrAssertSubject(store, { ...SUBJECT, ...change }, 'out.jsonl')),
      ).toThrow(UsageError);
    }
    store.change(() => storeOrAssertSubject(store, SUBJECT, 'out.jsonl'));
    expect(getState(store).getProgress().pass?.token).toBe('T');
    store.close();
  });

  test('into which nothing was harvested may get another request', () => {
    const store = openHarvestStore(aPath());
    store.change(() => {
      storeOrAssertSubject(store, SUBJECT, 'out.jsonl');
      getState(store).saveProgress({ pass: BEGUN });
    });
    store.change(() => storeOrAssertSubject(store, { ...SUBJECT, format: 'oai_dc' }, 'out.jsonl'));
    expect(getOutputSubject(store)?.format).toBe('oai_dc');
    expect(getState(store).getProgress().pass).toBeNull();
    store.close();
  });

  test('with a harvest of no records keeps its request all the same', () => {
    const store = openHarvestStore(aPath());
    store.change(() => {
      storeOrAssertSubject(store, SUBJECT, 'out.jsonl');
      completePass(getState(store), 1000);
    });
    expect(getState(store).getProgress().watermarkMs).toBe(1000);
    expect(() =>
      store.change(() => storeOrAssertSubject(store, { ...SUBJECT, sets: 'pian' }, 'out.jsonl')),
    ).toThrow(/its set is/);
    store.close();
  });
});

test('a state file that a killed process left without a table is started again', () => {
  const path = aPath();
  const left = openSqlite(path);
  left.pragma('journal_mode = wal');
  left.close();
  expect(statSync(path).size).toBeGreaterThan(0);
  const store = openHarvestStore(path);
  expect(getOutputSubject(store)).toBeUndefined();
  store.close();
});

test('a state file of a newer pas is refused', () => {
  const path = aPath();
  openHarvestStore(path).close();
  const newer = openSqlite(path);
  newer.exec('create table later (only integer); pragma user_version = 2');
  newer.close();
  expect(() => openHarvestStore(path)).toThrow(/newer pas/);
});
