import { expect, test } from 'vitest';
import { makeErrorIssue, makeWarningIssue } from '../../../src/base/issue.ts';
import { msg } from '../../../src/base/message.ts';
import { IssueCollector } from '../../../src/tables/collapse-issues.ts';

test('of very many errors the first are kept, the others counted, and no warning is lost', () => {
  const found = new IssueCollector();
  for (let row = 2; row < 300_002; row += 1) {
    found.add(
      makeErrorIssue('table-cells', 'The row has only 2 cells.', { file: 'season.csv', row }),
    );
    if (row % 100_000 === 0) found.add(makeWarningIssue('local-id-missing', 'Add one.', { row }));
  }
  const all = found.listAll();
  expect(all).toHaveLength(10_000 + 3 + 1);
  expect(all.filter(({ severity }) => severity === 'warning').map(({ row }) => row)).toEqual([
    100_000, 200_000, 300_000,
  ]);
  expect(all.at(-1)).toMatchObject({
    rule: 'more-errors',
    severity: 'error',
    message: expect.stringContaining('290000 more errors'),
  });
});

test('a table with exactly the maximum of errors reports no omission', () => {
  const found = new IssueCollector();
  for (let row = 2; row < 10_002; row += 1)
    found.add(makeErrorIssue('table-cells', 'The row has only 2 cells.', { row }));
  expect(found.listAll()).toHaveLength(10_000);
});

test('warnings that are summed up take the memory of one', () => {
  const found = new IssueCollector();
  for (let row = 2; row < 1002; row += 1) {
    found.add(
      makeWarningIssue('survey-project', msg`${'C-1'} is not shown to this account.`, {
        element: 'projekt',
        row,
      }),
    );
  }
  expect(found.listAll()).toHaveLength(1000);
  expect(new Set(found.listAll())).toEqual(new Set([expect.objectContaining({ row: 2 })]));
});
