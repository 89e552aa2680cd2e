import { describe, expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, importXml } from '../support/contract-requests.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';

type Tenant = {
  readonly name: string;
  readonly base_url: string;
  readonly schema_base: string;
  readonly control_url: string;
};

async function makeTenant(
  mock: TestMock,
  wanted: Readonly<Record<string, unknown>> = {},
): Promise<Tenant> {
  const { status, value } = await mock.control('POST', '/tenants', wanted);
  expect([status, value]).toEqual([200, expect.objectContaining({ base_url: expect.any(String) })]);
  return value as Tenant;
}

async function ask(
  tenant: Tenant,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; value: unknown }> {
  const response = await fetch(tenant.control_url + path, {
    method,
    body: JSON.stringify(body),
  });
  return { status: response.status, value: await response.json() };
}

const countCount = async (tenant: Tenant) =>
  ((await ask(tenant, 'GET', '/state')).value as { counts: { finds: number } }).counts.finds;

async function send(tenant: Tenant, note: string): Promise<number> {
  const url = tenant.base_url;
  const token = await fetchToken({ url }, 'archaeologist');
  const find = smallestFind({ poznamka: `<svc:poznamka>${note}</svc:poznamka>` });
  const answer = await importXml({ url }, makeDocument({ server: tenant }, find), { token });
  return answer.status;
}

describe('Tenants', () => {
  test('six at once do not touch each other: records, throttle, clock, faults and journal are each one’s own', async () => {
    await using mock = await startMock();
    const tenants = await Promise.all(
      Array.from({ length: 6 }, (_, index) => makeTenant(mock, { name: `job-${index}` })),
    );
    const before = await countCount(tenants[0] as Tenant);
    await ask(tenants[0] as Tenant, 'PUT', '/faults', [
      { endpoint: 'import', fault: '503', when: { every: 1 } },
    ]);
    await ask(tenants[1] as Tenant, 'POST', '/clock', {
      set: '2031-01-01T00:00:00Z',
      frozen: true,
    });
    await ask(tenants[2] as Tenant, 'PUT', '/settings', { access_mode: 'closed' });
    const statuses = await Promise.all(
      tenants.map(async (tenant, index) => {
        const sent: number[] = [];
        for (let find = 0; find <= index % 3; find += 1)
          sent.push(await send(tenant, `${tenant.name} ${find}`));
        return sent;
      }),
    );
    expect(statuses[0]).toEqual([503]);
    expect(statuses[2]).toEqual([503, 503, 503]);
    expect(
      statuses
        .flatMap((sent, index) => (index === 0 || index === 2 ? [] : sent))
        .every((status) => status === 201),
    ).toBe(true);
    const counts = await Promise.all(
      tenants.map(async (tenant) => (await countCount(tenant)) - before),
    );
    expect(counts).toEqual(
      tenants.map((_, index) => (index === 0 || index === 2 ? 0 : (index % 3) + 1)),
    );
    const journals = await Promise.all(
      tenants.map(
        async (tenant) => (await ask(tenant, 'GET', '/journal')).value as { path: string }[],
      ),
    );
    expect(journals.map(({ length }) => length)).toEqual(
      tenants.map((_, index) => 2 * ((index % 3) + 1)),
    );
    expect(journals[5]?.[0]?.path).toBe('/api/token-auth/');
    expect((await mock.control('GET', '/journal')).value).toEqual([]);
  });

  test('are harvested at their own addresses, and share the namespace of documents', async () => {
    await using mock = await startMock();
    const tenant = await makeTenant(mock, { name: 'harvested' });
    const text = await (await fetch(`${tenant.base_url}/2.2/oai?verb=Identify`)).text();
    expect(text).toContain(`<baseURL>${tenant.base_url}/2.2/oai</baseURL>`);
    const page = await (
      await fetch(`${tenant.base_url}/2.2/oai?verb=ListRecords&metadataPrefix=oai_svc&set=heslo`)
    ).text();
    expect(page).toContain(`<identifier>${tenant.base_url}/id/HES-`);
    expect(tenant.schema_base).toBe(mock.server.schema_base);
    const ident = /<identifier>([^<]*)</.exec(page)?.[1] ?? '';
    const record = await fetch(
      `${tenant.base_url}/2.2/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier=${ident}`,
    );
    expect(await record.text()).toContain('<GetRecord>');
  });

  test('are created with the requested options, listed, and removed with all their data', async () => {
    await using mock = await startMock();
    const named = await makeTenant(mock, {
      name: 'small',
      seed: 'empty',
      training: true,
      settings: { page_size: 7 },
    });
    expect((await ask(named, 'GET', '/settings')).value).toMatchObject({ page_size: 7 });
    expect((await fetch(`${named.base_url}/2.2/oai?verb=Identify`)).status).toBe(404);
    const nameless = await makeTenant(mock);
    expect(
      ((await mock.control('GET', '/tenants')).value as Tenant[]).map(({ name }) => name),
    ).toEqual(['small', nameless.name]);
    expect((await mock.control('DELETE', '/tenants/small')).status).toBe(200);
    expect((await fetch(`${named.base_url}/api/token-auth/`, { method: 'POST' })).status).toBe(404);
    expect((await mock.control('DELETE', '/tenants/small')).status).toBe(404);
  });

  test.each([
    [{ name: 'Big Name' }, 422],
    [{ name: '../up' }, 422],
    [{ seed: '/etc' }, 400],
    [{ records: -1 }, 400],
    [{ data: 'x.sqlite' }, 400],
    [{ settings: { page_size: 0 } }, 400],
    [{ faults: [{ endpoint: 'import', fault: 'nonsense' }] }, 400],
  ])('%j is refused, and no tenant is created', async (wanted, status) => {
    await using mock = await startMock();
    expect((await mock.control('POST', '/tenants', wanted)).status).toBe(status);
    expect((await mock.control('GET', '/tenants')).value).toEqual([]);
  });

  test('are limited in number, have names of their own, and cannot contain tenants', async () => {
    await using mock = await startMock({ seed: 'empty' });
    for (let tenantCount = 0; tenantCount < 100; tenantCount += 1)
      await makeTenant(mock, { name: `t-${tenantCount}` });
    expect((await mock.control('POST', '/tenants', {})).status).toBe(409);
    await mock.control('DELETE', '/tenants/t-7');
    expect((await mock.control('POST', '/tenants', { name: 't-8' })).status).toBe(409);
    const again = await makeTenant(mock, { name: 't-7' });
    expect((await ask(again, 'POST', '/tenants', {})).status).toBe(404);
  });
});
