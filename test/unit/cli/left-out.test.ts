import { expect, test } from 'vitest';
import { warnOfBroken } from '../../../src/cli/run-harvest.ts';

test.each([
  ['the service sent it without content', 'Skipped A: the service sent it without content.'],
  [
    'The service did not send a complete record for A.',
    'Skipped A: The service did not send a complete record for A.',
  ],
])('the reason %j ends with one full stop', (reason, line) => {
  const lines: string[] = [];
  const terminal = { warn: (each: string) => void lines.push(each) };
  expect(warnOfBroken(terminal, [{ broken: [{ identifier: 'A', reason }] }])).toBe(true);
  expect(lines).toEqual([line]);
});
