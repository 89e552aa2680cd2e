import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Home, PROJECT, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { startMock } from '../support/start-mock.ts';
import {
  evaluateScript,
  expectAccessible,
  expectReadable,
  reasonWithoutBrowser,
  startBrowser,
  type TestBrowser,
  type WatchedPage,
} from './browser.ts';

/** Names of colours: what is written, or drawn on a map, and its ground. */
const STATES = [
  'draft',
  'refused',
  'uncertain',
  'queued',
  'registered',
  'submitted',
  'confirmed',
  'archived',
];
const TEXTS = [
  ['text', 'ground'],
  ['text', 'surface'],
  ['text', 'raised'],
  ['text', 'guarded-ground'],
  ['muted', 'ground'],
  ['muted', 'surface'],
  ['muted', 'land'],
  ['accent', 'surface'],
  ...STATES.map((state) => [state, 'surface']),
  ...STATES.map((state) => ['on-state', state]),
];
const MARKS = STATES.map((state) => [state, 'land']);

const NASTY = [
  '<script>alert(1)</script>',
  '"onload="alert(1)" x="',
  '</style><script>alert(2)</script>',
  'javascript:alert(3)',
  "' onfocus='alert(4)' autofocus='",
  '--><img src=x onerror=alert(5)>',
  '<svg/onload=alert(6)>',
  '&lt;b&gt; &#60;i&#62; %3Cu%3E',
];

let home: Home;

const page = useReportPage(async () => {
  await using mock = await startMock();
  home = await signedIn(mock.server, WITHOUT_PAUSES);
  await home.do('harvest-vocab');
  await home.do('import', join(PROJECT, 'examples', 'finds.csv'));
  await home.do('push', '--accept-new-people');
  const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const rows = NASTY.map((text, index) =>
    [
      `${text} ${index}`,
      'C-202400101',
      '1',
      '4326',
      'HES-000865',
      `15.${17 + index}`,
      '49.84',
      text,
      text,
      text,
    ]
      .map(cell)
      .join(','),
  );
  const header =
    'local_id,projekt,stav,geom_system,pristupnost,geom_x,geom_y,poznamka,lokalizace,pocet';
  await home.pas('import', home.file('nasty.csv', [header, ...rows].join('\n')));
  const incomplete = [
    'local_id,projekt,stav,geom_system,pristupnost',
    'Neúplný,C-202400101,3,4326,HES-000865',
  ];
  await home.pas('import', home.file('incomplete.csv', incomplete.join('\n')));
  const report = join(home.folder, 'all.html');
  await home.do('report', report);
  return report;
});

const shown = (): Promise<number> => page().locator('article.find:visible').count();
describe('the page of a report', () => {
  test('shows foreign text as text, never as markup', async () => {
    for (const [index, text] of NASTY.entries()) {
      expect(
        await page()
          .locator('article.find h3', { hasText: `${text} ${index}` })
          .count(),
      ).toBeGreaterThan(0);
    }
    expect(await page().locator('script').count()).toBe(1);
    expect(await page().locator('style').count()).toBe(1);
    expect(
      await page().locator('[onload], [onerror], [onfocus], [autofocus], [style]').count(),
    ).toBe(0);
    const links = await page().evaluate<string[]>(
      '[...document.querySelectorAll("a")].map((link) => link.getAttribute("href"))',
    );
    expect(links.filter((link) => !/^(#|https?:)/.test(link))).toEqual([]);
  });

  test('links each record that the service has by its persistent address', async () => {
    const first = page().locator('article.find').first();
    const ident = await first.locator('.ident').textContent();
    expect(await first.locator('a.ident').getAttribute('href')).toMatch(
      new RegExp(`^http://127\\.0\\.0\\.1:\\d+/id/${ident}$`),
    );
  });

  test('can be filtered by state, period, object type and words, on the maps as well', async () => {
    const all = await shown();
    await page().getByLabel('State').selectOption('confirmed');
    await eventually(shown).toBe(8);
    await page().getByLabel('Object type').selectOption({ label: 'axe (2)' });
    await eventually(shown).toBe(2);
    await eventually(() => page().locator('form output').textContent()).toBe(
      `2 of ${all} finds are shown.`,
    );
    await eventually(() => page().locator('#map-2 .mark:not(.left-out):not(.member)').count()).toBe(
      1,
    );
    await page().getByLabel('Text').fill('KOPYTOVITY klin');
    await eventually(shown).toBe(1);
    await page().getByLabel('Text').fill('nothing like it');
    await page().getByText('No find matches.').waitFor();
    await page().getByRole('button', { name: 'Show all' }).click();
    await eventually(shown).toBe(all);
  });

  test('enlarges a photograph, moves by arrow keys, and returns the focus', async () => {
    const pictures = page().locator('.photographs .picture');
    const source = (index: number) => pictures.nth(index).locator('img').getAttribute('src');
    const large = page().locator('dialog.large');
    const shownSource = () => large.locator('img').getAttribute('src');
    await pictures.first().focus();
    await page().keyboard.press('Enter');
    await eventually(shownSource).toBe(await source(0));
    const width = await page().evaluate<number>(
      'document.querySelector("dialog.large").getBoundingClientRect().width / innerWidth',
    );
    expect(width).toBe(1);
    await page().keyboard.press('ArrowRight');
    await eventually(shownSource).toBe(await source(1));
    await expectAccessible(page());
    await page().keyboard.press('ArrowLeft');
    await page().keyboard.press('ArrowLeft');
    await eventually(shownSource).toBe(await source((await pictures.count()) - 1));
    await page().keyboard.press('Escape');
    await large.waitFor({ state: 'hidden' });
    const isLastFocused =
      'document.activeElement === [...document.querySelectorAll(".photographs .picture")].at(-1)';
    await eventually(() => page().evaluate<boolean>(isLastFocused)).toBe(true);
  });

  test('shows more names when zoomed in', async () => {
    const map = page().locator('#map-2');
    const before = await map.locator('.labels text').allTextContents();
    for (let step = 0; step < 5; step += 1)
      await map.getByRole('button', { name: 'Zoom in' }).click();
    await eventually(() => map.locator('.labels text').allTextContents()).not.toEqual(before);
    await map.getByRole('button', { name: 'Whole map' }).click();
    await eventually(() => map.locator('.labels text').allTextContents()).toEqual(before);
  });

  test('leads from a mark to its find, and opens a cluster first', async () => {
    const map = page().locator('#map-2');
    const ring = map.locator('.stack').first();
    await ring.dispatchEvent('click');
    await eventually(() => map.locator('.stack.open').count()).toBeGreaterThan(0);
    const member = map.locator('.member.open').first();
    const number = await member.getAttribute('data-find');
    await member.dispatchEvent('click');
    await eventually(() => new URL(page().url()).hash).toBe(`#find-${number}`);
  });

  test('has maps that zoom, move and return by keyboard', async () => {
    const frame = page().locator('#map-2 .map-window');
    const base = frame.locator('[data-base]');
    await frame.focus();
    const whole = await base.getAttribute('transform');
    await frame.press('+');
    await eventually(() => base.getAttribute('transform')).not.toBe(whole);
    const closer = await base.getAttribute('transform');
    await frame.press('ArrowRight');
    await eventually(() => base.getAttribute('transform')).not.toBe(closer);
    await frame.press('0');
    await eventually(() => base.getAttribute('transform')).toBe(whole);
  });

  test('is reached by Tab in order: the skip link, the maps, the filters, the records', async () => {
    const reached: string[] = [];
    for (let step = 0; step < 40; step++) {
      await page().keyboard.press('Tab');
      reached.push(
        await page().evaluate<string>(
          'document.activeElement.className || document.activeElement.name || document.activeElement.tagName',
        ),
      );
      if (reached.at(-1) === 'ident') break;
    }
    expect(reached[0]).toBe('skip');
    expect(reached.at(-1)).toBe('ident');
    expect(reached).toEqual(
      expect.arrayContaining(['map-window live', 'text', 'state', 'period', 'type']),
    );
    expect(reached.filter((name) => name.startsWith('mark'))).toEqual([]);
  });

  test('breaks no rule of accessibility', async () => {
    await expectAccessible(page());
  });

  test.each(['light', 'dark'] as const)('is readable on a %s background', async (colorScheme) => {
    await page().emulateMedia({ colorScheme });
    await expectReadable(page(), colorScheme, { texts: TEXTS, marks: MARKS });
  });

  test('prints on A4 without filters, in light colours', async () => {
    await page().emulateMedia({ media: 'print', colorScheme: 'dark' });
    await eventually(() =>
      page().locator('.filters input:visible, .map-buttons:visible').count(),
    ).toBe(0);
    const pdf = (await page().pdf({ preferCSSPageSize: true })).toString('latin1');
    const [, width, height] = /\/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]/.exec(pdf) ?? [];
    expect([Math.round(Number(width)), Math.round(Number(height))]).toEqual([595, 842]);
    expect(pdf.match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(5);
  });
});

test('two hundred finds with photographs take at most thirty pages', async () => {
  await using mock = await startMock();
  const season = await signedIn(mock.server, WITHOUT_PAUSES);
  await season.do('harvest-vocab');
  await importSeason(season, 200, { photos: true });
  await season.do('report', join(season.folder, 'season.html'));
  await page().goto(pathToFileURL(join(season.folder, 'season.html')).href);
  const pages = async (): Promise<number> =>
    (await page().pdf({ preferCSSPageSize: true })).toString('latin1').match(/\/Type\s*\/Page\b/g)
      ?.length ?? 0;
  expect(await pages()).toBeLessThanOrEqual(30);
});

test('without JavaScript the page shows everything', async () => {
  const markup = await page().evaluate<string>('document.documentElement.outerHTML');
  const source = markup.replace(/<script>[\s\S]*<\/script>/, '');
  expect(source).toContain('KR24-014');
  await page().goto(pathToFileURL(join(home.folder, 'all.html')).href);
  const hidden = await page().evaluate<string[]>(
    '[...document.querySelectorAll("article[hidden], figure[hidden], section[hidden]")].map((e) => e.id)',
  );
  expect(hidden).toEqual([]);
});

describe('the page of a report of finds close together', () => {
  /** The examples, and a row along a path, closer together than their names are long. */
  const page = useReportPage(async () => {
    await using mock = await startMock();
    const other = await signedIn(mock.server, WITHOUT_PAUSES);
    await other.do('harvest-vocab');
    await other.do('import', join(PROJECT, 'examples', 'finds.csv'));
    await other.do('push', '--accept-new-people');
    await importSeason(other, 60);
    const report = join(other.folder, 'all.html');
    await other.do('report', report);
    return report;
  });

  const maps = (): Promise<string[]> =>
    page().evaluate('[...document.querySelectorAll("figure.map")].map(({ id }) => "#" + id)');
  const names = (map: string): Promise<string[]> =>
    page().locator(`${map} .labels text`).allTextContents();

  describe.each([390, 800, 1400])('on a screen %i pixels wide', (width) => {
    beforeEach(() => page().setViewportSize({ width, height: 900 }));

    test('nothing overflows the page', async () => {
      expect(await evaluateScript<string[]>(page(), 'cut-words')).toEqual([]);
    });

    test('no name on a map overlaps a mark, another name or the scale, or is cut by the edge, at any zoom', async () => {
      for (const map of await maps()) {
        await eventually(() => evaluateScript<string[]>(page(), 'covered-names', map)).toEqual([]);
        for (let step = 0; step < 6; step += 1) {
          const before = await page().locator(`${map} [data-base]`).getAttribute('transform');
          await page().locator(map).getByRole('button', { name: 'Zoom in' }).click();
          await eventually(() =>
            page().locator(`${map} [data-base]`).getAttribute('transform'),
          ).not.toBe(before);
          await page().evaluate(
            'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))',
          );
          expect(await evaluateScript<string[]>(page(), 'covered-names', map)).toEqual([]);
        }
      }
    });

    test('a photograph is enlarged to the size of the screen', async () => {
      await page().locator('.photographs .picture').first().focus();
      await page().keyboard.press('Enter');
      await page().locator('dialog img').waitFor();
      const share = await page().evaluate<number>(`{
      const { clientWidth, clientHeight, naturalWidth, naturalHeight } = document.querySelector('dialog img');
      const scale = Math.min(clientWidth / naturalWidth, clientHeight / naturalHeight);
      Math.max((naturalWidth * scale) / innerWidth, (naturalHeight * scale) / innerHeight);
    }`);
      expect(share).toBeGreaterThan(0.8);
      expect(share).toBeLessThanOrEqual(1);
    });
  });

  test('a find hidden by the filter has no name on the map either', async () => {
    const rowIsNamed = async (): Promise<boolean> =>
      (await Promise.all((await maps()).map(names))).flat().some((name) => name.startsWith('K-'));
    expect(await rowIsNamed()).toBe(true);
    await page().getByLabel('State').selectOption('confirmed');
    await eventually(rowIsNamed).toBe(false);
    await page().getByRole('button', { name: 'Show all' }).click();
    await eventually(rowIsNamed).toBe(true);
  });

  test('a printed heading stays with its content', async () => {
    await page().emulateMedia({ media: 'print' });
    const between =
      "document.querySelector('.finds').getBoundingClientRect().top - document.querySelector('#finds-title').getBoundingClientRect().bottom";
    expect(
      await page().evaluate<string>(
        "getComputedStyle(document.querySelector('form.filters')).display",
      ),
    ).toBe('none');
    expect(await page().evaluate<number>(between)).toBeLessThan(40);
  });
});

/**
 * Opens a report again before each test of a file or a block. After each one nothing may have been
 * complained of, nor asked for elsewhere.
 * @param make makes the report, once, and says where it is
 */
function useReportPage(make: () => Promise<string>): () => Page {
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
