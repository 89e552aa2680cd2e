import { expect, test } from 'vitest';
import { fetchToken } from '../support/contract-requests.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startMockProcess } from '../support/mock-process.ts';
import { reasonWithoutBrowser, startBrowser } from './browser.ts';
import { expectText } from './mock-page.ts';

test('The page reports a missing server, and starts afresh with the next one', async (context) => {
  const reason = reasonWithoutBrowser();
  if (reason !== undefined) context.skip(reason);
  const port = String(await freePort());
  await using first = await startMockProcess('--port', port);
  await using browser = await startBrowser();
  await fetchToken({ url: first.base_url }, 'researcher');
  const { page, complaints } = await browser.open(first.control_url);
  const rows = page.locator('#journal-rows tr');
  await eventually(() => rows.count()).toBe(1);
  await first.stop();
  await expectText(page.locator('#connection'), 'no answer: is the server running?');
  await using _second = await startMockProcess('--port', port);
  await expectText(page.locator('#connection'), 'live');
  await eventually(() => rows.count()).toBe(0);
  // A question that was under way when the server went is cut off.
  const expected =
    /^error: Failed to load resource: net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE)$/;
  expect(complaints.filter((complaint) => !expected.test(complaint))).toEqual([]);
});
