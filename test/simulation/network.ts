import { buffer } from 'node:stream/consumers';
import {
  type HttpRequest,
  type HttpResponse,
  TransportError,
} from '../../src/service/http/exchange.ts';
import type { Random } from '../support/random.ts';
import type { Arrival, Service } from './service.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Fate of a request on its way. */
export const FATES = [
  'arrives',
  /** Cut before its last byte: the service cannot have it. */
  'cut',
  'lost',
  'answer-lost',
  /** It lies somewhere for up to eight minutes, and arrives all the same. */
  'late',
  /** The line is lost at once, and it lies somewhere all the same until it arrives. */
  'astray',
  /** It is done, without an answer. */
  'unanswered',
  'slow-answer',
  /** A proxy answers in the service's place, after the service has done it or before. */
  'bad-gateway-after',
  'bad-gateway-before',
  'closed',
  /** Another client's request for the record is in progress at the service. */
  'locked',
  /** A change of a record whose answer is lost, and that a proxy sends again later. */
  'repeated',
  /** Its head arrives, and then the line is lost. */
  'answer-cut',
  /** It comes drop by drop, in the end perhaps too late. */
  'drips',
] as const;
/** `dies`: the sender is killed as soon as the request has left. */
export type Fate = (typeof FATES)[number] | 'dies';

const STEADY_WAY_MS = 10;
const QUICK_CONNECT_MS = 3;
/** Less than the service may work on a request. */
const MAX_LATE_MS = 480_000;

export type Departure = {
  readonly atMs: number;
  readonly method: string;
  readonly url: string;
  readonly isWrite: boolean;
  readonly fate: Fate;
  /** Machine and account. */
  readonly from: string;
  readonly pid: number;
};

/** Draws what becomes of each write and each harvested page. */
type Weather = { getFate(request: HttpRequest): Fate };

type Sender = {
  readonly address: string;
  readonly name: string;
  readonly pid: number;
  /** False once its process is gone: nothing it does is seen any more. */
  isAlive(): boolean;
  die(): void;
};

/**
 * The way to the services, with what may happen there. Nothing of a process that has been killed
 * leaves, and nothing reaches it.
 */
export class Network {
  readonly departures: Departure[] = [];
  readonly #time: VirtualTime;
  readonly #services: ReadonlyMap<string, Service>;
  readonly #random: Random;
  /** By each token, the service that gave it. */
  readonly #tokens = new Map<string, Service>();
  weather: Weather = { getFate: () => 'arrives' };
  /**
   * All requests take as long as one another, so that the service sees the gaps that the client
   * leaves.
   */
  isSteady = false;
  /** Longest wait for a request. */
  maxConnectMs = QUICK_CONNECT_MS;
  /** Requests to a service that must not receive them. */
  readonly betrayed: string[] = [];
  onEvent: (text: string) => void = () => {};
  /** Requests that have left and have not reached the service yet. */
  onItsWay = 0;
  /** Some arrived after their clients had stopped waiting. */
  wasLate = false;
  /** When requests that no client waited for arrived, with their addresses. */
  readonly lateArrivals: { readonly atMs: number; readonly url: string }[] = [];

  constructor(time: VirtualTime, services: readonly Service[], random: Random) {
    this.#time = time;
    this.#services = new Map(
      services.map((service) => [new URL(service.origin).hostname, service]),
    );
    this.#random = random;
  }

  /** As {@link Exchange}; a departure that was refused by the caller leaves nothing. */
  async send(request: HttpRequest, from: Sender): Promise<HttpResponse> {
    const service = this.#services.get(new URL(request.url).hostname.replace(/\.$/, ''));
    if (service === undefined) throw new TransportError('connect', false, 'there is no such host');
    await this.#time.sleep(this.#random.between(0, this.maxConnectMs));
    if (!from.isAlive()) return never();
    if (request.signal?.aborted === true)
      throw new TransportError('aborted', false, 'stopped before it was sent');
    const body = await readBytes(request.body?.open() ?? Buffer.alloc(0)).catch((thrown: Error) => {
      throw new TransportError('body', false, thrown.message, { cause: thrown });
    });
    if (!from.isAlive()) return never();
    if (request.onDeparture?.() === false)
      throw new TransportError('aborted', false, 'it was too late');
    if (!from.isAlive()) return never();
    const arrival: Arrival = {
      method: request.method,
      url: request.url,
      headers: { ...request.headers, ...this.#form(request), 'accept-encoding': 'identity' },
      body: Buffer.alloc(0),
      address: from.address,
    };
    const { method, url } = request;
    const fate = this.weather.getFate(request);
    this.departures.push({
      atMs: this.#time.nowMs,
      method,
      url,
      isWrite: isWrite(request),
      fate,
      from: from.name,
      pid: from.pid,
    });
    this.onEvent(`${from.name} ${request.method} ${new URL(request.url).pathname} ${fate}`);
    const giver = this.#tokens.get(
      request.headers?.['authorization']?.replace(/^Bearer /, '') ?? '',
    );
    if (giver !== undefined && giver !== service)
      this.betrayed.push(`a token of ${giver.origin} went to ${service.origin}`);
    const answer = this.#carry(service, { ...arrival, body }, fate);
    if (fate === 'dies') from.die();
    return this.#within(
      request,
      answer.then((response) => (from.isAlive() ? response : never())),
    );
  }

  #form({ body }: HttpRequest): Record<string, string> {
    return body === undefined
      ? {}
      : { 'content-type': body.contentType, 'content-length': String(body.lengthBytes) };
  }

  async #carry(service: Service, arrival: Arrival, fate: Fate): Promise<HttpResponse> {
    const take = async (afterMs: number, isAwaited = true): Promise<HttpResponse> => {
      this.onItsWay += 1;
      await this.#time.sleep(afterMs);
      this.onItsWay -= 1;
      if (!isAwaited) this.lateArrivals.push({ atMs: this.#time.nowMs, url: arrival.url });
      const response = await service.take(arrival);
      if (new URL(arrival.url).pathname === '/api/token-auth/' && response.status === 200)
        this.#tokens.set(JSON.parse(response.body.toString()).token, service);
      return response;
    };
    const drawnMs = this.#random.between(1, 20);
    this.wasLate ||= fate === 'late' || fate === 'astray' || fate === 'repeated';
    const wayMs = this.isSteady ? STEADY_WAY_MS : drawnMs;
    switch (fate) {
      case 'cut':
        await this.#time.sleep(wayMs);
        throw new TransportError('reset', arrival.body.length === 0, 'the connection was cut');
      case 'lost':
        await this.#time.sleep(wayMs);
        throw new TransportError('reset', true, 'the connection was cut');
      case 'answer-lost':
        await take(wayMs);
        throw new TransportError('reset', true, 'the connection was cut');
      case 'late':
        return take(this.#random.between(500, MAX_LATE_MS));
      case 'astray':
        void take(this.#random.between(500, MAX_LATE_MS), false);
        await this.#time.sleep(wayMs);
        throw new TransportError('reset', true, 'the connection was cut');
      case 'dies':
      case 'unanswered':
        await take(wayMs);
        return never();
      case 'slow-answer': {
        const response = await take(wayMs);
        await this.#time.sleep(this.#random.between(500, 40_000));
        return response;
      }
      case 'answer-cut': {
        const head = await take(wayMs);
        throw new TransportError('body', true, 'the answer was cut', { head });
      }
      case 'drips': {
        const response = await take(wayMs);
        await this.#time.sleep(this.#random.between(20_000, 200_000));
        return response;
      }
      case 'bad-gateway-after':
        await take(wayMs);
        return page(502);
      case 'bad-gateway-before':
        await this.#time.sleep(wayMs);
        return page(502);
      case 'closed':
        await this.#time.sleep(wayMs);
        return { status: 503, headers: {}, body: Buffer.from('{"detail":"closed"}') };
      case 'locked':
        await this.#time.sleep(wayMs);
        return { status: 429, headers: {}, body: Buffer.from('{"detail":"locked"}') };
      case 'repeated': {
        await take(wayMs);
        void take(this.#random.between(50, MAX_LATE_MS), false);
        throw new TransportError('reset', true, 'the connection was cut');
      }
      default: {
        const response = await take(wayMs);
        await this.#time.sleep(this.#random.between(1, 60));
        return response;
      }
    }
  }

  /** Like the client's own connections: a late or cancelled answer is none. */
  #within(
    { answerTimeoutMs = 120_000, signal }: HttpRequest,
    answer: Promise<HttpResponse>,
  ): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void =>
        over(() => reject(new TransportError('aborted', true, 'stopped while it was in progress')));
      const forget = this.#time.plan(answerTimeoutMs, () =>
        over(() => reject(new TransportError('timeout', true, 'no answer came in time'))),
      );
      const over = (tell: () => void): void => {
        forget();
        signal?.removeEventListener('abort', onAbort);
        tell();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      answer.then(
        (response) => over(() => resolve(response)),
        (thrown: unknown) => over(() => reject(thrown)),
      );
    });
  }
}

/** Kind of an entry: a find, a number or a photograph. */
export function isWrite({ method, headers }: Pick<HttpRequest, 'method' | 'headers'>): boolean {
  return method === 'PATCH' || headers?.['content-digest'] !== undefined;
}

function page(status: number): HttpResponse {
  return {
    status,
    headers: { 'content-type': 'text/html' },
    body: Buffer.from('<html><body>Bad Gateway</body></html>'),
  };
}

async function readBytes(body: Buffer | NodeJS.ReadableStream): Promise<Buffer> {
  return Buffer.isBuffer(body) ? body : buffer(body);
}

/** For a process that is gone. */
function never(): Promise<never> {
  return new Promise(() => {});
}
