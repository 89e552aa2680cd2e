import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Entry } from '../../../src/outbox/entry.ts';
import type { Candidate, RejectedMatch } from '../../../src/outbox/facts.ts';
import { judgeDeparture, type Knowledge, NOTHING_KNOWN } from '../../../src/outbox/gate.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import { listAllEntries } from '../../support/list-all-entries.ts';
import {
  PHOTOGRAPH,
  queueImport,
  queueNumber,
  queuePhoto,
  tempOutbox,
} from '../../support/temp-outbox.ts';

function makeEntries(): Entry[] {
  using outbox = tempOutbox();
  queueImport(outbox, 'K-1');
  const record = makeRecordSubject('C-1-N00001');
  queueNumber(outbox, record, 'A 1', 'A 0');
  queuePhoto(outbox, record, PHOTOGRAPH);
  return listAllEntries(outbox);
}

const ENTRIES = makeEntries();

const name = fc.constantFrom('A-1', 'A-2', 'C-1-N00002', 'C-1-N00003');
const names = fc.uniqueArray(name, { maxLength: 3 });
const matched = fc.constantFrom<RejectedMatch>('same', 'near');
const candidates: fc.Arbitrary<Candidate[]> = fc.uniqueArray(fc.record({ name, matched }), {
  maxLength: 3,
  selector: (candidate) => candidate.name,
});

const knowledge: fc.Arbitrary<Knowledge> = fc.record({
  alike: candidates,
  records: names,
  namesakes: candidates,
  attempted: candidates,
  unexplained: candidates,
  hidden: names,
  isUnsearched: fc.boolean(),
  isRecordOfOthers: fc.boolean(),
  files: names,
  shownNumber: fc.option(fc.constantFrom('', 'A 0', 'A 1', 'CUR 7'), { nil: undefined }),
  ownNumbers: fc.constantFrom(new Set<string>(), new Set(['CUR 7'])),
  rejected: fc.constant(new Map()),
});

const entry = fc.constantFrom(...ENTRIES);

/** Answers all questions about an entry: each time that its candidates are others. */
function answerAll(of: Entry, known: Knowledge): Knowledge {
  const rejected = new Map(known.rejected);
  for (let asked = 0; asked < 50; asked += 1) {
    const departure = judgeDeparture(of, { ...known, rejected });
    if (departure.kind === 'leave') return { ...known, rejected };
    const { candidates: those, near } = departure.held;
    for (const candidate of those)
      if (rejected.get(candidate) !== 'same')
        rejected.set(candidate, near.includes(candidate) ? 'near' : 'same');
  }
  throw new Error('the questions have no end');
}

test('the gate decides the same about the same, and changes nothing', () => {
  fc.assert(
    fc.property(entry, knowledge, (of, known) => {
      const before = structuredClone(known);
      expect(judgeDeparture(of, known)).toStrictEqual(judgeDeparture(of, structuredClone(known)));
      expect(known).toEqual(before);
    }),
  );
});

test('answers end all questions, and hold while their candidates match no more strongly', () => {
  fc.assert(
    fc.property(entry, knowledge, fc.func(fc.boolean()), (of, known, isKept) => {
      const answered = answerAll(of, known);
      const weaken = (list: readonly Candidate[]): Candidate[] =>
        list
          .filter(isKept)
          .map((each) => (isKept(each.name) ? each : { ...each, matched: 'near' }));
      const weaker: Knowledge = {
        ...answered,
        alike: weaken(answered.alike),
        namesakes: weaken(answered.namesakes),
        attempted: weaken(answered.attempted),
        unexplained: weaken(answered.unexplained),
        hidden: answered.hidden.filter(isKept),
        files: answered.files.filter(isKept),
      };
      expect(judgeDeparture(of, weaker)).toStrictEqual({ kind: 'leave' });
    }),
  );
});

test('a candidate that was nearly the same is asked about again once it is the same', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('alike', 'namesakes', 'attempted', 'unexplained'),
      candidates,
      (kind, list) => {
        const [of] = ENTRIES;
        if (of === undefined) throw new Error('no entry');
        const answered = answerAll(of, { ...NOTHING_KNOWN, [kind]: list });
        const same = list.map((each): Candidate => ({ ...each, matched: 'same' }));
        const near = list.flatMap((each) => (each.matched === 'near' ? each.name : []));
        const departure = judgeDeparture(of, { ...answered, [kind]: same });
        expect(departure.kind === 'ask' ? departure.held.candidates : []).toStrictEqual(near);
      },
    ),
  );
});
