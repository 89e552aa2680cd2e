import { expect, test } from 'vitest';
import { formatLeftOut } from '../../../src/cli/run-harvest.ts';

test.each([
  ['the service sent it without content', 'Skipped A: the service sent it without content.'],
  [
    'The service did not send a complete record for A.',
    'Skipped A: The service did not send a complete record for A.',
  ],
])('the reason %j ends with one full stop', (reason, line) => {
  expect(formatLeftOut('A', reason)).toBe(line);
});
