import { expect, test } from 'vitest';
import { msg } from '../../../src/base/message.ts';
import { findMeantCandidate, listAnswerWords } from '../../../src/cli/result-texts.ts';
import { makeCandidates } from '../../../src/outbox/gate.ts';

const RECORD = 'C-202400101-N00001';

test.each([
  ['one record', [RECORD], ['same', 'new']],
  ['a record and a find of another account', [RECORD, 'F-12'], ['new']],
  ['the same in the other order', ['F-12', RECORD], ['new']],
  ['a find of another account', ['F-12'], ['new']],
])('that a find is the same is an answer where it is clear what: %s', (_what, names, answers) => {
  const candidates = makeCandidates(names);
  expect(listAnswerWords({ basis: 'attempted-elsewhere', question: msg`?`, candidates })).toEqual(
    answers,
  );
});

test.each([
  [['near', 'same'], 'B-2', ['same', 'new']],
  [['near'], 'B-1', ['same', 'new']],
  [['near', 'near'], undefined, ['new']],
] as const)('of alike finds that match %s, the answer same means %s', (matches, name, answers) => {
  const candidates = matches.map((matched, at) => ({ name: `B-${at + 1}`, matched }));
  expect(findMeantCandidate(candidates)?.name).toBe(name);
  expect(listAnswerWords({ basis: 'alike-here', question: msg`?`, candidates })).toEqual(answers);
});
