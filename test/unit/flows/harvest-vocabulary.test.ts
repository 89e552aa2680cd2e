import { describe, expect, test } from 'vitest';
import { DatabaseError, UnavailableError, UsageError } from '../../../src/base/errors.ts';
import type { SetHarvest } from '../../../src/flows/harvest/harvest-vocabulary.ts';
import { TransportError } from '../../../src/http/exchange.ts';
import type { Vocabulary } from '../../../src/vocabulary/term.ts';
import { isHarvested } from '../../../src/vocabulary/terms.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempVocabulary } from '../../support/temp-vocabulary.ts';
import { aRepository, ident, sorted } from '../../support/term-repository.ts';
import { getState, harvest, SET, stored } from '../../support/vocabulary-harvest.ts';

test.each([0, 1, 10])('a list of %i records is harvested completely', async (count) => {
  using store = tempVocabulary();
  const vocabulary = store.openSource(OAI_BASE);
  const repository = aRepository(count);
  const [result] = await harvest(repository, vocabulary);
  const none = { deleted: 0, vanished: 0, unreadable: [], broken: [] };
  expect(result).toMatchObject({ setSpec: SET, pass: 'full', records: count, ...none });
  expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
  expect(isHarvested(vocabulary, SET)).toBe(count > 0);
});

describe('an interrupted harvest', () => {
  test('resumes at its page', async () => {
    using store = tempVocabulary();
    const vocabulary = store.openSource(OAI_BASE);
    const repository = aRepository(12);
    repository.nowMs += 3_600_000;
    repository.beforeAnswer = ({ url }) => {
      if (url.includes('T3')) throw new TransportError('reset', true, 'the network is gone');
    };
    await expect(harvest(repository, vocabulary)).rejects.toBeInstanceOf(UnavailableError);
    expect(stored(vocabulary).size).toBe(9);
    expect([isHarvested(vocabulary, SET), getState(vocabulary).getPass()?.walk.token]).toEqual([false, 'T3']);
    repository.beforeAnswer = () => {};
    repository.requests.length = 0;
    const [result] = await harvest(repository, vocabulary);
    expect(result).toMatchObject({ pass: 'full', records: 12 });
    const [first, second, followUp, ...more] = repository.requests.filter((query) => query.includes('ListRecords'));
    expect([first, second, more]).toEqual(['verb=ListRecords&resumptionToken=T3', 'verb=ListRecords&resumptionToken=T4', []]);
    // Changes since ten minutes before the first page, which the first run had seen.
    expect(followUp).toContain('from=2025-06-01T00%3A50%3A1');
  });

  test('starts its list again when a token of its follow-up expired', async () => {
    using store = tempVocabulary();
    const vocabulary = store.openSource(OAI_BASE);
    const repository = aRepository(12);
    let [changes, refused] = [0, false];
    repository.beforeAnswer = ({ url }) => {
      if (url.includes('resumptionToken') && changes < 6) repository.put(ident(++changes), `změněno ${changes}`);
      if (refused || !url.includes('resumptionToken') || !repository.requests.some((query) => query.includes('from='))) return;
      refused = true;
      repository.expireTokens();
    };
    const [result] = await harvest(repository, vocabulary);
    expect([result?.records, refused]).toEqual([12, true]);
    expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
  });
});

describe('an incomplete list', () => {
  test('because of an unknown set is refused before it starts', async () => {
    using store = tempVocabulary();
    const failure = harvest(aRepository(1), store.openSource(OAI_BASE), { sets: ['heslo:obdobi'] });
    await expect(failure).rejects.toBeInstanceOf(UsageError);
    await expect(failure).rejects.toThrow('heslo:obdobi');
  });

  test('because of a broken record can be finished without that record, which is named', async () => {
    using store = tempVocabulary();
    const vocabulary = store.openSource(OAI_BASE);
    const repository = aRepository(10);
    repository.put(ident(5), 'sůl & pepř');
    await expect(harvest(repository, vocabulary)).rejects.toMatchObject({
      oaiCode: 'malformed',
      record: `${OAI_BASE}/id/${ident(5)}`,
    });
    const [result] = await harvest(repository, vocabulary, { skipBroken: true });
    expect(result?.broken).toEqual([{ identifier: `${OAI_BASE}/id/${ident(5)}`, reason: expect.stringContaining('&amp;') }]);
    expect(stored(vocabulary).size).toBe(9);
  });

  test('with a record that is not a term names it, and the rest is stored', async () => {
    using store = tempVocabulary();
    const vocabulary = store.openSource(OAI_BASE);
    const repository = aRepository(4);
    repository.put(ident(5), '');
    const [result] = await harvest(repository, vocabulary);
    expect(result).toMatchObject({ records: 5, unreadable: [ident(5)] });
    expect(stored(vocabulary).size).toBe(4);
  });
});

test('a full disk ends the harvest with the previous page stored', async () => {
  using store = tempVocabulary();
  const vocabulary = store.openSource(OAI_BASE);
  let changes = 0;
  const filling: Vocabulary = {
    ...vocabulary,
    change: (work) => {
      if (++changes > 3) throw new DatabaseError('the disk is full');
      return vocabulary.change(work);
    },
  };
  await expect(harvest(aRepository(10), filling)).rejects.toBeInstanceOf(DatabaseError);
  expect(stored(vocabulary).size).toBe(3);
  await harvest(aRepository(10), vocabulary);
  expect(stored(vocabulary).size).toBe(10);
});

test('a second harvest of the same set takes over; the first one stops, and nothing is lost', async () => {
  using store = tempVocabulary();
  const vocabulary = store.openSource(OAI_BASE);
  const repository = aRepository(12);
  let second: Promise<SetHarvest[]> | undefined;
  repository.beforeAnswer = ({ url }) => {
    if (url.includes('T2') && second === undefined) second = harvest(repository, vocabulary);
  };
  const first = harvest(repository, vocabulary);
  await expect(first).rejects.toThrow(/another pas has taken over this harvest/);
  expect((await second)?.[0]?.records).toBe(12);
  expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
});
