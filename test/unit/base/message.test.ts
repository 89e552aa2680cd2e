import type { Command } from 'commander';
import { afterEach, expect, test } from 'vitest';
import {
  cmd,
  deserializeMessageValue,
  msg,
  serializeMessageValue,
  setProfileFlagSource,
} from '../../../src/base/message.ts';
import { buildWholeProgram } from '../../../src/cli/program.ts';

afterEach(() => setProfileFlagSource(() => ''));

test('a command in a text can be typed as it is: with quoted values, and with the profile if it takes one', () => {
  const find = "K 1's";
  const own = 'a';
  const text = msg`Run \`${cmd`pas login`}\`, or ${cmd`pas vocab map set heslar ${own} HES-1`}; ${cmd`pas show ${find}`}.`;
  expect(String(text)).toBe(
    "Run `pas login`, or pas vocab map set heslar a HES-1; pas show 'K 1'\\''s'.",
  );
  setProfileFlagSource(() => " --profile 'my museum'");
  const advised =
    "Run `pas login --profile 'my museum'`, or pas vocab map set heslar --profile 'my museum' a HES-1; pas show --profile 'my museum' 'K 1'\\''s'.";
  expect(String(text)).toBe(advised);
  expect(
    String(deserializeMessageValue(JSON.parse(JSON.stringify(serializeMessageValue(text))))),
  ).toBe(advised);
  expect([cmd`pas push --profile ${own}`, cmd`pas init --name ${own}`].map(String)).toEqual([
    'pas push --profile a',
    'pas init --name a',
  ]);
});

/** They act on the whole home, or on none. */
const WITHOUT_PROFILE = /^pas (demo|init|profile|service|mock-server|completion|__complete)\b/;

test('for every command it is known if it acts on a profile', async () => {
  setProfileFlagSource(() => ' --profile b');
  const nowhere = { write: () => true };
  const program = await buildWholeProgram({ stdout: { ...nowhere, columns: 80 }, stderr: nowhere });
  const paths = (command: Command, above: string): string[] => {
    const path = `${above}${command.name()}`;
    return command.commands.length === 0
      ? [path]
      : command.commands.flatMap((child) => paths(child, `${path} `));
  };
  const all = paths(program, '').map((path) => path.replace(/^\S+/, 'pas'));
  expect(all.length).toBeGreaterThan(40);
  const advised = (path: string): string => String(cmd(Object.assign([path], { raw: [path] })));
  for (const path of all.filter((each) => !each.includes('__')))
    expect(advised(path)).toBe(WITHOUT_PROFILE.test(path) ? path : `${path} --profile b`);
});
