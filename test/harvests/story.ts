import { type Clock, monotonicMs, wallMs } from '../../src/base/clock.ts';
import { PasError } from '../../src/base/errors.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { type Random, seededRandom } from '../chaos/random.ts';
import { recordsClient, type StoryClient, vocabularyClient } from '../stories/clients.ts';
import { OAI_BASE } from '../support/scripted-oai.ts';
import { ListService, TROUBLES, type Trouble } from './service.ts';

export type Tally = { stories: number; runs: number; believed: number; doubted: number; failed: number };

const HOUR_MS = 3_600_000;
/** More than any run takes of a list of that length. */
const MAX_ANSWERS = 5000;
/** What may be lost at once. */
const [MAX_LOST, MAX_LOST_SHARE] = [50, 0.1];

/** What went against a promise. */
class Broken extends Error {}

type Outcome = 'believed' | 'doubted' | 'failed';

/** Plays one story to its end. @throws Broken */
export async function playStory(seed: number, tally: Tally): Promise<void> {
  const random = seededRandom(seed);
  const place = { oaiBase: OAI_BASE, version: '2.2', list: 'osoba' } as const;
  const client = random.chance(0.5) ? vocabularyClient(place) : recordsClient(place);
  tally.stories += 1;
  try {
    await new Story(random, client, tally).play();
  } finally {
    client.close();
  }
}

class Story {
  readonly #random: Random;
  readonly #client: StoryClient;
  readonly #tally: Tally;
  readonly #service: ListService;
  readonly #skewMs: number;
  /** Sizes that the list was shown with: a list of other records and the same size is not told from it. */
  readonly #sizes = new Set<number>();
  /** When, by the service's clock, the first of the runs was that were not believed. */
  #doubtedMs: number | undefined;

  constructor(random: Random, client: StoryClient, tally: Tally) {
    this.#random = random;
    this.#client = client;
    this.#tally = tally;
    this.#service = new ListService(random);
    this.#skewMs = random.pick([0, 0, -3 * HOUR_MS]);
  }

  async play(): Promise<void> {
    const [random, service] = [this.#random, this.#service];
    service.make(random.pick([1, random.between(2, 30), random.between(30, 180)]));
    for (let steps = random.between(1, 5); steps > 0; steps -= 1) {
      for (let acts = random.between(0, 3); acts > 0; acts -= 1) this.#act();
      service.nowMs += random.pick([60_000, 10 * 60_000, HOUR_MS, 30 * HOUR_MS]);
      await this.#meet(random.pick(TROUBLES));
    }
    this.#loseMany();
    await this.#endRightly();
  }

  #act(): void {
    const service = this.#service;
    this.#random.pick([() => service.edit(), () => service.edit(), () => service.remove(), () => service.make(2)])();
  }

  /** A run while something is wrong takes no more than it may. */
  async #meet(trouble: Trouble): Promise<void> {
    const service = this.#service;
    service.begin(trouble);
    const before = this.#client.holds();
    const wasAlive = service.alive();
    const outcome = await this.#run(this.#random.chance(0.2));
    const after = this.#client.holds();
    const lost = [...before.keys()].filter((ident) => wasAlive.has(ident) && !after.has(ident));
    this.#sizes.add(service.shownSize);
    const areFew = lost.length <= Math.min(MAX_LOST, service.size * MAX_LOST_SHARE);
    if (outcome === 'doubted' && lost.length > 0) throw new Broken(`${trouble}: ${lost.length} lost in doubt`);
    if (outcome === 'believed' && !areFew && !this.#isSecondLook()) throw new Broken(`${trouble}: ${lost.length} lost at once`);
    if (trouble === 'empty' && outcome === 'believed' && !this.#isSecondLook()) throw new Broken('an empty list is believed');
    // A clock that stepped back begins the hour anew.
    const toldMs = service.nowMs + service.shiftMs;
    if (outcome === 'doubted') this.#doubtedMs = Math.min(this.#doubtedMs ?? toldMs, toldMs);
    if (outcome === 'believed') this.#doubtedMs = undefined;
  }

  #isSecondLook(): boolean {
    const { nowMs, shiftMs } = this.#service;
    return this.#doubtedMs !== undefined && nowMs + shiftMs - this.#doubtedMs >= HOUR_MS - 60_000;
  }

  /** What is really gone is so after a second look. */
  #loseMany(): void {
    const service = this.#service;
    const count = this.#random.pick([0, 0, this.#random.between(1, service.size)]);
    const left = service.size - count;
    if (left > 0 && !this.#sizes.has(left)) service.erase(count);
  }

  async #endRightly(): Promise<void> {
    const service = this.#service;
    service.nowMs += HOUR_MS;
    service.begin('right');
    await this.#run(false);
    service.nowMs += HOUR_MS;
    const outcome = await this.#run(false);
    const difference = differenceOf(service.alive(), this.#client.holds());
    const isEmpty = service.size === 0;
    if (outcome !== 'believed' && !isEmpty) throw new Broken(`at the end: ${outcome}`);
    if (difference !== undefined) throw new Broken(`at the end: ${difference}`);
  }

  async #run(full: boolean): Promise<Outcome> {
    this.#tally.runs += 1;
    const service = this.#service;
    const mostAnswers = service.answers + MAX_ANSWERS;
    const exchange: Exchange = (request) => {
      if (service.answers > mostAnswers) throw new Broken('endless');
      return service.exchange(request);
    };
    try {
      const given = { exchange, clock: this.#clock(), full, rights: '', acceptLosses: false };
      const { isBelieved } = await this.#client.run(given);
      this.#tally[isBelieved ? 'believed' : 'doubted'] += 1;
      return isBelieved ? 'believed' : 'doubted';
    } catch (thrown) {
      if (!(thrown instanceof PasError)) throw thrown;
      this.#tally.failed += 1;
      return 'failed';
    }
  }

  #clock(): Clock {
    const service = this.#service;
    return {
      now: () => wallMs(service.nowMs + this.#skewMs),
      monotonicMs: () => monotonicMs(service.nowMs),
      sleep: async (ms) => {
        service.nowMs += Math.ceil(ms);
      },
      hold: () => {},
    };
  }
}

function differenceOf(shown: ReadonlyMap<string, string>, held: ReadonlyMap<string, string>): string | undefined {
  const idents = [...new Set([...shown.keys(), ...held.keys()])].filter((ident) => shown.get(ident) !== held.get(ident));
  const [ident] = idents;
  if (ident === undefined) return undefined;
  return `${idents.length} differ; ${ident} is ${held.get(ident) ?? 'nothing'}, the list shows ${shown.get(ident) ?? 'nothing'}`;
}
