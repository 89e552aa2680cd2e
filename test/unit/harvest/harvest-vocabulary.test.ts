import { describe, expect, test } from 'vitest';
import { DatabaseError, UsageError } from '../../../src/base/errors.ts';
import type { Vocabulary } from '../../../src/finds/vocabulary/term.ts';
import type { SetHarvest } from '../../../src/harvest/harvest-vocabulary.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempSource, tempVocabulary } from '../../support/temp-vocabulary.ts';
import { aRepository, ident } from './term-repository.ts';
import { harvest, stored } from './vocabulary-harvest.ts';

describe('an incomplete list', () => {
  test('because of an unknown set is refused before it starts', async () => {
    using store = tempVocabulary();
    const failure = harvest(aRepository(1), store.openSource(OAI_BASE), { sets: ['heslo:obdobi'] });
    await expect(failure).rejects.toBeInstanceOf(UsageError);
    await expect(failure).rejects.toThrow('heslo:obdobi');
  });

  test('with a record that is not a term names it in each run, and the rest is stored', async () => {
    using vocabulary = tempSource();
    const repository = aRepository(4);
    repository.put(ident(5), '');
    repository.nowMs += 3_600_000;
    const [result] = await harvest(repository, vocabulary);
    const identifier = `${OAI_BASE}/id/${ident(5)}`;
    const broken = [identifier];
    expect(result).toMatchObject({ records: 5, broken });
    expect(stored(vocabulary).size).toBe(4);
    expect(await harvest(repository, vocabulary)).toMatchObject([{ pass: 'changes', broken }]);
    repository.put(ident(5), 'věc 5');
    expect(await harvest(repository, vocabulary)).toMatchObject([{ broken: [] }]);
    expect(await harvest(repository, vocabulary)).toMatchObject([{ broken: [] }]);
    expect(stored(vocabulary).size).toBe(5);
  });
});

test('a full disk ends the harvest with the previous page stored', async () => {
  using vocabulary = tempSource();
  let changes = 0;
  const filling: Vocabulary = {
    ...vocabulary,
    change: (work) => {
      if (++changes > 2) throw new DatabaseError('the disk is full');
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
  await expect(first).rejects.toMatchObject({
    message: expect.stringMatching(/another pas has taken over this harvest/),
    hint: expect.stringMatching(/run the command again/),
    exitCode: 5,
  });
  expect((await second)?.[0]?.records).toBe(12);
  expect(stored(vocabulary)).toEqual(repository.alive());
});
