import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asMonotonicMs, asWallMs } from '../../../src/base/clock.ts';
import { OUTCOMES, type OutcomeKind } from '../../../src/base/outcomes.ts';
import { ENTRY_KINDS, type Entry, type EntryKind } from '../../../src/outbox/entry.ts';
import { decideSettlement, INITIAL_STATE, type SettlementInput } from '../../../src/push/settle.ts';
import type { Outcome } from '../../../src/service/outcome.ts';

const KINDS = Object.keys(OUTCOMES) as OutcomeKind[];
const NOW = asWallMs(Date.UTC(2024, 5, 1));

/** An outcome with whatever a kind may carry. */
function outcomeOfKind(kind: OutcomeKind, odd: boolean): Outcome {
  const findings = odd ? [{ line: 1, column: undefined, message: 'wrong', errorType: 2 }] : [];
  const all = {
    detail: 'said',
    findings,
    identCely: 'C-1-N00001',
    waitMs: odd ? 3000 : undefined,
    outsideContract: odd,
  };
  return { kind, ...all } as unknown as Outcome;
}

function getEntry(kind: EntryKind, id: number): Entry {
  const common = {
    id,
    findId: id,
    localId: `K-${id}`,
    identCely: kind === 'import' ? null : `C-1-N${id}`,
    subject: `find:${id}`,
  };
  const rest = {
    document: Buffer.from('<a>\n<b/>'),
    project: `C-${id % 3}`,
    collisions: id % 6,
    value: 'INV 1',
  };
  return {
    ...common,
    ...rest,
    kind,
    state: 'sending',
    reason: null,
    issues: [],
  } as unknown as Entry;
}

type Attempt = {
  readonly outcome: OutcomeKind;
  readonly kind: EntryKind;
  readonly id: number;
  readonly odd: boolean;
  readonly status: number | undefined;
  readonly failuresBefore: number;
  readonly besideImport: boolean;
  readonly access: OutcomeKind | undefined;
};

const attempts: fc.Arbitrary<Attempt> = fc.record({
  outcome: fc.constantFrom(...KINDS),
  kind: fc.constantFrom(...ENTRY_KINDS),
  id: fc.nat({ max: 30 }),
  odd: fc.boolean(),
  status: fc.constantFrom(undefined, 200, 201, 400, 403, 404, 405, 422, 429, 500, 502),
  failuresBefore: fc.nat({ max: 20 }),
  besideImport: fc.boolean(),
  access: fc.option(fc.constantFrom(...KINDS), { nil: undefined }),
});

function makeFacts(attempt: Attempt, step: number): SettlementInput {
  const { status, failuresBefore, besideImport } = attempt;
  const entry = getEntry(attempt.kind, attempt.id);
  return {
    entry,
    status,
    failuresBefore,
    besideImport,
    collisionsBefore: attempt.id % 6,
    now: asWallMs(NOW + step * 1000),
    departedAt: asMonotonicMs(step * 1000 + 1),
    outcome: outcomeOfKind(attempt.outcome, attempt.odd),
    access: attempt.access === undefined ? undefined : outcomeOfKind(attempt.access, attempt.odd),
  };
}

test('a forbidden find stays queued if the probe of its account had no valid token', () => {
  const attempt: Attempt = {
    outcome: 'forbidden',
    kind: 'import',
    id: 1,
    odd: false,
    status: 403,
    access: 'unauthorised',
    failuresBefore: 0,
    besideImport: false,
  };
  const { settlement, state, stop } = decideSettlement(INITIAL_STATE, makeFacts(attempt, 1));
  expect([settlement.state, state.accessProven, stop]).toEqual(['queued', false, undefined]);
});

test('for any answer, an entry that may have arrived is never queued, and only an acceptance accepts', () => {
  fc.assert(
    fc.property(fc.array(attempts, { maxLength: 60 }), (all) => {
      let state = INITIAL_STATE;
      for (const [step, attempt] of all.entries()) {
        const facts = { ...makeFacts(attempt, step + 1), access: undefined };
        const { settlement } = decideSettlement(state, facts);
        expect(['accepted', 'refused', 'queued', 'uncertain']).toContain(settlement.state);
        const decision = decideSettlement(state, makeFacts(attempt, step + 1));
        if (attempt.outcome === 'uncertain') expect(decision.settlement.state).toBe('uncertain');
        if (attempt.outcome === 'accepted') expect(decision.settlement.state).toBe('accepted');
        else if (attempt.outcome !== 'already-applied')
          expect(decision.settlement.state).not.toBe('accepted');
        state = decision.state;
      }
    }),
  );
});
