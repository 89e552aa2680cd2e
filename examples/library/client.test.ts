import { expect } from 'vitest';
import { Client } from './client.js';
import { type Service, test } from './mock-fixture.js';

const finds = async ({ control }: Service) =>
  (await control<{ counts: { finds: number } }>('GET', '/state')).counts.finds;
const imports = async ({ control }: Service) => {
  const journal = await control<
    { method: string; path: string; status: number; gap_ms: number | null }[]
  >('GET', '/journal');
  return journal.filter(({ path }) => path === '/api/pas/import-xml');
};

const document = ({ schema_base }: Service) => `<?xml version="1.0" encoding="UTF-8"?>
<svc:svc xmlns:svc="${schema_base}/2.2/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="${schema_base}/2.2/ ${schema_base}/2.2/svc.xsd">
  <svc:samostatny_nalez>
    <svc:ident_cely>:tba</svc:ident_cely>
    <svc:projekt id="C-202400101">C-202400101</svc:projekt>
    <svc:stav>1</svc:stav>
    <svc:geom_system>4326</svc:geom_system>
    <svc:pristupnost xml:lang="cs" id="HES-000866">badatel</svc:pristupnost>
  </svc:samostatny_nalez>
</svc:svc>`;

test.concurrent('a find is created', async ({ service }) => {
  const before = await finds(service);
  expect(await new Client(service.base_url).importFind(document(service))).toMatch(
    /^C-202400101-N\d{5}$/,
  );
  expect(await finds(service)).toBe(before + 1);
});

test.concurrent('a throttled import is sent again, and only then', async ({ service }) => {
  await service.control('PUT', '/faults', [
    { endpoint: 'import', fault: 'throttle', retry_after: 1, when: { nth: 1 } },
  ]);
  await new Client(service.base_url).importFind(document(service));
  expect((await imports(service)).map(({ status }) => status)).toEqual([429, 201]);
});

test.concurrent('after an error that may hide a success nothing is sent twice', async ({
  service,
}) => {
  const before = await finds(service);
  await service.control('PUT', '/faults', [
    { endpoint: 'import', fault: '500-after-save', when: { nth: 1 } },
  ]);
  expect(await new Client(service.base_url).importFind(document(service))).toBeUndefined();
  expect(await imports(service)).toHaveLength(1);
  expect(await finds(service)).toBe(before + 1);
});
