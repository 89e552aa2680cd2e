import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Entry } from '../../../src/outbox/entry.ts';
import type { Candidate, GateBasis, RejectedMatch } from '../../../src/outbox/facts.ts';
import { judgeDeparture, type Knowledge } from '../../../src/outbox/gate.ts';
import { listAllEntries, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

type Rejected = ReadonlyMap<string, RejectedMatch>;

function makeEntry(): Entry {
  using outbox = tempOutbox();
  queueImport(outbox, 'K-1');
  const [entry] = listAllEntries(outbox);
  if (entry === undefined) throw new Error('no entry');
  return entry;
}

const ENTRY = makeEntry();

const candidates: fc.Arbitrary<Candidate[]> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('', 'A-1', 'A-2', 'C-1-N00002', 'C-1-N00003'),
    matched: fc.constantFrom<RejectedMatch>('same', 'near'),
  }),
  { maxLength: 3, selector: ({ name }) => name },
);

const knowledge: fc.Arbitrary<Knowledge> = fc.record(
  {
    'alike-here': candidates,
    'two-records': candidates,
    'local-id-in-use': candidates,
    'attempted-elsewhere': candidates,
    'number-used': candidates,
    'equal-record': candidates,
    'not-searched': candidates,
    'record-not-ours': candidates,
    'equal-photograph': candidates,
    'number-changed': candidates,
  } satisfies Record<GateBasis, unknown>,
  { requiredKeys: [] },
);

/** Answers all questions about an entry: each time that its candidates are others. */
function answerAll(known: Knowledge): Rejected {
  const rejected = new Map<string, RejectedMatch>();
  for (let asked = 0; asked < 50; asked += 1) {
    const question = judgeDeparture(ENTRY, known, rejected);
    if (question === undefined) return rejected;
    for (const { name, matched } of question.candidates)
      if (rejected.get(name) !== 'same') rejected.set(name, matched);
  }
  throw new Error('the questions have no end');
}

test('answers end all questions, and hold while their candidates match no more strongly', () => {
  fc.assert(
    fc.property(knowledge, fc.func(fc.boolean()), (known, isKept) => {
      const rejected = answerAll(known);
      const weaken = (list: readonly Candidate[]): Candidate[] =>
        list
          .filter(isKept)
          .map((each) => (isKept(each.name) ? each : { ...each, matched: 'near' }));
      const weaker: Knowledge = Object.fromEntries(
        Object.entries(known).map(([basis, list]) => [basis, weaken(list)]),
      );
      expect(judgeDeparture(ENTRY, weaker, rejected)).toBeUndefined();
    }),
  );
});

test('a candidate that was nearly the same is asked about again once it is the same', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('alike-here', 'local-id-in-use', 'attempted-elsewhere', 'equal-record'),
      candidates,
      (basis, list) => {
        const rejected = answerAll({ [basis]: list });
        const same = list.map((each): Candidate => ({ ...each, matched: 'same' }));
        const near = list.flatMap((each) => (each.matched === 'near' ? each.name : []));
        const question = judgeDeparture(ENTRY, { [basis]: same }, rejected);
        expect(question?.candidates.map(({ name }) => name) ?? []).toStrictEqual(near);
      },
    ),
  );
});
