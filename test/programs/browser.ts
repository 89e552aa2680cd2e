import { existsSync, readFileSync, rmSync } from 'node:fs';
import axe from 'axe-core';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { PATIENCE_MS } from '../support/eventually.ts';
import { tempFolder } from '../support/temp-folder.ts';

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

/** A browser with a new profile. */
export type TestBrowser = AsyncDisposable & { open(address: string): Promise<WatchedPage> };

/** A page, and what it did that a good page does not do. */
export type WatchedPage = {
  readonly page: Page;
  /** Every address that was asked for. */
  readonly requested: readonly string[];
  /** Errors and warnings of the console, uncaught exceptions, dialogs. */
  readonly complaints: readonly string[];
};

/**
 * Why no test can run in a browser here; undefined where one can, or must: in CI a missing browser
 * is a failure.
 */
export function reasonWithoutBrowser(): string | undefined {
  return existsSync(CHROMIUM) || process.env['CI'] !== undefined
    ? undefined
    : `there is no ${CHROMIUM}`;
}

/** @throws Error where Chromium is missing or does not start */
export async function startBrowser(): Promise<TestBrowser> {
  const profile = tempFolder();
  const removeProfile = (): void =>
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  const options = {
    executablePath: CHROMIUM,
    headless: true,
    args: ARGUMENTS,
    viewport: { width: 1440, height: 900 },
  };
  const context = await chromium
    .launchPersistentContext(profile, options)
    .catch((thrown: unknown) => {
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
  page.setDefaultTimeout(PATIENCE_MS);
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => void requested.push(request.url()));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => void complaints.push(`exception: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(address);
  return { page, requested, complaints };
}

/**
 * Runs a script of `in-page/` in a page. They are plain JavaScript: a page's world is none of this
 * project's types.
 *
 * @param argument what the script finds as `globalThis.given`
 */
export async function evaluateScript<T>(
  page: Page,
  name: string,
  argument: unknown = null,
): Promise<T> {
  const script = readFileSync(new URL(`in-page/${name}.js`, import.meta.url), 'utf8');
  return page.evaluate<T>(`globalThis.given = ${JSON.stringify(argument)};\n${script}`);
}

type Contrasts = {
  readonly ground: number;
  readonly texts: Record<string, number>;
  readonly marks: Record<string, number>;
};

/**
 * Every text (4.5) and every mark (3) can be told from its ground, as WCAG 2.2 asks, and the ground
 * is what the scheme says.
 */
export async function expectReadable(
  page: Page,
  colorScheme: 'light' | 'dark',
  pairs: { texts: string[][]; marks: string[][] },
) {
  const { ground, texts, marks } = await evaluateScript<Contrasts>(page, 'contrasts', pairs);
  expect(ground < 0.5 ? 'dark' : 'light').toBe(colorScheme);
  expect(Object.keys(texts)).toHaveLength(pairs.texts.length);
  expect(Object.entries(texts).filter(([, contrast]) => contrast < 4.5)).toEqual([]);
  expect(Object.entries(marks).filter(([, contrast]) => contrast < 3)).toEqual([]);
}

type AxeResults = {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: readonly unknown[] }[];
  }[];
};

/**
 * No rule of axe is broken, in light and in dark: roles, names, contrast, order of headings,
 * labels.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate<AxeResults>('axe.run()');
    const matches = violations.map(
      ({ id, nodes }) =>
        `${colorScheme}, ${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
    );
    expect(matches).toEqual([]);
  }
}
