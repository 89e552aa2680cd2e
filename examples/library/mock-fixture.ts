// A fixture for Vitest: one mock server for the file, and on it a service of its own for each test,
// so that tests may run side by side.
import { startMockServer } from 'pas-finds/mock-server';
import { afterAll, test as base, vi } from 'vitest';

export type Service = {
  readonly base_url: string;
  readonly schema_base: string;
  readonly control_url: string;
  /** Asks the service's control interface; a body is sent as JSON. */
  control<T>(method: string, path: string, body?: unknown): Promise<T>;
};

// A busy machine needs seconds to start a service.
vi.setConfig({ testTimeout: 60_000 });

const server = await startMockServer({ minIntervalMs: 0 });
afterAll(() => server.close());

async function ask<T>(method: string, url: string, body?: unknown): Promise<T> {
  const answer = await fetch(url, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

export const test = base.extend<{ service: Service }>({
  service: async ({ onTestFinished }, use) => {
    const tenants = `${server.control_url}/tenants`;
    const tenant = await ask<Omit<Service, 'control'> & { readonly name: string }>(
      'POST',
      tenants,
      {},
    );
    onTestFinished(async () => {
      await ask('DELETE', `${tenants}/${tenant.name}`);
    });
    await use({
      ...tenant,
      control: (method, path, body) => ask(method, tenant.control_url + path, body),
    });
  },
});
