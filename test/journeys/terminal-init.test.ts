import { expect, test } from 'vitest';
import { makeHome } from '../support/run-pas.ts';
import { startTerminal, whyNoTerminal } from '../support/terminal-session.ts';

test('a profile is made by answering questions on a terminal', async ({ skip }) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  await using terminal = await startTerminal(['init', '--name', 'asked'], makeHome());
  for (const [question, answer] of [
    ['address of the write interface', 'https://finds.example.org'],
    ['address of the harvesting interface', ''],
    ['root of the schema location', 'https://api.example.org/schema/svc'],
    ['production or training', 'training'],
    ['account, usually', ''],
    ['how to sign in', ''],
  ] as const) {
    await terminal.waitForText(`? ${question}`);
    await terminal.type(answer);
    await terminal.press('Enter');
  }
  await terminal.waitForText('Profile asked is in');
  expect(await terminal.ended()).toBe(0);
});

test('Ctrl-C in the middle of the questions ends with 130 and makes no profile', async ({ skip }) => {
  skip(whyNoTerminal !== undefined, whyNoTerminal);
  await using terminal = await startTerminal(['init'], makeHome());
  await terminal.waitForText('address of the write interface');
  await terminal.press('C-c');
  expect(await terminal.ended()).toBe(130);
  expect(await terminal.screen()).toContain('Interrupted.');
});
