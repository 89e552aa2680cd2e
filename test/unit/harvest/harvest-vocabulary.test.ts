import { describe, expect, test } from 'vitest';
import { DatabaseError, UsageError } from '../../../src/base/errors.ts';
import type { Vocabulary } from '../../../src/finds/vocabulary/term.ts';
import { findTermByIdent, isHarvested } from '../../../src/finds/vocabulary/terms.ts';
import type { SetHarvest } from '../../../src/harvest/harvest-vocabulary.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempSource, tempVocabulary } from '../../support/temp-vocabulary.ts';
import { aRepository, ident } from '../../support/term-repository.ts';
import { harvest, SET, stored } from '../../support/vocabulary-harvest.ts';

test.each([0, 1, 10])('a list of %i records is harvested completely', async (count) => {
  using vocabulary = tempSource();
  const repository = aRepository(count);
  const [result] = await harvest(repository, vocabulary);
  const none = { deleted: 0, vanished: 0, unreadable: [], broken: [] };
  expect(result).toMatchObject({ setSpec: SET, pass: 'full', records: count, ...none });
  expect(stored(vocabulary)).toEqual(repository.alive());
  expect(isHarvested(vocabulary, SET)).toBe(count > 0);
});

describe('an incomplete list', () => {
  test('because of an unknown set is refused before it starts', async () => {
    using store = tempVocabulary();
    const failure = harvest(aRepository(1), store.openSource(OAI_BASE), { sets: ['heslo:obdobi'] });
    await expect(failure).rejects.toBeInstanceOf(UsageError);
    await expect(failure).rejects.toThrow('heslo:obdobi');
  });

  test('because of a broken record can be finished without that record, which is named', async () => {
    using vocabulary = tempSource();
    const repository = aRepository(10);
    repository.put(ident(5), 'sůl & pepř');
    await expect(harvest(repository, vocabulary)).rejects.toMatchObject({
      oaiCode: 'malformed',
      record: `${OAI_BASE}/id/${ident(5)}`,
    });
    const [result] = await harvest(repository, vocabulary, { skipBroken: true });
    expect(result?.broken).toEqual([
      { identifier: `${OAI_BASE}/id/${ident(5)}`, reason: expect.stringContaining('&amp;') },
    ]);
    expect(stored(vocabulary).size).toBe(9);
  });

  test('because of a record without an identifier marks no other as lost', async () => {
    using vocabulary = tempSource();
    const repository = aRepository(5);
    await harvest(repository, vocabulary);
    const { exchange } = repository;
    const unnamed = Object.assign(repository, {
      exchange: async (request: Parameters<typeof exchange>[0]) => {
        const response = await exchange(request);
        return {
          ...response,
          body: Buffer.from(response.body.toString().replace(`/id/${ident(4)}<`, '/id/& <')),
        };
      },
    });
    const [result] = await harvest(unnamed, vocabulary, { full: true, skipBroken: true });
    expect(result).toMatchObject({ vanished: 0, broken: [{ identifier: undefined }] });
    expect(findTermByIdent(vocabulary, ident(4))?.gone).toBeNull();
  });

  test('with a record that is not a term names it in each run, and the rest is stored', async () => {
    using vocabulary = tempSource();
    const repository = aRepository(4);
    repository.put(ident(5), '');
    repository.nowMs += 3_600_000;
    const [result] = await harvest(repository, vocabulary);
    expect(result).toMatchObject({ records: 5, unreadable: [ident(5)], broken: [] });
    expect(stored(vocabulary).size).toBe(4);
    expect(await harvest(repository, vocabulary)).toMatchObject([
      { pass: 'changes', unreadable: [ident(5)], broken: [] },
    ]);
    repository.put(ident(5), 'věc 5');
    expect(await harvest(repository, vocabulary)).toMatchObject([{ unreadable: [], broken: [] }]);
    expect(await harvest(repository, vocabulary)).toMatchObject([{ unreadable: [], broken: [] }]);
    expect(stored(vocabulary).size).toBe(5);
  });
});

test('a full disk ends the harvest with the previous page stored', async () => {
  using vocabulary = tempSource();
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
  using vocabulary = tempSource();
  const repository = aRepository(12);
  let second: Promise<SetHarvest[]> | undefined;
  repository.beforeAnswer = ({ url }) => {
    if (url.includes('T2') && second === undefined) second = harvest(repository, vocabulary);
  };
  const first = harvest(repository, vocabulary);
  await expect(first).rejects.toThrow(/another pas has taken over this harvest/);
  expect((await second)?.[0]?.records).toBe(12);
  expect(stored(vocabulary)).toEqual(repository.alive());
});
