import { describe, expect, test } from 'vitest';
import { ConfigError, ContractError, OutboxLeasedError, UnavailableError } from '../../../src/base/errors.ts';
import { noWalls } from '../../../src/flows/push/left-out.ts';
import { pushToEnd } from '../../../src/flows/push/push-to-end.ts';
import { type HttpRequest, type HttpResponse, NoAnswerError } from '../../../src/http/exchange.ts';
import { makePace } from '../../../src/http/pacer.ts';
import { addNumber, allEntries } from '../../../src/outbox/entries.ts';
import { ENTRY_KINDS } from '../../../src/outbox/entry.ts';
import { attemptsOf } from '../../../src/outbox/journal.ts';
import { takeLease } from '../../../src/outbox/lease.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { type AskedService, EVA_SAID, JAN_SAID, serviceSaying } from '../../support/account-service.ts';
import { addOldEntry, broughtOn } from '../../support/earlier-outbox.ts';
import { findService, PROJECT, queueFind } from '../../support/find-service.ts';
import { inWords } from '../../support/in-words.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { memoryPaceStore } from '../../support/memory-pace-store.ts';
import { asSeenBy, newMachine, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const JAN = { username: JAN_SAID.email };

let assigned = 0;
function created(): HttpResponse {
  assigned += 1;
  return { status: 201, headers: { 'x-record-id': `C-202400101-N${String(assigned).padStart(5, '0')}` }, body: Buffer.alloc(0) };
}

/** One push to its end, with whom it was told that how much is to be sent. */
async function pushed(
  outbox: ServiceOutbox,
  service: AskedService,
  clock: ManualClock,
  more: { anyAccount?: boolean; stop?: AbortSignal } = {},
) {
  const rounds: number[] = [];
  const running = pushToEnd({
    ...{
      outbox,
      service,
      clock,
      kinds: ENTRY_KINDS,
      recordKeys: undefined,
      limit: undefined,
      anyAccount: more.anyAccount ?? false,
    },
    ...{ harvesting: undefined, takeOver: false, maxInFlight: 4, answerTimeoutMs: 1000, settleMs: 600_000, walls: noWalls() },
    pace: makePace({ clock, scopes: ['address:a'], intervalMs: 100, store: memoryPaceStore(clock) }),
    photosFolder: 'none',
    recognition: newMachine(),
    report: () => {},
    onRound: (queued) => rounds.push(queued),
    stop: more.stop ?? new AbortController().signal,
    abort: new AbortController().signal,
  });
  running.catch(() => {});
  await clock.advance(60_000);
  return { result: await running, rounds };
}

const pathsOf = ({ asked }: AskedService): string[] => asked.map(({ url }: HttpRequest) => new URL(url).pathname);
const madeBy = (outbox: ServiceOutbox): (string | null)[] =>
  allEntries(outbox).flatMap(({ id }) => attemptsOf(outbox, id).map(({ account }) => account));

describe('a push', () => {
  test('asks who the account is, once and before its first write, and every attempt names it', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (const name of ['K-1', 'K-2']) queueImport(outbox, name);
    const service = serviceSaying(EVA_SAID, { onWrite: created });
    expect((await pushed(outbox, service, clock)).result).toMatchObject({ accepted: 2 });
    expect(pathsOf(service)).toEqual(['/api/uzivatel-info/', '/api/pas/import-xml', '/api/pas/import-xml']);
    expect(madeBy(outbox)).toEqual([EVA_SAID.identCely, EVA_SAID.identCely]);
  });

  test('names the account that a token from outside is of', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(asSeenBy(outbox, JAN), 'K-1');
    const service = serviceSaying(JAN_SAID, { tokenIsLent: true, onWrite: created });
    expect((await pushed(outbox, service, clock)).result).toMatchObject({ accepted: 1 });
    expect(madeBy(outbox)).toEqual([JAN_SAID.identCely]);
  });

  test('without anything to send asks nobody anything', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = serviceSaying(EVA_SAID);
    expect((await pushed(outbox, service, clock)).result).toMatchObject({ requests: 0, stopCause: undefined });
    expect(service.asked).toEqual([]);
  });

  test('sends nothing where the account is another than before, and lets the outbox go', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    const service = serviceSaying(JAN_SAID, { onWrite: created });
    await expect(pushed(outbox, service, clock)).rejects.toThrow(ConfigError);
    expect(pathsOf(service)).toEqual(['/api/uzivatel-info/']);
    expect(allEntries(outbox)).toMatchObject([{ state: 'queued' }]);
    expect(madeBy(outbox)).toEqual([]);
    takeLease(outbox).release();
  });

  test.each<[string, HttpResponse, typeof UnavailableError | typeof ContractError]>([
    ['fails', { status: 500, headers: {}, body: Buffer.alloc(0) }, UnavailableError],
    ['is behind a proxy that cannot reach it', { status: 502, headers: {}, body: Buffer.from('<html>') }, UnavailableError],
    ['is closed', { status: 503, headers: {}, body: Buffer.from('<html>') }, UnavailableError],
    ['is behind the portal of a guest network', { status: 200, headers: {}, body: Buffer.from('<html>') }, ContractError],
  ])('to a service that %s sends nothing, and nothing is in doubt', async (_name, said, error) => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    await expect(pushed(outbox, serviceSaying(said, { onWrite: created }), clock)).rejects.toBeInstanceOf(error);
    expect(allEntries(outbox)).toMatchObject([{ state: 'queued' }]);
  });

  test('that a person stops does not wait for who the account is', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    const stop = new AbortController();
    const send: AskedService['send'] = (request) =>
      new Promise((_resolve, reject) => {
        request.signal?.addEventListener('abort', () => reject(new NoAnswerError('aborted', true, 'stopped')));
        stop.abort();
      });
    const { result } = await pushed(outbox, { ...serviceSaying(EVA_SAID), send }, clock, { stop: stop.signal });
    expect(result).toMatchObject({ requests: 0, stopCause: { kind: 'interrupted' } });
    expect(allEntries(outbox)).toMatchObject([{ state: 'queued' }]);
  });

  test('is one at a time for all accounts and services of the outbox', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    const lease = takeLease(asSeenBy(outbox, JAN));
    await expect(pushed(outbox, serviceSaying(EVA_SAID), clock)).rejects.toThrow(OutboxLeasedError);
    lease.release();
  });
});

describe('what another account queued', () => {
  test('is not sent, and not counted as what is to be sent', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    for (const name of ['K-2', 'K-3']) queueImport(asSeenBy(outbox, JAN), name);
    const { result, rounds } = await pushed(outbox, serviceSaying(EVA_SAID, { onWrite: created }), clock);
    expect([result.accepted, rounds]).toEqual([1, [1]]);
    expect(allEntries(outbox).map(({ state }) => state)).toEqual(['accepted', 'queued', 'queued']);
  });

  test('is sent in the name of the account that pushes where a person says so', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(asSeenBy(outbox, JAN), 'K-1');
    const { result, rounds } = await pushed(outbox, serviceSaying(EVA_SAID, { onWrite: created }), clock, { anyAccount: true });
    expect([result.accepted, rounds]).toEqual([1, [1]]);
    expect(madeBy(outbox)).toEqual([EVA_SAID.identCely]);
  });

  test('and another one has overtaken is given up, and does not stay in the queue', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const target = { findId: null, identCely: 'C-202400101-N00001' };
    addNumber(asSeenBy(outbox, JAN), target, 'N-1');
    addNumber(outbox, target, 'N-2');
    const answers = [429, 200];
    const onWrite = (): HttpResponse => ({
      ...{ status: answers.shift() ?? 500, headers: { 'x-record-id': target.identCely }, body: Buffer.alloc(0) },
    });
    const { result } = await pushed(outbox, serviceSaying(EVA_SAID, { onWrite }), clock, { anyAccount: true });
    expect([result.accepted, result.locked, result.stopCause]).toEqual([1, 1, undefined]);
    expect(allEntries(outbox).map(({ state }) => state)).toEqual(['dropped', 'accepted']);
  });
});

describe('an outbox of which it is not known where a profile that is gone sent its finds', () => {
  const gone = (state: 'accepted' | 'uncertain' | 'sending' | 'queued') =>
    broughtOn((old) => {
      addOldEntry(old, { find: 'K-1', profile: 'gone', kind: 'import', state, identCely: state === 'accepted' ? 'C-1' : null });
      addOldEntry(old, { find: 'K-2', profile: 'field', kind: 'import', state: 'queued' });
    });

  test.each(['accepted', 'uncertain', 'sending'] as const)('sends nothing where one may be there: %s', async (state) => {
    using outbox = gone(state);
    const service = serviceSaying(EVA_SAID, { onWrite: created });
    const refused = pushed(outbox, service, manualClock());
    await expect(refused).rejects.toThrow(/1 .*gone/);
    await expect(refused).rejects.toMatchObject({ hint: expect.stringContaining('pas service moved gone ADDRESS') });
    expect(service.asked).toEqual([]);
  });

  test('sends what else is queued where none was sent', async () => {
    using outbox = gone('queued');
    const service = serviceSaying(EVA_SAID, { onWrite: created });
    expect((await pushed(outbox, service, manualClock())).result).toMatchObject({ accepted: 1 });
  });
});

describe('the look at what is in doubt', () => {
  test('ends at once when it is stopped, and what it was about stays in doubt', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    service.habits.fate = (write) => (write === 'K-2' ? 'done-but-500' : 'done');
    service.habits.beforeHarvest = async ({ signal }) => clock.sleep(3_600_000, signal);
    for (const name of ['K-1', 'K-2']) queueFind(outbox, name);
    const stopper = new AbortController();
    const running = service.push(outbox, { stop: stopper.signal }, 120_000);
    await clock.advance(60_000);
    stopper.abort();
    expect(await running).toMatchObject({ accepted: 1, stopCause: { kind: 'interrupted' } });
    expect(allEntries(outbox).map(({ state }) => state)).toEqual(['accepted', 'uncertain']);
  });
});

describe('a push that finds what it did not know to be there', () => {
  test('goes on with the number of that find', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    service.habits.fate = (write) => (write === 'K-1' ? 'done-but-500' : 'done');
    const { findId } = queueFind(outbox, 'K-1');
    addNumber(outbox, { findId, identCely: null }, 'INV 1');
    expect(await service.push(outbox)).toMatchObject({ accepted: 1, requests: 2, stopCause: undefined });
    expect(service.writes).toEqual(['K-1', `${PROJECT}-N00001 = INV 1`]);
    expect(allEntries(outbox).map(({ state }) => state)).toEqual(['accepted', 'accepted']);
  });

  test('names what is left all the same, as a find that the service loses each time', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    service.habits.fate = (write) => (write === 'K-2' ? '500' : 'done');
    service.habits.beforeHarvest = async () => clock.sleep(2000);
    for (const name of ['K-1', 'K-2']) queueFind(outbox, name);
    expect(inWords(await service.push(outbox))).toMatchObject({
      accepted: 1,
      stopCause: { kind: 'not-yet', reason: expect.stringContaining('K-2') as string },
    });
    expect(service.writes).toEqual(['K-1', 'K-2', 'K-2']);
  });
});
