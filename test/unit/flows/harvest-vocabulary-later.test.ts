import { describe, expect, test } from 'vitest';
import { findTermByIdent } from '../../../src/vocabulary/terms.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempVocabulary } from '../../support/temp-vocabulary.ts';
import { aRepository, ident } from '../../support/term-repository.ts';
import { harvest } from '../../support/vocabulary-harvest.ts';

describe('later harvests', () => {
  test('detect by the count what vanished without a trace', async () => {
    using store = tempVocabulary();
    const vocabulary = store.openSource(OAI_BASE);
    const repository = aRepository(5);
    await harvest(repository, vocabulary);
    repository.forget(ident(1));
    const [result] = await harvest(repository, vocabulary);
    expect(result).toMatchObject({ pass: 'full', records: 4, vanished: 1 });
    expect(findTermByIdent(vocabulary, ident(1))?.gone).toBe('vanished');
    repository.put(ident(1), 'zase zde');
    await harvest(repository, vocabulary);
    expect(findTermByIdent(vocabulary, ident(1))).toMatchObject({ label: 'zase zde', gone: null });
  });

  test('mark no loss if an unidentifiable record was left out', async () => {
    using store = tempVocabulary();
    const vocabulary = store.openSource(OAI_BASE);
    const repository = aRepository(5);
    await harvest(repository, vocabulary);
    const { exchange } = repository;
    const unnamed = Object.assign(repository, {
      exchange: async (request: Parameters<typeof exchange>[0]) => {
        const response = await exchange(request);
        return { ...response, body: Buffer.from(response.body.toString().replace(`/id/${ident(4)}<`, '/id/& <')) };
      },
    });
    const [result] = await harvest(unnamed, vocabulary, { full: true, skipBroken: true });
    expect(result).toMatchObject({ vanished: 0, broken: [{ identifier: undefined }] });
    expect(findTermByIdent(vocabulary, ident(4))?.gone).toBeNull();
  });
});
