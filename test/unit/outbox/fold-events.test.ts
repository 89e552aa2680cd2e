import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asServerMs } from '../../../src/base/clock.ts';
import type { AnswerEffect, DecidedBody, OutboxEvent } from '../../../src/outbox/events.ts';
import {
  computeState,
  type EntryFacts,
  type EntryIntent,
  foldEvents,
} from '../../../src/outbox/fold-events.ts';

const IDENT = 'C-202400101-N00001';
const OTHER = 'C-202400101-N00002';
const SENDABLE: EntryIntent = { hasContent: true, retryOf: null };

type Spoken =
  | { readonly did: 'attempt'; readonly id: string }
  | {
      readonly did: 'answer';
      readonly of: string;
      readonly settles: AnswerEffect;
      readonly ident?: string;
    }
  | { readonly did: 'found'; readonly of: readonly string[]; readonly ident?: string }
  | { readonly did: 'absent'; readonly of: readonly string[] }
  | ({ readonly did: 'decide' } & Partial<DecidedBody> &
      Pick<DecidedBody, 'answer'> & { readonly id?: string });

/** Each at the place after the one before, under its number, or under the name that it is given. */
function history(...events: readonly Spoken[]): OutboxEvent[] {
  return events.map((each, index) =>
    makeEvent(each, index + 1, 'id' in each && each.id !== undefined ? each.id : `e${index + 1}`),
  );
}

function makeEvent(event: Spoken, position: number, id: string): OutboxEvent {
  const head = { id, outbox: 'outbox', find: 'find', entry: 'entry', position };
  const evidence = {
    at: 1,
    serverMs: asServerMs(1),
    basis: 'x',
    reason: 'y',
    candidates: [],
    account: null,
  };
  switch (event.did) {
    case 'attempt':
      return {
        ...head,
        kind: 'attempted',
        body: {
          entryKind: 'import',
          account: 'U-1',
          method: 'POST',
          path: '/',
          at: 1,
          fromMs: null,
          sentByMs: null,
          settleMs: 1,
          target: null,
          localId: 'K-1',
          project: 'C-1',
          digest: 'd',
          content: null,
          value: null,
          expects: null,
          photograph: null,
        },
      };
    case 'answer': {
      const { of: attempt, settles, ident = IDENT } = event;
      const outcome = settles === 'unknown' ? 'uncertain' : settles === 'queued' ? 'busy' : settles;
      const identCely = settles === 'accepted' ? ident : null;
      const facts = {
        serverDateMs: null,
        endedMs: null,
        notBeforeAt: 0,
        reason: null,
        issues: null,
      };
      return {
        ...head,
        kind: 'answered',
        body: { attempt, outcome, settles, at: 1, status: null, identCely, ...facts },
      };
    }
    case 'found':
      return {
        ...head,
        kind: 'found',
        body: { ...evidence, attempts: event.of, identCely: event.ident ?? IDENT },
      };
    case 'absent':
      return {
        ...head,
        kind: 'absent',
        body: { ...evidence, attempts: event.of, identCely: null },
      };
    case 'decide': {
      const { did: _, id: __, ...body } = event;
      const rest = {
        by: 'person',
        held: null,
        at: 1,
        attempts: [],
        identCely: null,
        candidates: [],
        group: 'g',
        of: null,
        reason: 'r',
      } as const;
      return { ...head, kind: 'decided', body: { ...rest, ...body } };
    }
  }
}

const attempt = (id: string): Spoken => ({ did: 'attempt', id });
const answer = (of: string, settles: AnswerEffect, ident?: string): Spoken => ({
  did: 'answer',
  of,
  settles,
  ident,
});
const found = (of: readonly string[], ident?: string): Spoken => ({
  did: 'found',
  of,
  ident,
});
const absent = (...of: string[]): Spoken => ({ did: 'absent', of });
const decide = (body: Omit<Extract<Spoken, { did: 'decide' }>, 'did'>): Spoken => ({
  did: 'decide',
  ...body,
});

function plain({ open, unknown, rejected, accepted, refusal, abandoned, attempts }: EntryFacts) {
  return {
    accepted,
    attempts,
    open: [...open].sort(),
    unknown: [...unknown].sort(),
    rejected: [...rejected].sort(),
    refusal: refusal?.attempt,
    abandoned: abandoned?.event,
  };
}

const stateAfter = (...events: readonly Spoken[]): string =>
  computeState(foldEvents(history(...events)), SENDABLE);

describe('the state of an entry', () => {
  test.each<[string, string, readonly Spoken[]]>([
    ['queued', 'without events', []],
    ['sending', 'with an attempt without an answer', [attempt('a')]],
    ['accepted', 'as the service answered', [attempt('a'), answer('a', 'accepted')]],
    ['refused', 'as the service answered', [attempt('a'), answer('a', 'refused')]],
    ['queued', 'where it did not arrive', [attempt('a'), answer('a', 'queued')]],
    [
      'uncertain',
      'where no answer says whether it arrived',
      [attempt('a'), answer('a', 'unknown')],
    ],
    [
      'uncertain',
      'where an earlier attempt may have arrived and a later one did not',
      [attempt('a'), answer('a', 'unknown'), attempt('b'), answer('b', 'queued')],
    ],
    [
      'uncertain',
      'where an earlier attempt may have arrived and a later one was refused',
      [attempt('a'), answer('a', 'unknown'), attempt('b'), answer('b', 'refused')],
    ],
    [
      'accepted',
      'where a later attempt was accepted',
      [attempt('a'), answer('a', 'unknown'), attempt('b'), answer('b', 'accepted')],
    ],
    ['accepted', 'by evidence', [attempt('a'), answer('a', 'unknown'), found(['a'])]],
    [
      'queued',
      'by evidence that nothing arrived',
      [attempt('a'), answer('a', 'unknown'), absent('a')],
    ],
    [
      'uncertain',
      'by evidence about one of two attempts',
      [attempt('a'), answer('a', 'unknown'), attempt('b'), answer('b', 'unknown'), absent('a')],
    ],
    ['queued', 'by evidence about an attempt that was never answered', [attempt('a'), absent('a')]],
    [
      'sending',
      'while it is sent again after such evidence',
      [attempt('a'), absent('a'), attempt('b')],
    ],
    [
      'accepted',
      'by a person',
      [
        attempt('a'),
        answer('a', 'unknown'),
        decide({ answer: 'created', identCely: IDENT, attempts: ['a'] }),
      ],
    ],
    [
      'queued',
      'where a person has it sent again',
      [attempt('a'), answer('a', 'unknown'), decide({ answer: 'send', attempts: ['a'] })],
    ],
    [
      'dropped',
      'where a person gave it up',
      [attempt('a'), answer('a', 'unknown'), decide({ answer: 'abandon' })],
    ],
    ['dropped', 'where a person gave up what was never sent', [decide({ answer: 'abandon' })]],
    [
      'queued',
      'where a person wants what was given up',
      [decide({ answer: 'abandon' }), decide({ answer: 'send' })],
    ],
    [
      'uncertain',
      'where the service gave its record to another find',
      [
        attempt('a'),
        answer('a', 'accepted'),
        decide({ answer: 'release', by: 'service', identCely: IDENT, attempts: ['a'] }),
      ],
    ],
    [
      'queued',
      'where nothing of it is found after that',
      [
        attempt('a'),
        answer('a', 'accepted'),
        decide({ answer: 'release', identCely: IDENT, attempts: ['a'] }),
        absent('a'),
      ],
    ],
    [
      'accepted',
      'where another record is found after that',
      [
        attempt('a'),
        answer('a', 'accepted'),
        decide({ answer: 'release', identCely: IDENT, attempts: ['a'] }),
        found(['a'], OTHER),
      ],
    ],
    [
      'accepted',
      'where a record is released that is not its own',
      [
        attempt('a'),
        answer('a', 'accepted'),
        decide({ answer: 'release', identCely: OTHER, attempts: ['a'] }),
      ],
    ],
  ])('is %s %s', (state, _, events) => {
    expect(stateAfter(...events)).toBe(state);
  });

  test('of an import without a document is a draft, unless something was sent', () => {
    const draft: EntryIntent = { hasContent: false, retryOf: null };
    const ofDraft = (...events: Spoken[]) => computeState(foldEvents(history(...events)), draft);
    expect([
      ofDraft(),
      ofDraft(attempt('a'), answer('a', 'refused')),
      ofDraft(attempt('a'), answer('a', 'queued')),
    ]).toEqual(['draft', 'draft', 'draft']);
    expect([ofDraft(attempt('a')), ofDraft(attempt('a'), answer('a', 'unknown'))]).toEqual([
      'sending',
      'uncertain',
    ]);
    expect([
      ofDraft(attempt('a'), answer('a', 'accepted')),
      ofDraft(decide({ answer: 'abandon' })),
    ]).toEqual(['accepted', 'dropped']);
  });

  test('is queued if its last refusal is overruled, until it is refused again', () => {
    const refused = [attempt('a'), answer('a', 'refused')];
    const facts = (...more: Spoken[]) => foldEvents(history(...refused, ...more));
    const overruled: EntryIntent = { hasContent: true, retryOf: 'a' };
    expect(computeState(facts(), overruled)).toBe('queued');
    expect(computeState(facts(attempt('b'), answer('b', 'queued')), overruled)).toBe('queued');
    expect(computeState(facts(attempt('b'), answer('b', 'refused')), overruled)).toBe('refused');
    expect(
      computeState(facts(attempt('b'), answer('b', 'refused')), { hasContent: true, retryOf: 'b' }),
    ).toBe('queued');
    // In a copy that does not know of it, it waits for a person, with the content that was refused.
    expect(computeState(facts(attempt('b'), answer('b', 'queued')), SENDABLE)).toBe('refused');
  });
});

describe('an answer', () => {
  test('of acceptance outranks evidence, decisions and later events', () => {
    const accepted = [attempt('a'), answer('a', 'unknown'), attempt('b'), answer('b', 'accepted')];
    for (const later of [
      found(['a'], OTHER),
      absent('a', 'b'),
      decide({ answer: 'abandon' }),
      decide({ answer: 'created', identCely: OTHER }),
      decide({ answer: 'send', attempts: ['a', 'b'] }),
    ])
      expect(foldEvents(history(...accepted, later)).accepted).toMatchObject({
        identCely: IDENT,
        by: 'answer',
      });
  });

  test('that arrives late outranks the evidence and the decision before it', () => {
    for (const before of [
      absent('a'),
      found(['a'], OTHER),
      decide({ answer: 'created', identCely: OTHER, attempts: ['a'] }),
      decide({ answer: 'abandon' }),
    ])
      expect(
        foldEvents(history(attempt('a'), before, answer('a', 'accepted'))).accepted,
      ).toMatchObject({
        identCely: IDENT,
        by: 'answer',
      });
  });

  test('of unknown outcome does not undo a settlement', () => {
    expect(stateAfter(attempt('a'), absent('a'), answer('a', 'unknown'))).toBe('queued');
    expect(stateAfter(attempt('a'), answer('a', 'refused'), answer('a', 'unknown'))).toBe(
      'refused',
    );
    expect(stateAfter(attempt('a'), answer('a', 'unknown'), answer('a', 'refused'))).toBe(
      'refused',
    );
  });

  test('counts before its attempt is merged, and the attempt is not open then', () => {
    expect(stateAfter(answer('a', 'unknown'))).toBe('uncertain');
    expect(stateAfter(answer('a', 'queued'), attempt('a'))).toBe('queued');
    expect(stateAfter(absent('a'), attempt('a'))).toBe('queued');
  });
});

describe('evidence and decisions', () => {
  test('are equal in rank, so that the last one counts', () => {
    const before = [attempt('a'), answer('a', 'unknown')];
    const facts = foldEvents(
      history(
        ...before,
        found(['a'], OTHER),
        decide({ answer: 'created', identCely: IDENT, attempts: ['a'] }),
      ),
    );
    expect(facts.accepted).toMatchObject({ identCely: IDENT, by: 'person' });
    expect(
      foldEvents(history(...before, decide({ answer: 'created', identCely: OTHER }), found(['a'])))
        .accepted,
    ).toMatchObject({
      by: 'evidence',
    });
  });

  test('to send it reject the considered records', () => {
    const facts = foldEvents(
      history(
        decide({ answer: 'send', candidates: [IDENT] }),
        decide({ answer: 'send', candidates: [OTHER] }),
      ),
    );
    expect([...facts.rejected]).toEqual([IDENT, OTHER]);
  });
});

describe('an undo', () => {
  const uncertain = [attempt('a'), answer('a', 'unknown'), attempt('b'), answer('b', 'unknown')];
  const undo = (of: string): Spoken => decide({ answer: 'undo', of });

  test.each<[string, Spoken]>([
    ['created', decide({ id: 'd', answer: 'created', identCely: IDENT, attempts: ['a', 'b'] })],
    ['send', decide({ id: 'd', answer: 'send', attempts: ['a', 'b'], candidates: [OTHER] })],
    ['abandon', decide({ id: 'd', answer: 'abandon' })],
  ])('of "%s" restores exactly the uncertainty from before', (_, decision) => {
    const before = plain(foldEvents(history(...uncertain)));
    expect(before.unknown).toEqual(['a', 'b']);
    expect(plain(foldEvents(history(...uncertain, decision)))).not.toEqual(before);
    expect(plain(foldEvents(history(...uncertain, decision, undo('d'))))).toEqual(before);
  });

  test('comes too late after another attempt', () => {
    const send = decide({ id: 'd', answer: 'send', attempts: ['a', 'b'] });
    expect(
      plain(
        foldEvents(history(...uncertain, send, attempt('c'), answer('c', 'refused'), undo('d'))),
      ),
    ).toMatchObject({
      unknown: [],
      refusal: 'c',
    });
    expect(
      plain(
        foldEvents(history(...uncertain, send, attempt('c'), undo('d'), answer('c', 'queued'))),
      ),
    ).toMatchObject({
      unknown: [],
    });
  });

  test('made by another copy in place of an attempt leaves the entry uncertain', () => {
    const ours = history(
      ...uncertain,
      decide({ id: 'd', answer: 'send', attempts: ['a', 'b'] }),
      attempt('c'),
      answer('c', 'refused'),
    );
    const theirs = history(
      ...uncertain,
      decide({ id: 'd', answer: 'send', attempts: ['a', 'b'] }),
      undo('d'),
    );
    const undone = theirs.at(-1) as OutboxEvent;
    expect(
      computeState(foldEvents([...ours, { ...undone, id: 'undone' } as OutboxEvent]), SENDABLE),
    ).toBe('uncertain');
  });

  test.each(['a', 'e2', 'e3', 'e4', 'nothing'])(
    'undoes decisions alone, and not the fact %s',
    (of) => {
      const events = [
        attempt('a'),
        answer('a', 'accepted'),
        found(['a']),
        decide({ answer: 'release', identCely: IDENT, attempts: ['a'] }),
      ];
      expect(plain(foldEvents(history(...events, undo(of))))).toEqual(
        plain(foldEvents(history(...events))),
      );
    },
  );

  test('of an undo has no effect', () => {
    const abandon = decide({ id: 'd', answer: 'abandon' });
    expect(stateAfter(abandon, decide({ id: 'u', answer: 'undo', of: 'd' }), undo('u'))).toBe(
      'queued',
    );
  });
});

const anySpoken: fc.Arbitrary<Spoken> = (() => {
  const id = fc.constantFrom('a1', 'a2', 'a3');
  const ids = fc.uniqueArray(id);
  const ident = fc.constantFrom(IDENT, OTHER);
  const settles = fc.constantFrom<AnswerEffect>('accepted', 'refused', 'queued', 'unknown');
  const of = fc.option(fc.constantFrom('e1', 'e2', 'e3', 'e4', 'e5', 'a1', 'a2'));
  return fc.oneof(
    fc.record({ did: fc.constant('attempt' as const), id }),
    fc.record({ did: fc.constant('answer' as const), of: id, settles, ident }),
    fc.record({ did: fc.constant('found' as const), of: ids, ident }),
    fc.record({ did: fc.constant('absent' as const), of: ids }),
    fc.record({
      did: fc.constant('decide' as const),
      answer: fc.constantFrom<DecidedBody['answer'][]>(
        'created',
        'send',
        'abandon',
        'release',
        'undo',
      ),
      attempts: ids,
      identCely: ident,
      candidates: fc.uniqueArray(ident),
      of,
    }),
  );
})();

/** Histories as several copies may write them: places that tie, and gaps. */
const anyHistory = fc
  .array(fc.tuple(anySpoken, fc.integer({ min: 1, max: 8 })), { maxLength: 12 })
  .map((spokenEvents) => {
    const events = spokenEvents.map(([each, position], index) =>
      makeEvent(each, position, each.did === 'attempt' ? each.id : `e${index + 1}`),
    );
    return [...new Map(events.map((event) => [event.id, event])).values()];
  });

const anyOrder = anyHistory.chain((events) =>
  fc.tuple(
    fc.constant(events),
    fc.shuffledSubarray(events, { minLength: events.length }),
    fc.subarray(events),
  ),
);

describe('for any events,', () => {
  test('the fold does not depend on the order in which events are merged, or on repeated events', () => {
    fc.assert(
      fc.property(anyOrder, ([events, shuffled, twice]) => {
        expect(plain(foldEvents([...shuffled, ...twice]))).toEqual(plain(foldEvents(events)));
      }),
    );
  });

  test('merging is commutative, associative and idempotent', () => {
    const parts = anyHistory.chain((events) =>
      fc.tuple(fc.subarray(events), fc.subarray(events), fc.subarray(events)),
    );
    const merged = (...sets: (readonly OutboxEvent[])[]) => [
      ...new Map(sets.flat().map((event) => [event.id, event])).values(),
    ];
    const facts = (events: readonly OutboxEvent[]) => plain(foldEvents(events));
    fc.assert(
      fc.property(parts, ([a, b, c]) => {
        expect(facts(merged(a, b))).toEqual(facts(merged(b, a)));
        expect(facts(merged(merged(a, b), c))).toEqual(facts(merged(a, merged(b, c))));
        expect(facts(merged(a, a))).toEqual(facts(a));
      }),
    );
  });

  test('an answer of acceptance accepts the entry, unless its record was released', () => {
    fc.assert(
      fc.property(
        anyHistory,
        fc.constantFrom('a1', 'a2', 'a3'),
        fc.integer({ min: 1, max: 9 }),
        (events, of, position) => {
          const keptEvents = events.filter(
            ({ kind, body }) => kind !== 'decided' || body.answer !== 'release',
          );
          const facts = foldEvents([
            ...keptEvents,
            makeEvent(answer(of, 'accepted'), position, 'accepting'),
          ]);
          expect(computeState(facts, SENDABLE)).toBe('accepted');
        },
      ),
    );
    fc.assert(
      fc.property(anyHistory, fc.constantFrom('a1', 'a2', 'a3'), (events, of) => {
        expect(
          computeState(
            foldEvents([...events, makeEvent(answer(of, 'accepted'), 9, 'accepting')]),
            SENDABLE,
          ),
        ).toBe('accepted');
      }),
    );
  });

  test('accepted is final, except for a release or an undo of "created"', () => {
    fc.assert(
      fc.property(anyHistory, anySpoken, (events, more) => {
        if (foldEvents(events).accepted === undefined) return;
        const next = makeEvent(more, 9, more.did === 'attempt' ? 'new' : 'next');
        if (foldEvents([...events, next]).accepted !== undefined) return;
        const created = events.find(({ id }) => next.kind === 'decided' && id === next.body.of);
        const isUndo =
          next.kind === 'decided' &&
          next.body.answer === 'undo' &&
          created?.kind === 'decided' &&
          created.body.answer === 'created';
        expect(isUndo || (next.kind === 'decided' && next.body.answer === 'release')).toBe(true);
      }),
    );
  });

  test('no attempt is ever forgotten', () => {
    fc.assert(
      fc.property(
        anyHistory,
        anySpoken,
        fc.integer({ min: 1, max: 9 }),
        (events, more, position) => {
          const before = foldEvents(events);
          const after = foldEvents([
            ...events,
            makeEvent(more, position, more.did === 'attempt' ? 'new' : 'next'),
          ]);
          expect(after.attempts).toBe(before.attempts + (more.did === 'attempt' ? 1 : 0));
        },
      ),
    );
  });

  test('an attempt without an end stays open or unknown until an answer, evidence or a person settles it', () => {
    fc.assert(
      fc.property(anyHistory, (events) => {
        const { open, unknown } = foldEvents(events);
        const named = new Set(
          events.flatMap((event) => {
            if (event.kind === 'answered')
              return event.body.settles === 'unknown' ? [] : [event.body.attempt];
            if (event.kind === 'found' || event.kind === 'absent') return [...event.body.attempts];
            return event.kind === 'decided' && ['created', 'send'].includes(event.body.answer)
              ? [...event.body.attempts]
              : [];
          }),
        );
        for (const event of events)
          if (event.kind === 'attempted' && !named.has(event.id))
            expect(open.has(event.id) || unknown.has(event.id)).toBe(true);
      }),
    );
  });
});
