import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { postFile, setNumber } from '../support/contract-requests.ts';
import { eventually } from '../support/eventually.ts';
import { tinyPng } from '../support/season.ts';
import { evaluateScript, expectAccessible, expectReadable } from './browser.ts';
import { expectText, getWidth, useMockPage } from './mock-page.ts';

/** Names of colours: what is written, or drawn on the map, and its ground. */
const TEXTS = [
  ['text', 'surface'],
  ['text', 'ground'],
  ['text', 'raised'],
  ['muted', 'surface'],
  ['muted', 'ground'],
  ['muted', 'raised'],
  ['muted', 'land'],
  ['accent', 'surface'],
  ['on-accent', 'accent'],
  ['danger', 'surface'],
  ['surface', 'danger'],
  ['warning', 'warning-ground'],
  ['fine', 'surface'],
  ['fine', 'warning-ground'],
];
const MARKS = [1, 2, 3, 4].map((state) => [`state-${state}`, 'land']);

const WITH_PHOTOGRAPHS = 'M-202400202-N00003';

const suite = useMockPage();

describe('the map and the finds', () => {
  test('counts the finds as the server does, by state too', async () => {
    const { counts } = (await suite.mock().control('GET', '/state')).value as {
      counts: { finds: number; photos: number; finds_by_state: Record<string, number> };
    };
    await expectText(suite.figure('all'), String(counts.finds));
    await expectText(suite.figure('photos'), String(counts.photos));
    for (const state of [1, 2, 3, 4])
      await expectText(suite.figure(`state-${state}`), String(counts.finds_by_state[state] ?? 0));
  });

  test('draws every find inside the cadastral area that the server derived for it', async () => {
    const placed = (await suite.finds()).filter((find) => find.point !== null);
    expect(placed.length).toBeGreaterThan(10);
    const areas = await evaluateScript<Record<string, string | null>>(
      suite.page(),
      'areas-under-marks',
    );
    expect(areas).toEqual(Object.fromEntries(placed.map((find) => [find.ident, find.place])));
  });

  test('opens a find from its mark, with photographs, elements and history', async () => {
    const page = suite.page();
    await page.locator(`.marks g[data-ident="${WITH_PHOTOGRAPHS}"]`).dispatchEvent('click');
    const view = page.locator('#find-view');
    await view.getByRole('heading', { name: WITH_PHOTOGRAPHS }).waitFor();
    await eventually(() => new URL(page.url()).hash).toBe(`#${WITH_PHOTOGRAPHS}`);
    const find = (await suite.finds()).find(({ ident }) => ident === WITH_PHOTOGRAPHS);
    const pictures = view.locator('.photos img');
    await eventually(() => pictures.count()).toBe(find?.photos.length);
    await eventually(() => getWidth(pictures.first())).toBeGreaterThan(1);
    await eventually(() => view.locator('dl').textContent()).toContain('druh_nalezu');
    await eventually(() => view.locator('.history li').first().textContent()).toContain(
      'registered',
    );
    await page.goBack();
    await page.locator('#find-list-view').waitFor({ state: 'visible' });
  });

  test('enlarges a photograph and closes it again', async () => {
    const page = suite.page();
    await page.locator('#photos button').first().click();
    const large = page.locator('#photo-large');
    await eventually(() => getWidth(large)).toBeGreaterThan(1);
    await page.keyboard.press('Escape');
    await large.waitFor({ state: 'hidden' });
  });

  test('shows a find and its photograph as soon as they are sent', async () => {
    const before = (await suite.finds()).length;
    const answer = await suite.importFind();
    await expectText(suite.figure('all'), String(before + 1));
    const ident = answer.headers.get('x-record-id') ?? '';
    const png = { name: 'file', fileName: 'nalez.png', type: 'image/png', bytes: tinyPng(1) };
    expect(
      (
        await postFile(suite.mock(), `/api/pas/nalez/${ident}/upload-foto`, png, {
          token: suite.token(),
        })
      ).status,
    ).toBe(201);
    await suite.page().locator(`#photos a[href="#${ident}"]`).waitFor();
    await eventually(() =>
      suite.page().locator(`.marks g[data-ident="${ident}"] .state-2`).count(),
    ).toBe(1);
  });

  test('filters by state and searches values, not element names', async () => {
    const page = suite.page();
    await page.locator('#count-state-4 button').click();
    const archived = (await suite.finds()).filter(({ state }) => state === 4);
    await eventually(() => page.locator('#find-list li').count()).toBe(archived.length);
    await page.locator('#count-all button').click();
    await page.locator('#search').fill('kh 12/2024');
    await eventually(() => page.locator('#find-list .ident').allInnerTexts()).toEqual([
      'C-202400101-N00004',
    ]);
    await page.locator('#search').fill('druh_nalezu');
    await expectText(page.locator('#find-note'), 'No find.');
  });

  test('opens a find that the filter hides', async () => {
    const page = suite.page();
    await page.locator('#count-state-1 button').click();
    await page.goto(`${suite.mock().server.control_url}/#${WITH_PHOTOGRAPHS}`);
    await page.locator('#find-view').getByRole('heading', { name: WITH_PHOTOGRAPHS }).waitFor();
    await eventually(() =>
      getWidth(page.locator('#find-view .photos img').first()),
    ).toBeGreaterThan(1);
  });

  test('offers a photograph that browsers cannot draw as a file', async () => {
    const page = suite.page();
    const ident = (await suite.importFind()).headers.get('x-record-id') ?? '';
    const tiff = {
      name: 'file',
      fileName: 'nalez.tif',
      bytes: Buffer.from('49492a00080000000000000000000000', 'hex'),
    };
    const answer = await postFile(suite.mock(), `/api/pas/nalez/${ident}/upload-foto`, tiff, {
      token: suite.token(),
    });
    expect(answer.status, answer.text).toBe(201);
    const downloading = page.waitForEvent('download');
    await page.locator('#photos a', { hasText: 'TIFF' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`${ident.replaceAll('-', '')}F01.tif`);
    expect(readFileSync(await download.path())).toEqual(tiff.bytes);
  });

  test('zooms and returns by keyboard', async () => {
    const map = suite.page().locator('#map');
    const width = async () => Number((await map.getAttribute('viewBox'))?.split(' ')[2]);
    const whole = await width();
    await map.focus();
    await map.press('+');
    await eventually(width).toBeLessThan(whole);
    await map.press('0');
    await eventually(width).toBe(whole);
  });

  test('moves a find to its next state, or says why this is refused', async () => {
    const page = suite.page();
    await page.goto(`${suite.mock().server.control_url}/#C-202400101-N00004`);
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await expectText(page.locator('#notice'), 'C-202400101-N00004 lacks a photograph');
    suite.expectComplaint(
      'error: Failed to load resource: the server responded with a status of 409 (Conflict)',
    );
    await page.getByRole('button', { name: 'Return', exact: true }).click();
    await page.getByRole('button', { name: 'Confirm', exact: true }).waitFor();
    expect((await suite.finds()).find(({ ident }) => ident === 'C-202400101-N00004')?.state).toBe(
      2,
    );
  });

  test('shows what clients sent as text, never as markup', async () => {
    const markup = '<img src=x onerror=alert(1)>';
    const escaped = markup.replace('<', '&lt;').replace('>', '&gt;');
    const answer = await suite.importFind({ poznamka: `<svc:poznamka>${escaped}</svc:poznamka>` });
    const ident = answer.headers.get('x-record-id') ?? '';
    await suite.page().locator(`#find-list button[data-ident="${ident}"]`).click();
    await suite.page().locator('#find-view dd', { hasText: markup }).waitFor();
    await eventually(() => suite.page().locator('#find-view img').count()).toBe(0);
  });
});

describe('the journal', () => {
  const rows = () => suite.page().locator('#journal-rows tr');

  test('grows while requests come in', async () => {
    const page = suite.page();
    const answer = await suite.importFind();
    const ident = answer.headers.get('x-record-id') ?? '';
    await setNumber(suite.mock(), ident, '?evidencni_cislo=X%201', suite.token());
    const newest = rows().first();
    await eventually(() => newest.locator('td').allInnerTexts()).toEqual([
      expect.any(String),
      'PATCH',
      `/api/pas/nalez/${ident}/evidencni-cislo?evidencni_cislo=X%201`,
      'archaeologist',
      '200',
      expect.stringMatching(/^\d/),
      expect.stringMatching(/^\d/),
    ]);
    await page.locator('#journal-clear').click();
    await page.locator('#journal-none').waitFor();
  });

  test('marks a request that came within the interval', async () => {
    await suite
      .mock()
      .control('PUT', '/settings', { min_request_intervals: { user_ms: 60_000, ip_ms: 0 } });
    await suite.importFind();
    expect((await suite.importFind()).status).toBe(429);
    const early = suite.page().locator('#journal-rows tr.too-soon');
    await eventually(() => early.allInnerTexts()).toEqual([expect.stringContaining('429')]);
    await expectText(early.locator('.gap'), /^too soon \d/);
    await suite.page().locator('#journal-filter').selectOption('trouble');
    await eventually(() => rows().count()).toBe(1);
  });

  test('can hide requests that only sign in', async () => {
    await suite.importFind();
    await rows().filter({ hasText: 'token-auth' }).first().waitFor();
    await suite.page().locator('#journal-filter').selectOption('work');
    await eventually(() => rows().allInnerTexts()).toEqual([expect.stringContaining('import-xml')]);
  });

  test('fills in the answer of a request that was still in progress', async () => {
    const slow = request(`${suite.mock().url}/api/token-auth/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': 2 },
    });
    const answered = once(slow, 'response');
    slow.write('{');
    await rows().filter({ hasText: 'at work' }).waitFor();
    slow.end('}');
    await answered;
    await eventually(() => rows().first().innerText()).toMatch(/\b400\b/);
    await eventually(() => rows().filter({ hasText: 'at work' }).count()).toBe(0);
  });
});

describe('for accessibility', () => {
  test.each(['light', 'dark'] as const)('is readable on a %s background', async (colorScheme) => {
    await suite.page().emulateMedia({ colorScheme });
    await expectReadable(suite.page(), colorScheme, { texts: TEXTS, marks: MARKS });
  });
});

test('a row of the journal opens to the request, the answer and the reason of a refusal, and closes again', async () => {
  const page = suite.page();
  await setNumber(suite.mock(), 'M-202400202-N00003', '', suite.token());
  const opener = page.getByRole('button', { name: /evidencni-cislo/ });
  await opener.waitFor();
  await opener.focus();
  await page.keyboard.press('Enter');
  const whole = page.locator('.whole');
  await eventually(() => whole.textContent()).toContain(
    'Refused by number-missing (contract: A-NUMBER-8)',
  );
  const text = await whole.textContent();
  expect(text).toContain('Bearer •••');
  expect(text).toContain('detail');
  expect(text).not.toContain(suite.token());
  await eventually(() => opener.getAttribute('aria-expanded')).toBe('true');
  await suite.importFind();
  await page.getByRole('button', { name: /import-xml/ }).click();
  await eventually(() => page.locator('.whole').first().textContent()).toMatch(
    /Made the find .*samostatny_nalez/s,
  );
  await opener.press('Enter');
  await eventually(() => page.locator('.whole').count()).toBe(1);
});

test.each([1400, 800, 360])(
  'with a row and a find open nothing collapses or overflows the page at %i pixels',
  async (width) => {
    const page = suite.page();
    await page.setViewportSize({ width, height: 900 });
    await setNumber(suite.mock(), 'M-202400202-N00003', '', suite.token());
    await page.getByRole('button', { name: /evidencni-cislo/ }).click();
    await page.locator('.whole pre').waitFor();
    await page.locator('#find-list button').first().click();
    await page.locator('#find-view h3').waitFor();
    const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    await eventually(() => page.evaluate<number>(sideways)).toBe(0);
    const parts = '[...document.querySelectorAll("#journal-rows td, .whole pre, .whole dd")]';
    const narrowest = `Math.min(...${parts}.filter((part) => part.textContent.length > 3).map((part) => part.offsetWidth))`;
    expect(await page.evaluate<number>(narrowest)).toBeGreaterThan(20);
    const path = 'document.querySelector("#journal-rows .path").offsetWidth';
    expect(await page.evaluate<number>(path)).toBeGreaterThan(100);
  },
);

test('the page breaks no rule of accessibility, with a find and a row of the journal open', async () => {
  const page = suite.page();
  await setNumber(suite.mock(), 'M-202400202-N00003', '', suite.token());
  await page.getByRole('button', { name: /evidencni-cislo/ }).click();
  await page.locator('.whole pre').waitFor();
  await expectAccessible(page);
  await page.locator('.marks g[data-ident="M-202400202-N00003"]').dispatchEvent('click');
  await page.locator('#find-view').getByRole('heading', { name: 'M-202400202-N00003' }).waitFor();
  await expectAccessible(page);
});
