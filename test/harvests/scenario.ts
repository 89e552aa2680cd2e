import { asMonotonicMs, asWallMs, type Clock } from '../../src/base/clock.ts';
import { PasError } from '../../src/base/errors.ts';
import {
  type Exchange,
  type HttpResponse,
  TransportError,
  withRetry,
} from '../../src/service/http/exchange.ts';
import { type Random, seededRandom } from '../support/random.ts';
import { type HarvestClient, recordsClient, vocabularyClient } from './clients.ts';
import { ListService, TROUBLES, type Trouble } from './service.ts';

export type Tally = Record<
  'scenarios' | 'runs' | 'believed' | 'unconfirmed' | 'failed' | 'killed',
  number
>;

const HOUR_MS = 3_600_000;
/** More than any run takes of a list of that length. */
const MAX_REQUESTS = 5000;
const MAX_FAILURES = 6;
/** Changes of a list between two runs. */
const MAX_CHANGES = 5;
/** Runs until everything that was begun under a fault is complete. */
const MAX_QUIET_RUNS = 3;
/** Things that may be lost at once. */
const MAX_LOST = 50;
const MAX_LOST_SHARE = 0.1;

/** Failure of a request. */
const FAILURES: readonly ((answer: HttpResponse) => HttpResponse)[] = [
  () => {
    throw new TransportError('reset', true, 'cut');
  },
  (answer) => ({ ...answer, status: 502, body: Buffer.alloc(0) }),
  (answer) => ({ ...answer, status: 503, headers: { 'retry-after': '20' }, body: Buffer.alloc(0) }),
  (answer) => ({ ...answer, body: answer.body.subarray(0, answer.body.length / 2) }),
];

/** A promise that does not hold. */
class Broken extends Error {}
class Killed extends Error {}

/** Disturbances of one run. */
type Disturbance = {
  readonly killAfter: number;
  readonly failing: number;
  readonly changing: number;
};
const QUIET: Disturbance = { killAfter: Number.POSITIVE_INFINITY, failing: 0, changing: 0 };

type Outcome = 'believed' | 'unconfirmed' | 'failed';

/** Plays the scenario of a seed. @throws Broken */
export async function playScenario(seed: number, tally: Tally): Promise<void> {
  const random = seededRandom(seed);
  const client = random.chance(0.5) ? vocabularyClient() : recordsClient();
  tally.scenarios += 1;
  try {
    await new Scenario(random, client, tally).play();
  } finally {
    client.close();
  }
}

class Scenario {
  readonly #random: Random;
  readonly #client: HarvestClient;
  readonly #tally: Tally;
  readonly #service: ListService;
  readonly #skewMs: number;
  /**
   * Sizes that the list was shown with: a list of other records is not told from it by a size that
   * later changes lead to.
   */
  readonly #sizes = new Set<number>();
  /**
   * When, by the service's clock, the first of the runs was that were not believed or not complete.
   */
  #doubtedMs: number | undefined;
  #isCut = false;
  /** While the last run went on. */
  readonly #removed = new Set<string>();

  constructor(random: Random, client: HarvestClient, tally: Tally) {
    this.#random = random;
    this.#client = client;
    this.#tally = tally;
    this.#service = new ListService(random);
    this.#skewMs = random.pick([0, 0, -3 * HOUR_MS]);
  }

  async play(): Promise<void> {
    const random = this.#random;
    const service = this.#service;
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
    this.#random.pick([
      () => service.editOne(),
      () => service.editOne(),
      () => service.removeOne(),
      () => service.make(2),
    ])();
  }

  /** A run while something is wrong takes no more than it may. */
  async #meet(trouble: Trouble): Promise<void> {
    const service = this.#service;
    service.begin(trouble);
    const before = this.#client.holds();
    const wasAlive = service.alive();
    const wasCut = this.#isCut;
    this.#removed.clear();
    const outcome = await this.#run(this.#random.chance(0.2), this.#drawDisturbance());
    const after = this.#client.holds();
    const lost = [...before.keys()].filter(
      (ident) => wasAlive.has(ident) && !this.#removed.has(ident) && !after.has(ident),
    );
    this.#sizes.add(service.shownSize);
    const areFew = lost.length <= Math.min(MAX_LOST, service.size * MAX_LOST_SHARE);
    if (outcome === 'unconfirmed' && lost.length > 0)
      throw new Broken(`${trouble}: ${lost.length} lost in doubt`);
    if (outcome === 'believed' && !areFew && !this.#isConfirmed())
      throw new Broken(`${trouble}: ${lost.length} lost at once`);
    // An interrupted run may leave a list of changes, which may be empty.
    if (trouble === 'empty' && outcome === 'believed' && !wasCut && !this.#isConfirmed())
      throw new Broken('an empty list is believed');
    // A clock that stepped back begins the hour again.
    const toldMs = service.nowMs + service.aheadMs;
    this.#isCut = outcome === 'failed';
    // A run that was killed or failed may have noted its doubt before.
    if (outcome !== 'believed') this.#doubtedMs = Math.min(this.#doubtedMs ?? toldMs, toldMs);
    if (outcome === 'believed') this.#doubtedMs = undefined;
  }

  #isConfirmed(): boolean {
    const { nowMs, aheadMs } = this.#service;
    return this.#doubtedMs !== undefined && nowMs + aheadMs - this.#doubtedMs >= HOUR_MS - 60_000;
  }

  /** A real loss is applied after a second scan. */
  #loseMany(): void {
    const service = this.#service;
    const count = this.#random.pick([0, 0, this.#random.between(1, service.size)]);
    const left = service.size - count;
    const isTold = [...this.#sizes].every((size) => left < size || left > size + MAX_CHANGES);
    if (left > 0 && isTold) service.erase(count);
  }

  async #endRightly(): Promise<void> {
    const service = this.#service;
    service.begin('right');
    let outcome: Outcome = 'failed';
    for (let run = 0; run < MAX_QUIET_RUNS && (run < 2 || outcome !== 'believed'); run += 1) {
      service.nowMs += HOUR_MS;
      outcome = await this.#run(false, QUIET);
    }
    const difference = getDifference(service.alive(), this.#client.holds());
    const isEmpty = service.size === 0;
    if (outcome !== 'believed' && !isEmpty) throw new Broken(`at the end: ${outcome}`);
    if (difference !== undefined) throw new Broken(`at the end: ${difference}`);
  }

  #drawDisturbance(): Disturbance {
    const random = this.#random;
    return {
      killAfter: random.chance(0.2) ? random.between(1, 10) : Number.POSITIVE_INFINITY,
      failing: random.pick([0, 0, 0.1, 0.3]),
      changing: random.pick([0, 0, 0.1, 0.4]),
    };
  }

  async #run(full: boolean, disturbance: Disturbance): Promise<Outcome> {
    this.#tally.runs += 1;
    const clock = this.#clock();
    try {
      const exchange = withRetry(this.#disturbed(disturbance), {
        clock,
        random: this.#random.next,
      });
      const isBelieved = await this.#client.run({ exchange, clock, full });
      this.#tally[isBelieved ? 'believed' : 'unconfirmed'] += 1;
      return isBelieved ? 'believed' : 'unconfirmed';
    } catch (thrown) {
      if (thrown instanceof Killed) {
        this.#tally.killed += 1;
        this.#client.breakOff();
      } else if (thrown instanceof PasError || thrown instanceof TransportError)
        this.#tally.failed += 1;
      else throw thrown;
      return 'failed';
    }
  }

  /** The list changes before some requests, some fail, and a killed process makes no more. */
  #disturbed({ killAfter, failing, changing }: Disturbance): Exchange {
    const service = this.#service;
    const random = this.#random;
    let asked = 0;
    let failures = 0;
    return async (request) => {
      asked += 1;
      if (asked > MAX_REQUESTS) throw new Broken('endless');
      if (asked > killAfter) throw new Killed('killed');
      if (random.chance(changing)) this.#change();
      const answer = await service.exchange(request);
      if (failures >= MAX_FAILURES || !random.chance(failing)) return answer;
      failures += 1;
      return random.pick(FAILURES)(answer);
    };
  }

  #change(): void {
    if (this.#random.chance(0.5)) this.#service.editOne();
    else this.#removed.add(this.#service.removeOne() ?? '');
  }

  #clock(): Clock {
    const service = this.#service;
    return {
      now: () => asWallMs(service.nowMs + this.#skewMs),
      monotonicMs: () => asMonotonicMs(service.nowMs),
      sleep: async (ms) => {
        service.nowMs += Math.ceil(ms);
      },
      hold: () => {},
    };
  }
}

function getDifference(
  shown: ReadonlyMap<string, string>,
  held: ReadonlyMap<string, string>,
): string | undefined {
  const idents = [...new Set([...shown.keys(), ...held.keys()])].filter(
    (ident) => shown.get(ident) !== held.get(ident),
  );
  const [ident] = idents;
  if (ident === undefined) return undefined;
  return `${idents.length} differ; ${ident} is ${held.get(ident) ?? 'nothing'}, the list shows ${shown.get(ident) ?? 'nothing'}`;
}
