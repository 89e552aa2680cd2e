import type { Vocabulary } from '../../src/finds/vocabulary/term.ts';
import { listTermsOfSet } from '../../src/finds/vocabulary/terms.ts';
import { openOaiClient } from '../../src/harvest/client.ts';
import { harvestVocabulary, type SetHarvest } from '../../src/harvest/harvest-vocabulary.ts';
import type { Exchange } from '../../src/service/http/exchange.ts';
import type { FakeRepository } from './fake-repository.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';
import { OAI_BASE } from './scripted-oai.ts';

export const SET = 'heslo:predmet_druh';

type Options = {
  readonly full?: boolean;
  /** Default: a list of a test is so short that each loss is a large part of it. */
  readonly acceptLosses?: boolean;
  readonly inUse?: readonly string[];
  readonly sets?: readonly string[];
  readonly skipBroken?: boolean;
  /** In front of the repository. */
  readonly exchange?: Exchange;
  /** Default: anonymous. */
  readonly account?: string;
  /** Takes what a person is told. */
  readonly notes?: string[];
};

/** Runs a harvest, and time with it wherever it waits. */
export async function harvest(
  repository: FakeRepository,
  vocabulary: Vocabulary,
  options: Options = {},
): Promise<SetHarvest[]> {
  const clock: ManualClock = manualClock();
  const client = openOaiClient({
    oaiBase: OAI_BASE,
    version: '2.2',
    exchange: options.exchange ?? repository.exchange,
    credentials: { kind: 'none' },
  });
  let over = false;
  const running = harvestVocabulary({
    client,
    vocabulary,
    clock,
    sets: options.sets ?? [SET],
    metadataPrefix: 'oai_svc',
    full: options.full === true,
    acceptLosses: options.acceptLosses ?? true,
    inUse: async () => new Set(options.inUse),
    skipBroken: options.skipBroken === true,
    subject: `2.2 ${options.account ?? ''}`,
    indexAllowanceMs: 0,
    onNote: (text) => options.notes?.push(text),
  }).finally(() => {
    over = true;
  });
  running.catch(() => {});
  while (!over) await clock.advance(10_000);
  return running;
}

export function stored(vocabulary: Vocabulary): Map<string, string> {
  return new Map(listTermsOfSet(vocabulary, SET).map((term) => [term.ident, term.label]));
}
