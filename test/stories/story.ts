import { type Clock, monotonicMs, wallMs } from '../../src/base/clock.ts';
import { PasError } from '../../src/base/errors.ts';
import { type Exchange, TransportError } from '../../src/http/exchange.ts';
import { HARVEST_RETRY, withRetry } from '../../src/http/retry.ts';
import { type Random, seededRandom } from '../chaos/random.ts';
import type { TestMock } from '../support/start-mock.ts';
import { recordsClient, type StoryClient, vocabularyClient } from './clients.ts';
import { type ListName, type Shown, StoryService } from './service.ts';

/** What stories end with, over all of them. */
export type Tally = {
  stories: number;
  runs: number;
  complete: number;
  failed: number;
  killed: number;
  faults: number;
  acts: number;
  mixed: number;
};

export const emptyTally = (): Tally => ({ stories: 0, runs: 0, complete: 0, failed: 0, killed: 0, faults: 0, acts: 0, mixed: 0 });

/** More than any list of a story takes, however often it is begun again. */
const MAX_REQUESTS = 3000;
const MAX_RUN_MS = 3 * 86_400_000;
const MAX_ACTS = 12;
const MAX_FAULTS = 6;
const MAX_QUIET_RUNS = 3;
const FAULTS = [
  '502',
  '503',
  '504',
  'oai-503',
  'truncate',
  'malformed',
  'reset-before-save',
  '500-before-save',
  'bad-resumption-token',
  'throttle',
] as const;

class Killed extends Error {}
class Endless extends Error {}

/** What went against a promise, with the place in the story. */
export class Broken extends Error {}

const VERSIONS = ['2.0', '2.1', '2.2'] as const;
type Cast = {
  readonly deployed: boolean;
  readonly version: (typeof VERSIONS)[number];
  readonly command: string;
  readonly list: ListName;
};

/** Neighbouring numbers play in either mode, with every version and both commands. */
export function castOf(number: number): Cast {
  const version = VERSIONS[Math.floor(number / 2) % VERSIONS.length] ?? '2.2';
  const turn = Math.floor(number / 6) % 4;
  const list = turn === 3 ? 'samostatny_nalez' : 'osoba';
  return { deployed: number % 2 === 1, version, command: turn % 2 === 0 ? 'harvest-vocab' : 'harvest', list };
}

/** Plays one story to its end. @throws Broken */
export async function playStory(mock: TestMock, send: Exchange, number: number, seed: number, tally: Tally): Promise<void> {
  const random = seededRandom(seed);
  const { version, command, list } = castOf(number);
  const service = new StoryService(mock, random, list);
  await service.begin();
  const place = { oaiBase: service.oaiBase, version, list };
  const client = command === 'harvest' ? recordsClient(place) : vocabularyClient(place);
  tally.stories += 1;
  try {
    await new Story(service, client, version, random, send, tally).play();
  } finally {
    client.close();
  }
}

class Story {
  readonly #service: StoryService;
  readonly #client: StoryClient;
  readonly #version: string;
  readonly #random: Random;
  readonly #send: Exchange;
  readonly #tally: Tally;
  /** How far the client's clock is off. */
  readonly #skewMs: number;
  /** What the list showed, at every moment since the pass under way began. */
  #moments: Shown[] = [];
  /** Something was shown, before that began, that no list of changes tells. */
  #isUntold = false;
  /** When what no list of changes tells was shown last. */
  #untoldMs = Number.NEGATIVE_INFINITY;
  /** When a run last said that all is there. */
  #completeMs = 0;
  /** Settled when the last request is. */
  #lastAnswer: Promise<unknown> = Promise.resolve();

  constructor(service: StoryService, client: StoryClient, version: string, random: Random, send: Exchange, tally: Tally) {
    this.#service = service;
    this.#client = client;
    this.#version = version;
    this.#random = random;
    this.#send = send;
    this.#tally = tally;
    this.#skewMs = random.pick([0, 0, 86_400_000, -3 * 3_600_000]);
  }

  async play(): Promise<void> {
    const random = this.#random;
    for (let runs = random.between(1, 4); runs > 0; runs -= 1) {
      for (let acts = random.between(0, 4); acts > 0; acts -= 1) await this.#act();
      await this.#run({
        full: random.chance(0.2),
        killAfter: random.chance(0.3) ? random.between(1, 25) : Number.POSITIVE_INFINITY,
        acts: random.pick([0, 0.1, 0.4]),
        faults: random.pick([0, 0, 0.1, 0.3]),
      });
    }
    await this.#endQuietly();
  }

  async #endQuietly(): Promise<void> {
    await this.#service.comeToRest();
    let thrown: Error | undefined;
    let full = false;
    // A run may have to complete first what was begun while the list still changed.
    for (let run = 0; run < MAX_QUIET_RUNS && (run === 0 || thrown !== undefined || this.#hasUntold); run += 1) {
      full = this.#hasUntold;
      thrown = await this.#run({ full, killAfter: Number.POSITIVE_INFINITY, acts: 0, faults: 0 });
    }
    if (thrown !== undefined) throw new Broken('the service is at rest, and no run ends well', { cause: thrown });
    const difference = differenceOf(await this.#service.shown(this.#version), this.#client.holds());
    if (difference !== undefined) throw new Broken(`at the end${full ? ', read in full' : ''}: ${difference}`);
  }

  get #hasUntold(): boolean {
    return this.#isUntold || this.#untoldMs >= this.#completeMs;
  }

  async #act(): Promise<void> {
    this.#tally.acts += 1;
    if (await this.#service.act()) this.#untoldMs = this.#service.settledMs;
  }

  /** @returns what the run ended with, undefined for an end that says that all is there */
  async #run(plan: { full: boolean; killAfter: number; acts: number; faults: number }): Promise<Error | undefined> {
    const service = this.#service;
    this.#tally.runs += 1;
    this.#moments.push(await service.shown(this.#version));
    const clock = this.#clock();
    try {
      const exchange = withRetry(this.#spoiled(plan), { clock, random: this.#random.next, ...HARVEST_RETRY });
      const accepted = { full: plan.full, rights: service.role, acceptLosses: true };
      const { isFull } = await this.#client.run({ exchange, clock, ...accepted });
      this.#tally.complete += 1;
      this.#check(isFull);
      return undefined;
    } catch (thrown) {
      if (thrown instanceof Broken || !(thrown instanceof Error)) throw thrown;
      if (thrown instanceof Endless) throw new Broken(`endless: ${thrown.message}`);
      if (thrown instanceof Killed) {
        this.#tally.killed += 1;
        this.#client.breakOff();
      } else if (thrown instanceof PasError || thrown instanceof TransportError) this.#tally.failed += 1;
      else throw new Broken(`a bug: ${thrown.message}`, { cause: thrown });
      return thrown;
    } finally {
      await this.#lastAnswer;
    }
  }

  /** What an end that says "complete" promises: the list as it was at some moment since the pass began. */
  #check(isFull: boolean): void {
    const held = this.#client.holds();
    if (isFull || !this.#hasUntold) {
      const never = [...new Set([...held.keys(), ...this.#moments.flatMap((moment) => [...moment.keys()])])].filter((ident) =>
        this.#moments.every((moment) => moment.get(ident) !== held.get(ident)),
      );
      if (never.length > 0) {
        const [ident = ''] = never;
        const shown = [...new Set(this.#moments.map((moment) => moment.get(ident) ?? 'nothing'))].join(', then ');
        throw new Broken(`a run said that all is there: ${ident} is ${held.get(ident) ?? 'nothing'}, the list showed ${shown}`);
      }
      if (this.#moments.every((moment) => differenceOf(moment, held) !== undefined)) this.#tally.mixed += 1;
    }
    // A clock that was ahead while a run listed, and is right when time has caught up with it, leaves no sign of what it hid.
    const isHidden = isFull ? this.#untoldMs >= this.#completeMs : this.#hasUntold;
    this.#isUntold = isHidden || this.#service.isAhead;
    this.#completeMs = this.#service.nowMs;
    this.#moments = [];
  }

  /** Requests as a bad day has them: things happen before them, some go wrong, one may be the last. */
  #spoiled(plan: { killAfter: number; acts: number; faults: number }): Exchange {
    const [service, random] = [this.#service, this.#random];
    const sinceMs = service.nowMs;
    let [asked, acts, faults] = [0, 0, 0];
    const spoiled: Exchange = async (request) => {
      asked += 1;
      if (asked > plan.killAfter) throw new Killed('killed');
      if (asked > MAX_REQUESTS || service.nowMs - sinceMs > MAX_RUN_MS) throw new Endless(`${asked} requests`);
      await service.advance(random.between(20, 3000));
      const acting = acts < MAX_ACTS && random.chance(plan.acts);
      if (acting) await this.#act();
      if (acting) acts += 1;
      if (acting || service.isUnsettled) this.#moments.push(await service.shown(this.#version));
      if (faults >= MAX_FAULTS || !random.chance(plan.faults)) return this.#send(request);
      faults += 1;
      this.#tally.faults += 1;
      await service.spoil(random.pick(FAULTS));
      return this.#send(request).finally(() => service.unspoil());
    };
    // A page may be asked for ahead: its fault must not meet what the story itself asks for, nor the next run.
    return (request) => {
      const answer = this.#lastAnswer.then(() => spoiled(request));
      this.#lastAnswer = answer.catch(() => {});
      return answer;
    };
  }

  /** Time passes for the service when the client waits, whatever the client's clock says. */
  #clock(): Clock {
    const service = this.#service;
    return {
      now: () => wallMs(service.nowMs + this.#skewMs),
      monotonicMs: () => monotonicMs(service.nowMs),
      sleep: (ms) => service.advance(Math.ceil(ms)),
      hold: () => {},
    };
  }
}

function differenceOf(shown: Shown, held: Shown): string | undefined {
  const idents = [...new Set([...shown.keys(), ...held.keys()])].filter((ident) => shown.get(ident) !== held.get(ident));
  if (idents.length === 0) return undefined;
  const [ident = ''] = idents;
  return `${idents.length} differ; ${ident} is ${held.get(ident) ?? 'nothing'}, the list shows ${shown.get(ident) ?? 'nothing'}`;
}
