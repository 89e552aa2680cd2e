import { describe, expect, test } from 'vitest';
import { TransportError } from '../../../src/http/exchange.ts';
import { termByIdent } from '../../../src/vocabulary/terms.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempVocabulary } from '../../support/temp-vocabulary.ts';
import { aRepository, ident, sorted } from '../../support/term-repository.ts';
import { harvest, stored } from '../../support/vocabulary-harvest.ts';

describe('later harvests', () => {
  test('ask only for what changed, with an overlap, by the server’s own clock', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(9);
    repository.nowMs += 3_600_000;
    await harvest(repository, vocabulary);
    repository.nowMs += 3_600_000;
    repository.put(ident(2), 'nový název');
    repository.requests.length = 0;
    const [result] = await harvest(repository, vocabulary);
    expect(result).toMatchObject({ pass: 'changes', records: 1 });
    expect(termByIdent(vocabulary, ident(2))?.label).toBe('nový název');
    const from = new URLSearchParams(repository.requests.find((query) => query.includes('from='))).get('from') ?? '';
    // Ten minutes before the last harvest asked what the service is: one hour after the nine records, two requests on.
    expect(Date.parse(from)).toBe(Date.UTC(2025, 5, 1) + 9000 + 3_600_000 + 2000 - 600_000);
  });

  test('mark what was deleted, and leave the rest alone', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(5);
    await harvest(repository, vocabulary);
    repository.remove(ident(4));
    const [result] = await harvest(repository, vocabulary);
    expect(result).toMatchObject({ deleted: 1, vanished: 0 });
    expect(termByIdent(vocabulary, ident(4))).toMatchObject({ label: 'věc 4', gone: 'deleted' });
    expect(stored(vocabulary).size).toBe(4);
  });

  test('find by the count what has vanished without a trace', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(5);
    await harvest(repository, vocabulary);
    repository.forget(ident(1));
    const [result] = await harvest(repository, vocabulary);
    expect(result).toMatchObject({ pass: 'full', records: 4, vanished: 1 });
    expect(termByIdent(vocabulary, ident(1))?.gone).toBe('vanished');
    repository.put(ident(1), 'zase zde');
    await harvest(repository, vocabulary);
    expect(termByIdent(vocabulary, ident(1))).toMatchObject({ label: 'zase zde', gone: null });
  });

  test('take nothing for vanished that merely moved in a list that is not counted', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(12, { order: 'newest-first', end: 'no-token', counts: false });
    await harvest(repository, vocabulary);
    let moved = false;
    repository.beforeAnswer = ({ url }) => {
      if (!url.includes('resumptionToken') || moved) return;
      moved = true;
      repository.put(ident(1), 'změněno');
    };
    const [result] = await harvest(repository, vocabulary, { full: true });
    expect(result).toMatchObject({ records: 12, vanished: 0 });
    expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
  });

  test('take nothing for vanished where a record was left out that nobody can name', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(5);
    await harvest(repository, vocabulary);
    const { exchange } = repository;
    const unnamed = Object.assign(repository, {
      exchange: async (request: Parameters<typeof exchange>[0]) => {
        const given = await exchange(request);
        return { ...given, body: Buffer.from(given.body.toString().replace(`/id/${ident(4)}<`, '/id/& <')) };
      },
    });
    const [result] = await harvest(unnamed, vocabulary, { full: true, skipBroken: true });
    expect(result).toMatchObject({ vanished: 0, broken: [{ identifier: undefined }] });
    expect(termByIdent(vocabulary, ident(4))?.gone).toBeNull();
  });

  test('do not count a harvest of changes that was cut off as done', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(5);
    await harvest(repository, vocabulary);
    for (let n = 1; n <= 5; n++) repository.put(ident(n), `druhá verze ${n}`);
    repository.beforeAnswer = ({ url }) => {
      if (url.includes('resumptionToken')) throw new TransportError('reset', true, 'gone');
    };
    await expect(harvest(repository, vocabulary)).rejects.toThrow();
    repository.beforeAnswer = () => {};
    await harvest(repository, vocabulary);
    expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
  });
});
