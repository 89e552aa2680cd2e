import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { PROJECT } from './support/run-pas.ts';

/**
 * Exported names that two files of one program declare, and why. The mock server shares no code
 * with `pas`.
 */
const DECLARED_TWICE: Readonly<Record<string, string>> = {
  Answer: 'the library, the interview and the mock server each answer another question',
  Asking: 'arguments of a verb, and of a field',
  Decision: 'decisions about a table, a push and a held entry',
  Outline: 'the commands for completion, and the border of an area',
  Photograph: 'the journal holds a name and a digest, the other a file',
  Question: 'the library asks about an entry, the interview about a field',
  Reading: 'the result of a parser, and a spelling of a term',
  References: 'names in a find, and registers of the seed',
  SentFind: 'content with its record, and content of an event',
  harvest: 'the command, and the engine below it',
  register: 'each command registers itself by this name',
  undoCommand: 'the command, and the use case below it',
  withChanges: 'changes by a person, and by the service',
};

/** Verbs that other words of the field replace: print, record, assert, parse and look up. */
const UNUSED_VERBS = /^(?:say|tell|note|heed|meet|refuse|pour|lookAt|lookFor)(?=[A-Z])/;

const printed = execFileSync(process.execPath, ['scripts/names.mjs', '--json'], {
  cwd: PROJECT,
  encoding: 'utf8',
});
const files = Object.entries(JSON.parse(printed) as Readonly<Record<string, readonly string[]>>);

test('exported names are found', () => {
  expect(files.length).toBeGreaterThan(1000);
});

test('an exported limit begins with MAX or MIN', () => {
  expect(files.filter(([name]) => /^(?:MOST|LEAST|LONGEST|FEWEST|SHORTEST)_/.test(name))).toEqual(
    [],
  );
});

test('an exported function begins with a verb of the field', () => {
  expect(files.filter(([name]) => UNUSED_VERBS.test(name))).toEqual([]);
});

test('an exported accessor begins with a verb, unless programs know it by its name', () => {
  expect(files.map(([name]) => name).filter((name) => /^[a-z]\w*(?<!One)Of$/.test(name))).toEqual([
    'questionOf',
  ]);
});

test('a name declared in two files of a program has a reason', () => {
  const twice = files.filter(([, paths]) =>
    ['src/', 'mock-server/'].some(
      (program) => paths.filter((path) => path.startsWith(program)).length > 1,
    ),
  );
  expect(twice.map(([name]) => name).filter((name) => DECLARED_TWICE[name] === undefined)).toEqual(
    [],
  );
  expect(
    Object.keys(DECLARED_TWICE).filter((name) => !twice.some(([each]) => each === name)),
  ).toEqual([]);
});
