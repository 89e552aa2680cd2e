import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../../src/base/errors.ts';
import { msg } from '../../../src/base/message.ts';
import { askAccess, findStopCause, updatePeerState } from '../../../src/push/peer-check.ts';
import {
  type AttemptFacts,
  makeInitialState,
  type PushState,
} from '../../../src/push/push-context.ts';
import { sendOnce } from '../../../src/push/departure.ts';
import { type HttpRequest, TransportError } from '../../../src/http/exchange.ts';
import type { Pace, Slot } from '../../../src/http/pacer.ts';
import type { Entry } from '../../../src/outbox/entry.ts';
import { findEntryById } from '../../../src/outbox/entry-queries.ts';
import type { Outcome } from '../../../src/pas-api/outcome.ts';
import { inWords } from '../../support/in-words.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { queueImport, tempOutbox } from '../../support/temp-outbox.ts';
import { answer, isCreate, obeyed, page, type Reply, scene } from './push-scene.ts';

const uncertain = (outsideContract: boolean): Outcome =>
  ({ kind: 'uncertain', detail: msg`odd`, outsideContract }) as Outcome;
const ACCEPTED: Outcome = { kind: 'accepted', identCely: 'C-1-N00001' };
const UNREACHED: Outcome = { kind: 'not-delivered', detail: msg`nobody` };
const CHANGED = { kind: 'content-changed', detail: msg`it changed` } as Outcome;
const CLOSED = { kind: 'closed', detail: msg`shut` } as Outcome;

describe('the identity of the peer', () => {
  test.each<[string, Outcome, number | undefined, PushState['peer'], PushState['peer']]>([
    ['what is decided', ACCEPTED, 201, 'unverified', 'verified'],
    ['what is decided after a question', ACCEPTED, 201, 'probing', 'verified'],
    ['what was decided before an odd answer', ACCEPTED, 201, 'suspect', 'suspect'],
    ['a service that is closed', CLOSED, 503, 'unverified', 'verified'],
    ['a request that never arrived', UNREACHED, undefined, 'unverified', 'unverified'],
    ['a file that changed', CHANGED, undefined, 'unverified', 'unverified'],
    ['a failure of the service', uncertain(false), 500, 'unverified', 'unverified'],
    [
      'a line that is cut, where the service has answered',
      uncertain(false),
      undefined,
      'verified',
      'verified',
    ],
    [
      'a line that is cut, where nothing has answered yet',
      uncertain(false),
      undefined,
      'unverified',
      'suspect',
    ],
    ['an odd answer', uncertain(true), 200, 'verified', 'suspect'],
    ['an odd answer after a question', uncertain(true), 200, 'probing', 'suspect'],
  ])('is shown by %s', (_, outcome, status, before, after) => {
    const facts = (id: number, givenOutcome: Outcome): AttemptFacts =>
      ({
        entry: { id } as Entry,
        outcome: givenOutcome,
        status: givenOutcome === outcome ? status : 200,
      }) as AttemptFacts;
    const state: PushState = {
      ...makeInitialState(new Map()),
      peer: before,
      nonConforming: new Set([7, 8]),
    };
    const judged = updatePeerState(state, facts(7, outcome));
    expect(judged.state.peer).toBe(after);
    const isOdd = outcome.kind === 'uncertain' && outcome.outsideContract;
    expect([...judged.state.nonConforming].toSorted()).toEqual(isOdd ? [7, 8] : [8]);
    const causes = judged.effects.flatMap((effect) =>
      effect.type === 'stop' ? [inWords(effect.cause)] : [],
    );
    expect(causes).toEqual(
      isOdd && before === 'probing'
        ? [{ kind: 'in-doubt', reason: 'the answers may not come from the service: odd' }]
        : [],
    );
    expect(judged.effects.some(({ type }) => type === 'probe-peer')).toBe(
      outcome.kind === 'uncertain' && after === 'suspect',
    );
    expect(
      updatePeerState(judged.state, facts(9, uncertain(true))).state.nonConforming.has(9),
    ).toBe(true);
  });
});

describe('a forbidden find, if the access probe results in', () => {
  const OPEN = 'refused, and it is unclear whether the whole account is refused: said';
  test.each<[string, () => Reply, string, string, string]>([
    ['the same', () => answer(403), 'queued', 'the account is refused: said', 'not-allowed: said'],
    ['its closing', () => answer(503), 'queued', OPEN, 'closed: said'],
    [
      'no answer',
      () => new TransportError('connect', false, 'nobody is there'),
      'queued',
      OPEN,
      'unreachable: nobody is there',
    ],
    [
      'a page of something else',
      () => page(200),
      'queued',
      OPEN,
      'in-doubt: the answers may not come from the service: ',
    ],
    [
      'a record',
      () => answer(201, { 'x-record-id': 'C-1-N00009' }),
      'queued',
      OPEN,
      'in-doubt: the answers may not come from the service: ',
    ],
    ['what an open account hears', () => answer(405), 'refused', 'said', 'undefined'],
  ])('%s', async (_, probe, state, reason, cause) => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const { entryId } = queueImport(outbox, 'K-1');
    const { run } = scene(clock, (request) => (isCreate(request) ? answer(403) : probe()));
    const { stopCause } = await run(outbox);
    expect(findEntryById(outbox, entryId)).toMatchObject({ state });
    expect(String(findEntryById(outbox, entryId)?.reason)).toBe(reason);
    const output =
      stopCause === undefined
        ? 'undefined'
        : `${stopCause.kind}: ${'reason' in stopCause ? stopCause.reason : ''}`;
    expect(output.startsWith(cause)).toBe(true);
  });
});

test('a question that is throttled holds everything back for as long as the service asks', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  for (const name of ['K-1', 'K-2']) queueImport(outbox, name);
  let questions = 0;
  const { run, asked } = scene(clock, (request) => {
    if (isCreate(request)) return questions === 0 ? answer(403) : obeyed(request);
    questions += 1;
    return answer(429, { 'retry-after': '30' });
  });
  expect(await run(outbox)).toMatchObject({ accepted: 1, refused: 1 });
  const [, question, next] = asked;
  expect((next?.at ?? 0) - (question?.at ?? 0)).toBeGreaterThanOrEqual(30_000);
});

describe('a request', () => {
  const REQUEST: HttpRequest = { method: 'POST', url: 'http://service/x' };

  /** @param takesMs until the answer, of which the slot is waited for `leavesMs` */
  function sending(
    reply: () => Reply,
    identCely: string | null = 'C-1-N00001',
    kind: Entry['kind'] = 'photo',
  ) {
    const clock = manualClock();
    const beganMs = clock.monotonicMs();
    const slots: string[] = [];
    const slot = {
      depart: () => void slots.push('left'),
      release: () => void slots.push('given back'),
    } as unknown as Slot;
    const sending = sendOnce(
      {
        ...{
          clock,
          answerTimeoutMs: 1000,
          abort: new AbortController().signal,
          readIdentCely: () => undefined,
        },
        send: async (request) => {
          await clock.sleep(300);
          request.onDeparture?.();
          await clock.sleep(400);
          const response = reply();
          if (response instanceof Error) throw response;
          return response;
        },
      },
      { kind, identCely },
      REQUEST,
      'token',
      slot,
    );
    sending.catch(() => {});
    return { clock, beganMs, slots, sent: sending };
  }

  test('is timed from its departure, and releases its slot', async () => {
    const { clock, beganMs, slots, sent } = sending(() =>
      answer(201, { 'x-record-id': 'C-1-N00001', date: 'Sat, 01 Jun 2024 00:00:07 GMT' }),
    );
    await clock.advance(1000);
    expect(await sent).toMatchObject({
      ...{ status: 201, tookMs: 400, departedAt: beganMs + 300, token: 'token' },
      ...{ serverDateAt: Date.UTC(2024, 5, 1, 0, 0, 7), outcome: { kind: 'accepted' } },
    });
    expect(slots).toEqual(['left', 'given back']);
  });

  test('without an answer says what is known, and releases its slot', async () => {
    const { clock, slots, sent } = sending(() => new TransportError('timeout', true, 'too slow'));
    await clock.advance(1000);
    expect(await sent).toMatchObject({
      status: undefined,
      serverDateAt: undefined,
      outcome: { kind: 'uncertain' },
    });
    expect(slots.at(-1)).toBe('given back');
  });

  test('that fails for another reason ends the push, and releases its slot', async () => {
    const { clock, slots, sent } = sending(() => new RangeError('a fault'));
    await clock.advance(1000);
    await expect(sent).rejects.toThrow('a fault');
    expect(slots.at(-1)).toBe('given back');
  });

  test('for a number or a photograph goes to a record, and an import creates its own', async () => {
    await expect(sending(() => answer(201), null).sent).rejects.toThrow(
      'a queued entry lacks what it is to send',
    );
    const { clock, sent } = sending(
      () => answer(201, { 'x-record-id': 'C-1-N00007' }),
      'C-1-N00001',
      'import',
    );
    await clock.advance(1000);
    expect((await sent).outcome).toMatchObject({ kind: 'accepted', identCely: 'C-1-N00007' });
  });
});

describe('a probe of the service', () => {
  const askWith = async (step: Reply) => {
    const slots: string[] = [];
    const slot = {
      depart: () => void slots.push('left'),
      release: () => void slots.push('given back'),
    } as unknown as Slot;
    const requests: HttpRequest[] = [];
    const asker = {
      ...{ baseUrl: 'http://service', clock: manualClock(), stop: new AbortController().signal },
      pace: { acquire: async () => slot } as unknown as Pace,
      send: async (request: HttpRequest) => {
        requests.push(request);
        request.onDeparture?.();
        if (step instanceof Error) throw step;
        return step;
      },
    };
    const answered = await askAccess(asker, 'token').catch((thrown: unknown) => ({ thrown }));
    expect(slots).toEqual(['left', 'given back']);
    expect(requests).toMatchObject([
      { signal: asker.stop, headers: { authorization: 'Bearer token' } },
    ]);
    return answered;
  };

  test('returns its answer or the failure, and releases its slot', async () => {
    const refusalAnswer = answer(405);
    expect(await askWith(refusalAnswer)).toEqual(refusalAnswer);
    const cut = new TransportError('reset', true, 'cut');
    expect(await askWith(cut)).toBe(cut);
    const stopped = Object.assign(new Error('stopped'), { name: 'AbortError' });
    for (const thrown of [stopped, new UnavailableError('stopped')]) {
      const instead = await askWith(thrown);
      expect(instead).toBeInstanceOf(TransportError);
      expect(instead).toMatchObject({
        reason: 'aborted',
        mayHaveArrived: false,
        message: 'stopped',
      });
    }
    const fault = new RangeError('a fault');
    expect(await askWith(fault)).toEqual({ thrown: fault });
  });

  const ODD = 'the answers may not come from the service: odd';
  test.each<[Outcome['kind'], unknown]>([
    ['not-delivered', { kind: 'unreachable', reason: 'odd' }],
    ['cut', { kind: 'unreachable', reason: 'odd' }],
    ['closed', { kind: 'closed', reason: 'odd' }],
    ['uncertain', { kind: 'in-doubt', reason: ODD }],
    ['accepted', { kind: 'in-doubt', reason: ODD }],
    ['refused', undefined],
    ['throttled', undefined],
  ])('that is answered by %s', (kind, cause) => {
    const stop = findStopCause({ kind, detail: msg`odd`, identCely: 'odd' } as unknown as Outcome);
    expect(stop === undefined ? undefined : inWords(stop)).toEqual(cause);
  });
});
