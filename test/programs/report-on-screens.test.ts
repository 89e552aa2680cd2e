import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Home, PROJECT, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { startMock } from '../support/start-mock.ts';
import { evaluateScript } from './browser.ts';
import { useReportPage } from './report-browser.ts';

let home: Home;

/**
 * Finds of two places as the examples have them, and a row of them along a path, closer together
 * than their names are long.
 */
const page = useReportPage(async () => {
  await using mock = await startMock();
  home = await signedIn(mock.server, WITHOUT_PAUSES);
  await home.do('harvest-vocab');
  await home.do('import', join(PROJECT, 'examples', 'finds.csv'));
  await home.do('push', '--accept-new-people');
  await importSeason(home, 60);
  const report = join(home.folder, 'all.html');
  await home.do('report', report);
  return report;
});

const maps = (): Promise<string[]> =>
  page().evaluate('[...document.querySelectorAll("figure.map")].map(({ id }) => "#" + id)');
const names = (map: string): Promise<string[]> =>
  page().locator(`${map} .labels text`).allTextContents();

describe.each([390, 800, 1400])('on a screen %i pixels wide', (width) => {
  beforeEach(() => page().setViewportSize({ width, height: 900 }));

  test('nothing overflows the page, neither the cards nor the table', async () => {
    for (const view of ['cards', 'table']) {
      await page().getByRole('radio', { name: view }).check();
      await page()
        .locator(view === 'cards' ? '.finds' : '.brief')
        .waitFor();
      expect(await evaluateScript<string[]>(page(), 'cut-words')).toEqual([]);
      expect(
        await page().evaluate<number>(
          'document.querySelector(".brief").scrollWidth - document.querySelector(".brief").clientWidth',
        ),
      ).toBe(0);
    }
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
    "document.querySelector('.finds, .brief').getBoundingClientRect().top - document.querySelector('#finds-title').getBoundingClientRect().bottom";
  expect(
    await page().evaluate<string>(
      "getComputedStyle(document.querySelector('form.filters')).display",
    ),
  ).toBe('none');
  expect(await page().evaluate<number>(between)).toBeLessThan(40);
});
