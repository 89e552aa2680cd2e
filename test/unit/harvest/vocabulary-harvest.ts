import type { Clock } from '../../../src/base/clock.ts';
import type { Vocabulary } from '../../../src/finds/vocabulary/term.ts';
import { listTermsOfSet } from '../../../src/finds/vocabulary/terms.ts';
import { harvestVocabularies, type SetHarvest } from '../../../src/harvest/harvest-vocabulary.ts';
import type { Exchange } from '../../../src/service/http/exchange.ts';
import { manualClock, playOut } from '../../support/manual-clock.ts';
import { SET } from './fake-repository.ts';
import { makeClient } from './scripted-client.ts';

type Options = {
  readonly full?: boolean;
  /** Default: a list of a test is so short that each loss is a large part of it. */
  readonly acceptLosses?: boolean;
  readonly inUse?: readonly string[];
  readonly sets?: readonly string[];
  /** In front of the repository. */
  readonly exchange?: Exchange;
  /** Default: one that is moved until the harvest is over. */
  readonly clock?: Clock;
  readonly indexAllowanceMs?: number;
  /** Default: anonymous. */
  readonly account?: string;
  /** Takes what a person is told. */
  readonly notes?: string[];
};

/** Runs a harvest, and time with it wherever it waits. */
export async function harvest(
  repository: { readonly exchange: Exchange },
  vocabulary: Vocabulary,
  options: Options = {},
): Promise<SetHarvest[]> {
  const clock = manualClock();
  const running = harvestVocabularies({
    client: makeClient(options.exchange ?? repository.exchange),
    vocabulary,
    clock: options.clock ?? clock,
    sets: options.sets ?? [SET],
    metadataPrefix: 'oai_svc',
    full: options.full === true,
    acceptLosses: options.acceptLosses ?? true,
    inUse: async () => new Set(options.inUse),
    subject: `2.2 ${options.account ?? ''}`,
    indexAllowanceMs: options.indexAllowanceMs ?? 0,
    onNote: (text) => options.notes?.push(text),
  });
  return playOut(clock, running);
}

export function stored(vocabulary: Vocabulary): Map<string, string> {
  return new Map(listTermsOfSet(vocabulary, SET).map((term) => [term.ident, term.label]));
}
