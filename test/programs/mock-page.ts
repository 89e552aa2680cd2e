import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { type FindLines, findLines, makeDocument } from '../support/contract-find.ts';
import { fetchToken, importXml, type RawAnswer } from '../support/contract-requests.ts';
import { eventually } from '../support/eventually.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';
import {
  reasonWithoutBrowser,
  startBrowser,
  type TestBrowser,
  type WatchedPage,
} from './browser.ts';

export type FindView = {
  readonly ident: string;
  readonly state: number;
  readonly point: readonly [number, number] | null;
  readonly place: string | null;
  readonly photos: readonly unknown[];
};

/**
 * Tools of a test of the mock server's page: the mock, reset before each test, and its page,
 * freshly opened.
 */
export type PageSuite = {
  mock(): TestMock;
  page(): Page;
  /** The archaeologist's token. */
  token(): string;
  /** Sends a find of state 2. */
  importFind(changes?: FindLines): Promise<RawAnswer>;
  finds(): Promise<readonly FindView[]>;
  /** The number on one of the tiles at the top. */
  figure(key: string): Locator;
  /** A message that the browser itself writes to the console when a test provokes a refusal. */
  expectComplaint(message: string): void;
};

/**
 * Starts a mock and a browser for the file. After every test the page must have requested only the
 * control interface, and nothing may have been complained of.
 */
export function useMockPage(): PageSuite {
  let mock: TestMock | undefined;
  let browser: TestBrowser | undefined;
  let watched: WatchedPage | undefined;
  let token = '';
  let expected: string[] = [];
  const running = (): TestMock => present(mock);
  beforeAll(async () => {
    mock = await startMock();
    if (reasonWithoutBrowser() === undefined) browser = await startBrowser();
  });
  beforeEach(async (context) => {
    if (browser === undefined) return context.skip(reasonWithoutBrowser());
    expected = [];
    await running().reset();
    token = await fetchToken(running(), 'archaeologist');
    watched = await browser.open(running().server.control_url);
    await watched.page.locator('#connection.live').waitFor();
  });
  afterEach(async () => {
    const { page, complaints, requested } = present(watched);
    await eventually(() => complaints).toEqual(expected);
    await page.close();
    expect(
      requested.filter((address) => !address.startsWith(running().server.control_url)),
    ).toEqual([]);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await mock?.close();
  });
  const page = (): Page => present(watched).page;
  return {
    mock: running,
    page,
    token: () => token,
    importFind: (changes) =>
      importXml(running(), makeDocument(running(), findLines(2, changes)), { token }),
    finds: async () =>
      ((await running().control('GET', '/finds')).value as { finds: FindView[] }).finds,
    figure: (key) => page().locator(`#count-${key} .figure`),
    expectComplaint: (message) => void expected.push(message),
  };
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the suite has not started');
  return value;
}

export async function expectText(place: Locator, text: string | RegExp): Promise<void> {
  await eventually(() => place.textContent()).toEqual(
    typeof text === 'string' ? text : expect.stringMatching(text),
  );
}

/** Width of a picture by its own data: 0 until it has arrived, or where it is none. */
export async function getWidth(picture: Locator): Promise<number> {
  return Number(await picture.evaluate((image) => Reflect.get(image, 'naturalWidth')));
}
