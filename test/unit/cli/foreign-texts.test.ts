import { expect, test } from 'vitest';
import { makeWarningIssue } from '../../../src/base/issue.ts';
import { makeTerminal, printIssues } from '../../../src/cli/terminal.ts';

/** Text that a terminal with these options writes to stdout. */
function listen(options: { readonly json: boolean; readonly color: boolean }) {
  let written = '';
  const stdout = Object.assign(Object.create(process.stdout), {
    isTTY: false,
    write: (text: string) => {
      written += text;
    },
  });
  const terminal = makeTerminal(
    { ...process, stdout },
    { quiet: false, verbose: false, cursor: true, ...options },
  );
  return { terminal, getWritten: () => written };
}

test('a text from outside that has the code of a colour is escaped, while the colours of pas are shown', () => {
  const { terminal, getWritten } = listen({ json: false, color: true });
  terminal.printLine(`${terminal.color.bold('K-\u001b[31m017')}: \u001b[8mhidden`);
  expect(getWritten()).toBe('\u001b[1mK-\\u001b[31m017\u001b[22m: \\u001b[8mhidden\n');
});

test('JSON can be read back when it has an invisible character beyond the first 65,536', () => {
  const { terminal, getWritten } = listen({ json: true, color: false });
  terminal.printValue({ note: 'flag \u{1f3f4}\u{e0067}\u{e007f}' });
  expect(getWritten()).not.toMatch(/\p{Cf}/u);
  expect(JSON.parse(getWritten())).toEqual({ note: 'flag \u{1f3f4}\u{e0067}\u{e007f}' });
});

test('a warning about many photographs is one line with their number and three of them', () => {
  const { terminal, getWritten } = listen({ json: false, color: false });
  const issues = Array.from({ length: 12 }, (_, index) =>
    makeWarningIssue('photo-gps', `IMG_${index}.jpg has a place.`),
  );
  expect(printIssues(terminal, issues)).toBe(true);
  const examples = [0, 1, 2].map((index) => `    ! IMG_${index}.jpg has a place.`);
  expect(getWritten().trimEnd().split('\n')).toEqual(['! 12 × photo-gps', ...examples]);
});
