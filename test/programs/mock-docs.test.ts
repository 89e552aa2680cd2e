import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Described } from '../contract/openapi.ts';
import { eventually } from '../support/eventually.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';
import {
  expectAccessible,
  reasonWithoutBrowser,
  startBrowser,
  type TestBrowser,
} from './browser.ts';

let mock: TestMock;
let browser: TestBrowser | undefined;
beforeAll(async () => {
  mock = await startMock();
  if (reasonWithoutBrowser() === undefined) browser = await startBrowser();
});
beforeEach((context) => {
  if (browser === undefined) context.skip(reasonWithoutBrowser());
});
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await mock.close();
});

async function openDocs(control: string) {
  if (browser === undefined) throw new Error('there is no browser');
  const watched = await browser.open(control);
  await watched.page.getByRole('link', { name: 'What both interfaces take and answer' }).click();
  await watched.page
    .getByRole('heading', { name: 'Write interface of the finds service' })
    .waitFor();
  return watched;
}

/** Every operation of a description. */
function countOperations(of: 'service' | 'control'): number {
  return Object.values(new Described(of).description.paths).flatMap(Object.keys).length;
}

test('the page of the descriptions shows every operation of both, and loads nothing from elsewhere', async () => {
  const { page, requested, complaints } = await openDocs(mock.server.control_url);
  const operations = page.locator('summary .method');
  await eventually(() => operations.count()).toBe(countOperations('service'));
  await page.getByText('Create a find').click();
  await page.getByText('Content-Digest', { exact: true }).first().waitFor();
  await page.getByRole('link', { name: 'Control interface' }).click();
  await page.getByRole('heading', { name: 'Control interface of the mock server' }).waitFor();
  await eventually(() => operations.count()).toBe(countOperations('control'));
  // A shape is reached from where it is named.
  await page.goto(`${mock.server.control_url}/docs#control/schema/ClockCommand`);
  await page.locator('details[open] code', { hasText: 'advance_ms' }).first().waitFor();
  await expectAccessible(page);
  expect(complaints).toEqual([]);
  expect(requested.filter((address) => !address.startsWith(mock.url))).toEqual([]);
  await page.close();
});

test('the page of a tenant shows the addresses of the tenant', async () => {
  const tenant = (await mock.control('POST', '/tenants', { name: 'docs' })).value as {
    control_url: string;
    base_url: string;
  };
  const { page } = await openDocs(tenant.control_url);
  await page.getByText(tenant.base_url, { exact: true }).waitFor();
  await page.close();
});
