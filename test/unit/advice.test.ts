import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { buildWholeProgram } from '../../src/commands/program.ts';
import { makeAdvice } from '../../src/context/advice.ts';
import { chooseProfile } from '../../src/context/config.ts';
import { placesFrom } from '../../src/context/places.ts';

const addresses = { base_url: 'https://a.example', schema_base: 'https://a.example', kind: 'training' } as const;
const config = { defaultProfile: 'usual', profiles: new Map(['usual', 'my museum'].map((name) => [name, addresses])) };
const places = placesFrom({ PAS_HOME: '/nowhere' });
const advising = (flag: string): ((text: string) => string) =>
  makeAdvice({ environment: {}, config: () => config, profile: () => chooseProfile(config, places, { flag, environment: {} }) });

const advised = advising('my museum');

test('every command in a text gets the profile, once, before what stands after it', () => {
  expect(advised('Run `pas login`, or pas vocab map set heslar "a" HES-1; pas push.')).toBe(
    "Run `pas login --profile 'my museum'`, or pas vocab map set --profile 'my museum' heslar \"a\" HES-1; pas push --profile 'my museum'.",
  );
  expect(advised('`pas status --profile b`, then `pas push`')).toBe(
    "`pas status --profile b`, then `pas push --profile 'my museum'`",
  );
});

test('what is no command that acts on a profile stays as it is', () => {
  for (const text of [
    'another pas pushes',
    'pas init --name x',
    '`pas profile use NAME` or --profile NAME',
    'the pas-finds package',
  ])
    expect(advised(text)).toBe(text);
});

test('nothing is added for the profile that is used anyway, nor where there is none', () => {
  expect(advising('usual')('`pas push`')).toBe('`pas push`');
  expect(advising('unknown')('`pas push`')).toBe('`pas push`');
});

/** They act on the whole home, or on none. */
const WITHOUT_PROFILE = /^pas (demo|init|profile|service|backup|restore|mock-server|completion|__complete)\b/;

test('every command of the program is known as one that acts on a profile or not', async () => {
  const nowhere = { write: () => true };
  const program = await buildWholeProgram({ stdout: { ...nowhere, columns: 80 }, stderr: nowhere });
  const paths = (command: Command, above: string): string[] => {
    const path = `${above}${command.name()}`;
    return command.commands.length === 0 ? [path] : command.commands.flatMap((child) => paths(child, `${path} `));
  };
  const all = paths(program, '').map((path) => path.replace(/^\S+/, 'pas'));
  expect(all.length).toBeGreaterThan(40);
  for (const path of all) expect(advised(path)).toBe(WITHOUT_PROFILE.test(path) ? path : `${path} --profile 'my museum'`);
});
