import { type MockServer, startMockServer } from 'pas-finds/mock-server';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Client } from './client.js';

let mock: MockServer;
let client: Client;

beforeAll(async () => {
  mock = await startMockServer({ minIntervalMs: 0 });
});
beforeEach(async () => {
  await control('POST', '/reset');
  client = new Client(mock.base_url);
});
afterAll(() => mock.close());

async function control<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(mock.control_url + path, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  return (await answer.json()) as T;
}

const finds = async () => (await control<{ counts: { finds: number } }>('GET', '/state')).counts.finds;
const imports = async () => {
  const journal = await control<{ method: string; path: string; status: number; gap_ms: number | null }[]>('GET', '/journal');
  return journal.filter(({ path }) => path === '/api/pas/import-xml');
};

const document = () => `<?xml version="1.0" encoding="UTF-8"?>
<svc:svc xmlns:svc="${mock.schema_base}/2.2/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="${mock.schema_base}/2.2/ ${mock.schema_base}/2.2/svc.xsd">
  <svc:samostatny_nalez>
    <svc:ident_cely>:tba</svc:ident_cely>
    <svc:projekt id="C-202400101">C-202400101</svc:projekt>
    <svc:stav>1</svc:stav>
    <svc:geom_system>4326</svc:geom_system>
    <svc:pristupnost xml:lang="cs" id="HES-000866">badatel</svc:pristupnost>
  </svc:samostatny_nalez>
</svc:svc>`;

test('a find is created', async () => {
  const before = await finds();
  expect(await client.importFind(document())).toMatch(/^C-202400101-N\d{5}$/);
  expect(await finds()).toBe(before + 1);
});

test('a throttled import is sent again, and only then', async () => {
  await control('PUT', '/faults', [{ endpoint: 'import', fault: 'throttle', retry_after: 1, when: { nth: 1 } }]);
  await client.importFind(document());
  expect((await imports()).map(({ status }) => status)).toEqual([429, 201]);
});

test('after an error that may hide a success nothing is sent twice', async () => {
  const before = await finds();
  await control('PUT', '/faults', [{ endpoint: 'import', fault: '500-after-save', when: { nth: 1 } }]);
  expect(await client.importFind(document())).toBeUndefined();
  expect(await imports()).toHaveLength(1);
  expect(await finds()).toBe(before + 1);
});
