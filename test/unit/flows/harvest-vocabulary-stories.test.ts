import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OaiError, UnavailableError } from '../../../src/base/errors.ts';
import { TransportError } from '../../../src/http/exchange.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempVocabulary } from '../../support/temp-vocabulary.ts';
import { aRepository, HABITS, ident, sorted } from '../../support/term-repository.ts';
import { harvest, stored } from '../../support/vocabulary-harvest.ts';

type Event =
  | { readonly kind: 'put' | 'remove'; readonly n: number }
  | { readonly kind: 'page size'; readonly n: number }
  | { readonly kind: 'tokens expire' | 'network goes' | 'nothing' }
  | { readonly kind: 'harvest'; readonly full: boolean };

describe('whatever happens between and during harvests', () => {
  const n = fc.integer({ min: 1, max: 14 });
  const change = fc.oneof(
    fc.record({ kind: fc.constantFrom('put' as const, 'put' as const, 'remove' as const), n }),
    fc.record({ kind: fc.constant('page size' as const), n: fc.integer({ min: 1, max: 5 }) }),
  );
  const trouble = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Event>({ kind: 'nothing' }) },
    { weight: 2, arbitrary: change },
    { weight: 1, arbitrary: fc.constantFrom<Event>({ kind: 'tokens expire' }, { kind: 'network goes' }) },
  );
  const story = fc.record({
    habits: fc.constantFrom(...HABITS.map(([, habits]) => habits)),
    between: fc.array(
      fc.oneof(
        { weight: 3, arbitrary: change },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('harvest' as const), full: fc.boolean() }) },
      ),
      { maxLength: 25 },
    ),
    during: fc.array(trouble, { maxLength: 40 }),
  });

  test('the store equals the service after one quiet harvest', async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ habits, between, during }) => {
        using store = tempVocabulary();
        const vocabulary = store.source(OAI_BASE);
        const repository = aRepository(6, habits);
        const troubles = [...during];
        let version = 0;
        const apply = (event: Event): void => {
          if (event.kind === 'put') repository.put(ident(event.n), `verze ${++version}`);
          if (event.kind === 'remove') repository.remove(ident(event.n));
          if (event.kind === 'page size') repository.habits.pageSize = event.n;
          if (event.kind === 'tokens expire') repository.expireTokens();
          if (event.kind === 'network goes') throw new TransportError('reset', true, 'gone');
        };
        repository.beforeAnswer = () => apply(troubles.shift() ?? { kind: 'nothing' });
        for (const event of between) {
          if (event.kind !== 'harvest') apply(event);
          else {
            await harvest(repository, vocabulary, event).catch((thrown: unknown) => {
              if (!(thrown instanceof OaiError || thrown instanceof UnavailableError)) throw thrown;
            });
          }
        }
        troubles.length = 0;
        await harvest(repository, vocabulary);
        expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
      }),
      { numRuns: 60 },
    );
  });
});
