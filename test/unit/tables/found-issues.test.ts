import { expect, test } from 'vitest';
import { makeWarningIssue } from '../../../src/base/issue.ts';
import { msg } from '../../../src/base/message.ts';
import { IssueCollector } from '../../../src/tables/collapse-issues.ts';

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
