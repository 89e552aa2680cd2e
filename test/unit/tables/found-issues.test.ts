import { expect, test } from 'vitest';
import { makeWarningIssue } from '../../../src/base/issue.ts';
import { msg } from '../../../src/base/message.ts';
import { IssueCollector } from '../../../src/tables/collapse-issues.ts';

test('warnings about one project are summed up in the first, without its row', () => {
  const found = new IssueCollector();
  for (let row = 2; row < 1002; row += 1) {
    found.add(
      makeWarningIssue('survey-project', msg`${'C-1'} is not shown to this account.`, {
        element: 'projekt',
        row,
      }),
    );
  }
  const [only, ...others] = found.listAll();
  expect([others, only?.row, only?.message]).toEqual([
    [],
    undefined,
    'C-1 is not shown to this account. Finds that use it: 1000.',
  ]);
});
