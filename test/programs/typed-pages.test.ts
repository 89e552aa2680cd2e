import { expect, test } from 'vitest';
import { runPage } from '../support/run-page.ts';

/** Text of a page, word by word, except for what it leaves out with `…`. */
function whereShown(shown: string): RegExp {
  const parts = shown.trim().split('…');
  const texts = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${texts.join('[\\s\\S]*?')}$`);
}

test.concurrent.each([
  ['docs/ci.md', undefined],
  ['README.md', 'The first push'],
  ['docs/tutorial-field.md', undefined],
  ['docs/tutorial-museum.md', undefined],
  ['docs/tutorial-phone.md', undefined],
])('%s prints what happens', async (page, heading) => {
  const blocks = await runPage(page, heading);
  expect(blocks.length).toBeGreaterThan(0);
  for (const { shown, printed } of blocks)
    if (shown !== undefined) expect(printed.trim()).toMatch(whereShown(shown));
});
