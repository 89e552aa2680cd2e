import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { addressesOf } from '../../mock-server/addresses.ts';
import type { MockServerOptions } from '../../mock-server/options.ts';
import { serve } from '../../mock-server/server.ts';
import { createMock } from '../../mock-server/state.ts';
import type { HttpResponse } from '../../src/http/exchange.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A request as it reaches the service. */
export type Arrival = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly address: string;
};

/** The mock server itself, without its sockets. */
export type Service = {
  readonly origin: string;
  readonly mock: Awaited<ReturnType<typeof createMock>>;
  take(arrival: Arrival): Promise<HttpResponse>;
};

export async function openService(origin: string, time: VirtualTime, options: MockServerOptions = {}): Promise<Service> {
  const mock = await createMock(options, addressesOf(origin), { time: { now: () => time.nowMs, sleep: (ms) => time.rest(ms) } });
  return { origin, mock, take: (arrival) => time.work(() => answered(mock, arrival)) };
}

function answered(mock: Service['mock'], { method, url, headers, body, address }: Arrival): Promise<HttpResponse> {
  return new Promise((resolve) => {
    const { pathname, search, host } = new URL(url);
    const message = Object.assign(Readable.from(body.length === 0 ? [] : [body]), {
      method,
      url: pathname + search,
      headers: { host, ...headers },
      complete: true,
      socket: { remoteAddress: address, destroy: () => {}, resetAndDestroy: () => {} },
    });
    const head = { status: 0, headers: {} as Record<string, string> };
    // What the server does to a response, and no more.
    const response = {
      writeHead(status: number, said: Record<string, string | number>) {
        head.status = status;
        for (const [name, value] of Object.entries(said)) head.headers[name.toLowerCase()] = String(value);
      },
      end: (said: Buffer | undefined) => resolve({ ...head, body: said ?? Buffer.alloc(0) }),
      destroy: () => {},
    };
    void serve(mock, message as unknown as IncomingMessage, response as unknown as ServerResponse);
  });
}

export type ServiceRecord = {
  readonly ident: string;
  readonly note: string;
  readonly number: string;
  readonly maker: string;
  /** SHA-512 of its photographs. */
  readonly digests: readonly string[];
};

/** All finds that were made in a project, as the service has them. */
export function recordsOf({ mock }: Pick<Service, 'mock'>, project: string): ServiceRecord[] {
  const rows = mock.database
    .prepare(
      `select ident, creator, body from records where project = ? and deleted = 0 and entity = 'samostatny_nalez' order by ident`,
    )
    .all(project) as { ident: string; creator: string; body: string }[];
  return rows.map(({ ident, creator, body }) => ({
    ident,
    maker: creator,
    note: textIn(body, 'poznamka'),
    number: textIn(body, 'evidencni_cislo'),
    digests: [...body.matchAll(/"sha_?512":\s*"([\da-f]{128})"/g)].map(([, digest = '']) => digest),
  }));
}

function textIn(body: string, element: string): string {
  const value = (JSON.parse(body) as { [name: string]: unknown })[element];
  return typeof value === 'string' ? value : '';
}
