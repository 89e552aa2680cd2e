import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { makeAddresses } from '../../mock-server/base/addresses.ts';
import { serve } from '../../mock-server/server.ts';
import { createMock } from '../../mock-server/state/create-mock.ts';
import type { MockServerOptions } from '../../mock-server/state/options.ts';
import { orderChildren } from '../../mock-server/state/records/child-order.ts';
import { makeHistoryEntry } from '../../mock-server/state/records/history.ts';
import { getList } from '../../mock-server/state/records/record.ts';
import type { HttpResponse } from '../../src/service/http/exchange.ts';
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
  /** Tells if a request reached it since it was last reset. */
  wasUsed(): boolean;
  renew(): void;
  /** Makes a backup. */
  keep(): void;
  /** Is as it was when it was kept. @returns whether it was */
  putBack(): boolean;
  /** Whom a user name signs in. */
  nameAccount(username: string, user: string): void;
};

export async function openService(
  origin: string,
  time: VirtualTime,
  options: MockServerOptions = {},
): Promise<Service> {
  const mock = await createMock(options, makeAddresses(origin), {
    time: { now: () => time.nowMs, sleep: (ms) => time.rest(ms) },
  });
  const { archive, database, harvestIndex } = mock;
  const state = { used: true, kept: false };
  return {
    origin,
    mock,
    take: (arrival) => {
      state.used = true;
      return time.work(() => answered(mock, arrival));
    },
    wasUsed: () => state.used,
    renew: () => {
      if (state.kept) database.exec('release kept');
      mock.reset();
      state.used = false;
      state.kept = false;
    },
    keep: () => {
      if (!state.kept) database.exec('savepoint kept');
      state.kept = true;
    },
    putBack: () => {
      if (!state.kept) return false;
      database.exec('rollback to kept');
      harvestIndex.clear();
      // Values derived from it are invalid now.
      archive.touchAll();
      return true;
    },
    nameAccount: (username, user) => {
      const { changes } = database
        .prepare('update accounts set user = ? where username = ? and user <> ?')
        .run(user, username, user);
      if (changes > 0) database.prepare('delete from tokens').run();
    },
  };
}

/** Does it as the service's staff does. */
export function changeRecord(
  { mock }: Service,
  ident: string,
  does: 'number' | 'correction' | 'deletion',
  value: string,
): void {
  const { archive, clock, counters } = mock;
  const record = archive.findLive('samostatny_nalez', ident);
  if (record === undefined) return;
  if (does === 'deletion') {
    archive.remove(ident);
    return;
  }
  const changes =
    does === 'number'
      ? { evidencni_cislo: value }
      : { lokalizace: value, hloubka: '12', pocet: value };
  const historie = [
    ...getList(record.body['historie']),
    makeHistoryEntry(counters, 'SN-UPD', 'U-000020', clock.now(), ''),
  ];
  archive.put({
    entity: 'samostatny_nalez',
    body: orderChildren('samostatny_nalez', { ...record.body, ...changes, historie }),
  });
}

function answered(
  mock: Service['mock'],
  { method, url, headers, body, address }: Arrival,
): Promise<HttpResponse> {
  return new Promise((resolve) => {
    const { pathname, search, host } = new URL(url);
    const message = Object.assign(Readable.from(body.length === 0 ? [] : [body]), {
      method,
      url: pathname + search,
      headers: { host, ...headers },
      complete: true,
      socket: {
        remoteAddress: address,
        destroy: () => {},
        resetAndDestroy: () => {},
        once: () => {},
        off: () => {},
      },
    });
    const head = { status: 0, headers: {} as Record<string, string> };
    // Changes of a response by the server, and no more.
    const response = {
      writeHead(status: number, headers: Record<string, string | number>) {
        head.status = status;
        for (const [name, value] of Object.entries(headers))
          head.headers[name.toLowerCase()] = String(value);
      },
      end: (body: Buffer | undefined) => resolve({ ...head, body: body ?? Buffer.alloc(0) }),
      destroy: () => {},
    };
    void serve(mock, message as unknown as IncomingMessage, response as unknown as ServerResponse);
  });
}

export type ServiceRecord = {
  readonly ident: string;
  readonly note: string;
  /** In words. */
  readonly place: string;
  readonly number: string;
  readonly maker: string;
  /** SHA-512 of its photographs. */
  readonly digests: readonly string[];
  readonly isDeleted: boolean;
};

/** All finds that were made in a project, as the service has them, also those that were deleted. */
export function listRecords({ mock }: Pick<Service, 'mock'>, project: string): ServiceRecord[] {
  const rows = mock.database
    .prepare(
      `select ident, creator, body, deleted from records where project = ? and entity = 'samostatny_nalez' order by ident`,
    )
    .all(project) as { ident: string; creator: string; body: string; deleted: number }[];
  return rows.map(({ ident, creator, body, deleted }) => {
    const { poznamka: note, evidencni_cislo: number } = JSON.parse(body) as {
      [name: string]: unknown;
    };
    return {
      ident,
      isDeleted: deleted === 1,
      maker: creator,
      note: getText(note),
      place: /"lokalizace":\s*"([^"]*)"/.exec(body)?.[1] ?? '',
      number: getText(number),
      digests: [...body.matchAll(/"sha_?512":\s*"([\da-f]{128})"/g)].map(
        ([, digest = '']) => digest,
      ),
    };
  });
}

function getText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
