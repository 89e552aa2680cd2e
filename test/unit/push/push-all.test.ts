import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../../src/base/errors.ts';
import { NEW_PERSON } from '../../../src/finds/fields.ts';
import { listAttempts } from '../../../src/outbox/attempts.ts';
import { type Outbox, readHeader, updateHeader } from '../../../src/outbox/open-outbox.ts';
import { findByUuid } from '../../../src/outbox/stored-finds.ts';
import { recordFindWish } from '../../../src/outbox/wishes.ts';
import { pushOutbox } from '../../../src/push/push-all.ts';
import {
  type HttpRequest,
  type HttpResponse,
  TransportError,
} from '../../../src/service/http/exchange.ts';
import { inWords } from '../../support/in-words.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import {
  EVA,
  listAllEntries,
  queueImport,
  queueNumber,
  tempOutbox,
} from '../../support/temp-outbox.ts';
import { type AskedService, JAN_SAID, serviceSaying } from './account-service.ts';
import { findService, makeFindContent, makePush, PROJECT, queueFind } from './find-service.ts';

let assigned = 0;
function created(): HttpResponse {
  assigned += 1;
  return {
    status: 201,
    headers: { 'x-record-id': `C-202400101-N${String(assigned).padStart(5, '0')}` },
    body: Buffer.alloc(0),
  };
}

/** One push to its end, and how much it was told to have to send. */
async function pushed(
  outbox: Outbox,
  service: AskedService,
  clock: ManualClock,
  { stop = new AbortController().signal } = {},
) {
  const rounds: number[] = [];
  const running = pushOutbox({
    ...makePush(outbox, clock),
    service,
    stop,
    onRound: (queued) => rounds.push(queued),
  });
  running.catch(() => {});
  await clock.advance(60_000);
  return { result: await running, rounds };
}

const listPaths = ({ asked }: AskedService): string[] =>
  asked.map(({ url }: HttpRequest) => new URL(url).pathname);
const madeBy = (outbox: Outbox): (string | null)[] =>
  listAllEntries(outbox).flatMap((entry) =>
    listAttempts(outbox, entry).map(({ account }) => account),
  );

describe('a push', () => {
  test('identifies the account once before its first write, and every attempt names it', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (const name of ['K-1', 'K-2']) queueImport(outbox, name);
    const service = serviceSaying(EVA, { onWrite: created });
    expect((await pushed(outbox, service, clock)).result).toMatchObject({ accepted: 2 });
    expect(listPaths(service)).toEqual([
      '/api/uzivatel-info/',
      '/api/pas/import-xml',
      '/api/pas/import-xml',
    ]);
    expect(madeBy(outbox)).toEqual([EVA.identCely, EVA.identCely]);
  });

  test('binds the outbox to the first account that sends from it, even with a token from outside', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    updateHeader(outbox, { account: null });
    queueImport(outbox, 'K-1');
    const service = serviceSaying(JAN_SAID, { usesExternalToken: true, onWrite: created });
    expect(await pushed(outbox, service, clock)).toMatchObject({
      result: { accepted: 1 },
      rounds: [1],
    });
    expect([madeBy(outbox), readHeader(outbox).account]).toEqual([
      [JAN_SAID.identCely],
      JAN_SAID.identCely,
    ]);
  });

  test.each<[string, HttpResponse]>([
    ['fails', { status: 500, headers: {}, body: Buffer.alloc(0) }],
    [
      'is behind a proxy that cannot reach it',
      { status: 502, headers: {}, body: Buffer.from('<html>') },
    ],
    ['is closed', { status: 503, headers: {}, body: Buffer.from('<html>') }],
    [
      'is behind the portal of a guest network',
      { status: 200, headers: {}, body: Buffer.from('<html>') },
    ],
  ])('to a service that %s sends nothing, and nothing is uncertain', async (_name, response) => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    await expect(
      pushed(outbox, serviceSaying(response, { onWrite: created }), clock),
    ).rejects.toBeInstanceOf(UnavailableError);
    expect(listAllEntries(outbox)).toMatchObject([{ state: 'queued' }]);
  });

  test('that a person stops does not wait for the account', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    const stop = new AbortController();
    const send: AskedService['send'] = (request) =>
      new Promise((_resolve, reject) => {
        request.signal?.addEventListener('abort', () =>
          reject(new TransportError('aborted', true, 'stopped')),
        );
        stop.abort();
      });
    const { result } = await pushed(outbox, { ...serviceSaying(EVA), send }, clock, {
      stop: stop.signal,
    });
    expect(result).toMatchObject({ requests: 0, stopCause: { kind: 'interrupted' } });
    expect(listAllEntries(outbox)).toMatchObject([{ state: 'queued' }]);
  });
});

describe('the lookup of uncertain entries', () => {
  test('ends at once when it is stopped, and they stay uncertain', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    service.habits.fate = (write) => (write === 'K-2' ? 'done-but-500' : 'done');
    service.habits.beforeHarvest = async ({ signal }) =>
      clock.sleep(service.writes.length > 0 ? 3_600_000 : 0, signal);
    for (const name of ['K-1', 'K-2']) queueFind(outbox, name);
    const stopper = new AbortController();
    void clock.sleep(30_000).then(() => stopper.abort());
    expect(await service.push(outbox, { stop: stopper.signal })).toMatchObject({
      accepted: 1,
      stopCause: { kind: 'interrupted' },
    });
    expect(listAllEntries(outbox).map(({ state }) => state)).toEqual(['accepted', 'uncertain']);
  });
});

describe('a push that learns of a find it did not know of', () => {
  test('continues with the number of that find', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    service.habits.fate = (write) => (write === 'K-1' ? 'done-but-500' : 'done');
    const { findId } = queueFind(outbox, 'K-1');
    queueNumber(outbox, findId, 'INV 1', null);
    expect(await service.push(outbox)).toMatchObject({
      accepted: 2,
      requests: 2,
      stopCause: undefined,
    });
    expect(service.writes).toEqual(['K-1', `${PROJECT}-N00001 = INV 1`]);
    expect(listAllEntries(outbox).map(({ state }) => state)).toEqual(['accepted', 'accepted']);
  });

  test('reports what is left all the same, as with a find that the service loses each time', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const service = findService(clock);
    service.habits.fate = (write) => (write === 'K-2' ? '500' : 'done');
    service.habits.beforeHarvest = async () => clock.sleep(5000);
    for (const name of ['K-1', 'K-2']) queueFind(outbox, name);
    expect(inWords(await service.push(outbox))).toMatchObject({
      accepted: 1,
      stopCause: { kind: 'not-yet', reason: expect.stringContaining('K-2') as string },
    });
    expect(service.writes).toEqual(['K-1', 'K-2', 'K-2']);
  });
});

describe('new people', () => {
  test.each(['before its gate', 'while others are sent'])(
    'of a find that is queued %s end the push before it is sent',
    async (when) => {
      const clock = manualClock();
      using outbox = tempOutbox(clock);
      const service = findService(clock);
      const asked: boolean[] = [];
      const queueNew = (): void => {
        const stored = findByUuid(outbox, queueFind(outbox, 'K-2').findId);
        if (stored === undefined) throw new Error('the find is gone');
        const nalezce = { id: NEW_PERSON, text: 'Nový, Jan' };
        const elements = { ...stored.elements, nalezce };
        recordFindWish(
          outbox,
          stored,
          { ...stored.wish, elements },
          makeFindContent('K-2').content,
        );
      };
      queueFind(outbox, 'K-1');
      service.habits.beforeHarvest = async () => {
        if (when === 'before its gate' && listAllEntries(outbox).length === 1) queueNew();
      };
      service.habits.fate = (write) => {
        if (when !== 'before its gate' && write === 'K-1') queueNew();
        return 'done';
      };
      const result = await service.push(outbox, {
        admitNewPeople: async (mayAsk) => {
          asked.push(mayAsk);
          return listAllEntries(outbox).length === 1;
        },
      });
      expect([result.stopCause?.kind, asked]).toEqual(['new-people', [true, false]]);
      expect(service.writes).toEqual(['K-1']);
    },
  );
});
