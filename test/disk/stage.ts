import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addressesOf } from '../../mock-server/addresses.ts';
import { serve } from '../../mock-server/server.ts';
import { createMock } from '../../mock-server/state.ts';
import type { Service } from '../support/run-pas.ts';

/** The mock server in this process, which can be put back to where it was in no time. */
export type Stage = Service & {
  readonly mock: Awaited<ReturnType<typeof createMock>>;
  /** From here on {@link rewind} brings it back to now. */
  mark(): void;
  rewind(): void;
  close(): Promise<void>;
};

export async function openStage(): Promise<Stage> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const mock = await createMock({ minIntervalMs: 0 }, addressesOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  server.on('request', (message, response) => void serve(mock, message, response));
  const { database, addresses } = mock;
  return {
    mock,
    base_url: addresses.baseUrl,
    oai_base: addresses.oaiBase,
    schema_base: addresses.schemaBase,
    mark: () => database.exec('savepoint marked'),
    rewind: () => {
      // What a client that was killed had under way may still be there.
      server.closeAllConnections();
      database.exec('rollback to marked');
      // Times are compared by the second: what was before is over.
      mock.clock.reset();
      mock.clock.advance(2100);
      mock.faults.set([]);
      mock.journal.clear();
      mock.locks.clear();
    },
    close: () =>
      new Promise((ended) => {
        server.closeAllConnections();
        server.close(() => {
          mock.dispose();
          ended();
        });
      }),
  };
}
