import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** Nothing but what a page itself asks for leaves the browser. */
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser with a profile that nobody has used before. */
export type TestBrowser = AsyncDisposable & { open(address: string): Promise<WatchedPage> };

/** A page, and what it did that a good page does not do. */
export type WatchedPage = {
  readonly page: Page;
  /** Every address that was asked for. */
  readonly requested: readonly string[];
  /** Errors and warnings of the console, uncaught exceptions, dialogs. */
  readonly complaints: readonly string[];
};

/** Why no test can run in a browser here; undefined where one can, or must: in CI a missing browser is a failure. */
export function reasonWithoutBrowser(): string | undefined {
  return existsSync(CHROMIUM) || process.env['CI'] !== undefined ? undefined : `there is no ${CHROMIUM}`;
}

/** @throws Error where Chromium is missing or does not start */
export async function startBrowser(): Promise<TestBrowser> {
  const profile = mkdtempSync(join(tmpdir(), 'pas-browser-'));
  const removeProfile = (): void => rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  const options = { executablePath: CHROMIUM, headless: true, args: ARGUMENTS, viewport: { width: 1440, height: 900 } };
  const context = await chromium.launchPersistentContext(profile, options).catch((thrown: unknown) => {
    removeProfile();
    throw thrown;
  });
  return {
    open: (address) => openPage(context, address),
    [Symbol.asyncDispose]: async () => {
      await context.close();
      removeProfile();
    },
  };
}

async function openPage(context: BrowserContext, address: string): Promise<WatchedPage> {
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => void requested.push(request.url()));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => void complaints.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(address);
  return { page, requested, complaints };
}

/** Runs a script of `in-page/` in a page. They are plain JavaScript: a page's world is none of this project's types. */
export async function evaluateScript<T>(page: Page, name: string): Promise<T> {
  return page.evaluate<T>(readFileSync(new URL(`in-page/${name}.js`, import.meta.url), 'utf8'));
}
