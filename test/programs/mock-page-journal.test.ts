import { expect, test } from 'vitest';
import { setNumber } from '../support/contract-requests.ts';
import { eventually } from '../support/eventually.ts';
import { expectAccessible } from './browser.ts';
import { useMockPage } from './mock-page.ts';

const suite = useMockPage();

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

test.each([1400, 800, 390])(
  'with a row open nothing collapses or overflows the page at %i pixels',
  async (width) => {
    const page = suite.page();
    await page.setViewportSize({ width, height: 900 });
    await setNumber(suite.mock(), 'M-202400202-N00003', '', suite.token());
    await page.getByRole('button', { name: /evidencni-cislo/ }).click();
    await page.locator('.whole pre').waitFor();
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
