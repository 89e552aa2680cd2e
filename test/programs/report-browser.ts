import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import {
  reasonWithoutBrowser,
  startBrowser,
  type TestBrowser,
  type WatchedPage,
} from './browser.ts';

/**
 * Opens a report again before each test of a file. After each one nothing may have been complained
 * of, nor asked for elsewhere.
 * @param make makes the report, once, and says where it is
 */
export function useReportPage(make: () => Promise<string>): () => Page {
  let browser: TestBrowser | undefined;
  let watched: WatchedPage;
  let report: string;
  beforeAll(async () => {
    if (reasonWithoutBrowser() !== undefined) return;
    report = await make();
    browser = await startBrowser();
  });
  beforeEach(async (context) => {
    if (browser === undefined) return context.skip(reasonWithoutBrowser());
    watched = await browser.open(pathToFileURL(report).href);
  });
  afterEach(async () => {
    if (browser === undefined) return;
    await watched.page.close();
    expect(watched.complaints).toEqual([]);
    expect(watched.requested.filter((address) => !/^(file|data):/.test(address))).toEqual([]);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
  });
  return () => watched.page;
}
