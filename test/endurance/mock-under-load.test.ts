import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, importXml } from '../support/contract-requests.ts';
import { startMockProcess } from '../support/mock-process.ts';

/** Longer by hand: ten minutes are 600. */
const SECONDS = Number(process.env['MOCK_LOAD_SECONDS'] ?? 12);
const CLIENTS = 50;
/** Two tenants fill their journals soon, so that memory must be level; twenty take half an hour. */
const TENANTS = Number(process.env['MOCK_LOAD_TENANTS'] ?? 20);
const SAMPLES = 10;
/** Memory not yet collected. A leak of 1 KiB for each request would be more. */
const MAX_GROWTH_BYTES = 96 * 1024 * 1024;

function memoryBytes(pid: number): number {
  const [, kib = ''] =
    /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kib) * 1024;
}

test.skipIf(process.platform !== 'linux')(
  'fifty clients at once on many tenants are all answered, and memory stays',
  { timeout: 300_000 + SECONDS * 1000 },
  async () => {
    await using mock = await startMockProcess('--min-interval', '0', '--records', '100000');
    const ask = async (
      control: string,
      method: string,
      path: string,
      body?: unknown,
    ): Promise<unknown> => {
      const answer = await fetch(control + path, {
        method,
        body: JSON.stringify(body),
      });
      expect(answer.status).toBe(200);
      return answer.json();
    };
    const names = Array.from({ length: TENANTS }, (_, at) => `t${at}`);
    const tenants = (await Promise.all(
      names.map((name) => ask(mock.control_url, 'POST', '/tenants', { name })),
    )) as Tenant[];
    const tokens = await Promise.all(
      tenants.map(({ base_url }) => fetchToken({ url: base_url }, 'archaeologist')),
    );
    const startMs = performance.now();
    const shareOver = () => (performance.now() - startMs) / (SECONDS * 1000);
    const isOver = () => shareOver() > 1;
    const memory: number[] = [];
    let askedCount = 0;
    const client = async (at: number): Promise<void> => {
      const tenant = tenants[at % TENANTS] as Tenant;
      const served = { url: tenant.base_url, server: tenant };
      const token = tokens[at % TENANTS] ?? '';
      const document = makeDocument(served, smallestFind());
      while (!isOver()) {
        const { status, headers } = await importXml(served, document, { token });
        expect(status).toBe(201);
        // Created state is removed, so that only leaks would add up.
        const ident = headers.get('x-record-id');
        await ask(tenant.control_url, 'POST', `/records/${ident}/delete`, { permanent: true });
        expect((await fetch(`${tenant.oai_base}/2.2/oai?verb=Identify`)).status).toBe(200);
        askedCount += 2;
        if (shareOver() * SAMPLES >= memory.length) memory.push(memoryBytes(mock.child.pid ?? 0));
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, at) => client(at)));
    console.log(
      `${askedCount} requests; MiB over time: ${memory.map((bytes) => Math.round(bytes / 2 ** 20)).join(', ')}`,
    );
    expect((memory.at(-1) ?? 0) - (memory[Math.floor(memory.length / 2)] ?? 0)).toBeLessThan(
      MAX_GROWTH_BYTES,
    );
  },
);

type Tenant = {
  readonly base_url: string;
  readonly oai_base: string;
  readonly schema_base: string;
  readonly control_url: string;
};
