import { type Exchange, TransportError } from '../../../src/service/http/exchange.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import type { FakeRepository } from './fake-repository.ts';
import type { HarvestPlace } from './record-harvest.ts';

/** Content of each record in the output: its last line counts. */
export function labels(place: HarvestPlace): Map<string, string> {
  const last = new Map(place.lines().map((line) => [line.identifier, line]));
  return new Map(
    [...last]
      .filter(([, { metadata }]) => metadata !== undefined)
      .map(([identifier, line]) => [getIdent(identifier), getLabel(line.metadata)]),
  );
}

export function getLabel(metadata: unknown): string {
  return (metadata as { heslo: { heslo: string } }).heslo.heslo;
}

export const getIdent = (identifier: string): string => identifier.slice(`${OAI_BASE}/id/`.length);

/** Lines that say the same of the same record. */
export function repetitions(place: HarvestPlace): string[] {
  const texts = place.lines().map((line) => JSON.stringify(line));
  return texts.filter((text, index) => texts.indexOf(text) !== index);
}

/** Answers that stop coming from the n-th request for a page on. */
export function cutAfter(repository: FakeRepository, pages: number): Exchange {
  let seen = 0;
  return async (request) => {
    if (request.url.includes('ListRecords') && ++seen > pages)
      throw new TransportError('reset', true, 'the network is gone');
    return repository.exchange(request);
  };
}

/** Answers that say another text for one. */
export function replacing(repository: FakeRepository, from: string, to: string): Exchange {
  return async (request) => {
    const response = await repository.exchange(request);
    return { ...response, body: Buffer.from(response.body.toString().replaceAll(from, to)) };
  };
}
