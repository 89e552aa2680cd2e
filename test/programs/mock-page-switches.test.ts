import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { expectText, useMockPage } from './mock-page.ts';

type Rule = { endpoint: string; fault: string; when?: unknown; times?: number; active?: boolean };

const suite = useMockPage();

async function rules(): Promise<Rule[]> {
  return (await suite.mock().control('GET', '/faults')).value as Rule[];
}

test('The fault form offers for every endpoint exactly the faults that the server knows', async () => {
  const page = suite.page();
  const catalogue = (await suite.mock().control('GET', '/faults/catalogue')).value as {
    fault: string;
    endpoints: string[];
  }[];
  const endpoints = await page.locator('#fault-endpoint option').allInnerTexts();
  expect(endpoints).toEqual(['import', 'number', 'photo', 'token', 'user-info', 'oai', 'download']);
  for (const endpoint of endpoints) {
    await page.locator('#fault-endpoint').selectOption(endpoint);
    const offered = await page.locator('#fault-name option').allInnerTexts();
    expect(offered).toEqual(
      catalogue.filter((fault) => fault.endpoints.includes(endpoint)).map(({ fault }) => fault),
    );
  }
});

test('A fault set on the page applies, can be switched off and on, and removed', async () => {
  const page = suite.page();
  await page.locator('#fault-endpoint').selectOption('import');
  await page.locator('#fault-name').selectOption('503');
  await page.getByLabel('Retry-After (s)').fill('7');
  await page.locator('#fault-when').selectOption('nth');
  await page.getByLabel('Which (from 1)').fill('1');
  await page.getByLabel('At most (times)').fill('2');
  await page.getByRole('button', { name: 'Add fault' }).click();
  const row = page.locator('#fault-rules li');
  await row.waitFor();
  expect(await rules()).toMatchObject([
    { endpoint: 'import', fault: '503', when: { nth: 1 }, times: 2, retry_after: 7 },
  ]);
  await expectText(suite.figure('faults'), '1');
  const answer = await suite.importFind();
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '7']);
  await expectText(row.locator('.counters'), 'struck 1 of 1');
  await row.locator('input').click();
  await expectText(suite.figure('faults'), '0');
  expect((await suite.importFind()).status).toBe(201);
  await expectText(row.locator('.counters'), 'struck 1 of 1');
  await row.locator('input').click();
  await eventually(async () => (await rules())[0]?.active).toBe(true);
  await page.getByRole('button', { name: 'Remove 503 on import' }).click();
  await page.locator('#faults-none').waitFor();
  expect(await rules()).toEqual([]);
});

test('Adding a fault leaves the counters of the others alone; one button removes all', async () => {
  const page = suite.page();
  await suite
    .mock()
    .control('PUT', '/faults', [
      { endpoint: 'import', fault: '500-before-save', when: { every: 2 } },
    ]);
  await suite.importFind();
  await page.getByRole('button', { name: 'Add fault' }).click();
  await eventually(() => page.locator('.counters').allInnerTexts()).toEqual([
    'struck 0 of 1',
    'struck 0 of 0',
  ]);
  await page.getByRole('button', { name: 'Remove all' }).click();
  await eventually(rules).toEqual([]);
});

test('The access mode closes the interface and opens it again', async () => {
  const access = suite.page().getByLabel('Access');
  await access.selectOption('closed');
  await eventually(async () => (await suite.importFind()).status).toBe(503);
  await access.selectOption('open');
  await eventually(async () => (await suite.importFind()).status).toBe(201);
});

test('One interval changes and the other stays', async () => {
  await suite.page().getByLabel('Interval per user (ms)').fill('250');
  await suite.page().keyboard.press('Tab');
  await eventually(
    async () => (await suite.mock().control('GET', '/settings')).value,
  ).toMatchObject({
    min_request_intervals: { user_ms: 250, ip_ms: 0 },
  });
});

test('The clock advances by a day and stands still', async () => {
  const now = async () =>
    ((await suite.mock().control('GET', '/clock')).value as { now_ms: number; frozen: boolean })
      .now_ms;
  const before = await now();
  await suite.page().getByRole('button', { name: '+ 24 h' }).click();
  await eventually(async () => Math.floor(((await now()) - before) / 3_600_000)).toBe(24);
  const shown = async () =>
    Date.parse((await suite.page().locator('.clock time').getAttribute('datetime')) ?? '');
  await eventually(async () => Math.abs((await shown()) - (await now()))).toBeLessThan(5000);
  await suite.page().getByRole('button', { name: 'Freeze' }).click();
  await suite.page().locator('#clock-freeze[aria-pressed="true"]').waitFor();
  expect(await now()).toBe(await now());
});

test('Everything is reset to the seed only after a confirmation', async () => {
  const page = suite.page();
  const seeded = (await suite.finds()).length;
  await suite.importFind();
  await page.locator('#reset').click();
  await page.getByRole('button', { name: 'Keep everything' }).click();
  expect((await suite.finds()).length).toBe(seeded + 1);
  await page.locator('#reset').click();
  await page.getByRole('button', { name: 'Reset', exact: true }).click();
  await expectText(suite.figure('all'), String(seeded));
  await page.locator('#journal-none').waitFor();
  expect((await suite.finds()).length).toBe(seeded);
});
