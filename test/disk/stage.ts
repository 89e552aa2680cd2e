import { createServer } from 'node:http';
import { makeAddresses } from '../../mock-server/base/addresses.ts';
import { serve } from '../../mock-server/server.ts';
import { createMock } from '../../mock-server/state/create-mock.ts';
import { listen } from '../support/raw-server.ts';
import type { Service } from '../support/run-pas.ts';

/** The mock server in this process, which can be restored to where it was in no time. */
export type Stage = Service & {
  readonly mock: Awaited<ReturnType<typeof createMock>>;
  /**
   * From here on {@link rewind} brings it back to now, and from there on only to what was marked
   * before.
   */
  mark(name?: string): void;
  rewind(name?: string): void;
  close(): Promise<void>;
};

/** @param onServed told when it has done what a request asks for, and before it answers the next */
export async function openStage(onServed: (path: string) => void = () => {}): Promise<Stage> {
  const server = createServer();
  const listening = await listen(server);
  const mock = await createMock({ minIntervalMs: 0 }, makeAddresses(listening.url));
  server.on('request', async (message, response) => {
    await serve(mock, message, response);
    onServed(message.url ?? '');
  });
  const { database, addresses } = mock;
  return {
    mock,
    base_url: addresses.baseUrl,
    oai_base: addresses.oaiBase,
    schema_base: addresses.schemaBase,
    mark: (name = 'marked') => database.exec(`savepoint ${name}`),
    rewind: (name = 'marked') => {
      // Requests of a killed client may still be in progress.
      server.closeAllConnections();
      database.exec(`rollback to ${name}`);
      // Times are compared by the second: what was before is over.
      mock.clock.reset();
      mock.clock.advance(2100);
      mock.faults.set([]);
      mock.journal.clear();
      mock.locks.clear();
    },
    close: async () => {
      await listening[Symbol.asyncDispose]();
      mock.dispose();
    },
  };
}
