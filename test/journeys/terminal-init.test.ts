import { expect, test } from 'vitest';
import { makeHome } from '../support/run-pas.ts';
import { answer, startTerminal, whyNoTerminal } from '../support/terminal-session.ts';

test('a profile is made by answering questions on a terminal', async ({ skip }) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  await using terminal = await startTerminal(['init', '--name', 'asked'], makeHome());
  for (const [question, text] of [
    ['address of the write interface', 'https://finds.example.org'],
    ['address of the harvesting interface', ''],
    ['root of the schema location', 'https://api.example.org/schema/svc'],
    ['production or training', 'training'],
    ['account, usually', ''],
    ['how to sign in', ''],
  ] as const) {
    await answer(terminal, question, text);
  }
  const { code, screen } = await terminal.ended();
  expect(code).toBe(0);
  expect(screen).toContain('Profile asked is in');
});

test('Ctrl-C in the middle of the questions ends with 130 and makes no profile', async ({ skip }) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  await using terminal = await startTerminal(['init'], makeHome());
  await terminal.expect('? address of the write interface');
  await terminal.press('C-c');
  const { code, screen } = await terminal.ended();
  expect(code).toBe(130);
  expect(screen).toContain('Interrupted.');
});
