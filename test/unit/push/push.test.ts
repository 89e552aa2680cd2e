import { describe, expect, test } from 'vitest';
import { asWallMs, type Clock } from '../../../src/base/clock.ts';
import { DatabaseError } from '../../../src/base/errors.ts';
import { listAttempts, recordOrphanedAttempts } from '../../../src/outbox/attempts.ts';
import { undoCommand } from '../../../src/outbox/changes/undo-command.ts';
import { resolveEntries } from '../../../src/push/resolve-entries.ts';
import { inWords } from '../../support/in-words.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  attemptEntry,
  claimEntry,
  getEntry,
  listAllEntries,
  listFactsInLedger,
  PHOTOGRAPH,
  queueImport,
  queueNumber,
  queuePhoto,
  type TempOutbox,
  tempOutbox,
} from '../../support/temp-outbox.ts';
import { aComputer, findService, PROJECT, queueFind } from './find-service.ts';
import {
  answer,
  count,
  created,
  isCreate,
  LATENCY_MS,
  obeyed,
  queuedScene,
  scene,
} from './push-scene.ts';

test('a slow service does not slow the queue: requests depart every 100 ms while others wait for their answers', async () => {
  using push = queuedScene(30, created);
  const { run, asked } = push;
  const result = await run();
  expect(result).toMatchObject({ accepted: 30, requests: 30, throttled: 0, stopCause: undefined });
  const gaps = asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(100);
  // The first answer is waited for.
  expect(gaps[0]).toBeGreaterThanOrEqual(LATENCY_MS);
  expect(Math.max(...gaps.slice(1))).toBeLessThan(120);
});

test('the preparation of a request does not make it late: it is claimed and connected before its turn', async () => {
  const claimed: number[] = [];
  const connect = async () => {
    claimed.push(60 - count(outbox, 'queued'));
    await clock.sleep(1.5);
  };
  using push = queuedScene(60, created, { connect });
  const { clock, outbox, run, asked } = push;
  await run();
  const gaps = asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0));
  for (const gap of gaps.slice(-20)) expect(gap).toBeCloseTo(102, 3);
  expect(claimed).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
});

test('no answer is written while a request is about to depart, since the disk would delay it', async () => {
  using push = queuedScene(30, created);
  const { clock, outbox, run, asked } = push;
  const aheadMs = clock.now() - clock.monotonicMs();
  await run();
  const written = outbox.sql('select updated_at from entries').pluck().all().map(Number);
  const untilNextMs = written.flatMap((at) => asked.map((request) => request.at + aheadMs - at));
  expect(untilNextMs.filter((ms) => ms > 1 && ms < 11)).toEqual([]);
});

test('what is on its way to a record that the service gives to another find is uncertain', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  const ident = 'C-202400101-N00007';
  const { findId } = queueImport(outbox, 'K-1');
  const { run } = scene(clock, async (request) => {
    if (request.body.includes('K-0')) return created(request);
    if (request.url.endsWith('/import-xml')) return answer(201, { 'x-record-id': ident });
    await clock.sleep(2 * LATENCY_MS);
    return obeyed(request);
  });
  expect(await run(outbox)).toMatchObject({ accepted: 1 });
  // Until the service has answered, one request is under way at a time.
  queueImport(outbox, 'K-0');
  queuePhoto(outbox, findId, PHOTOGRAPH);
  queueImport(outbox, 'K-2');
  expect(await run(outbox)).toMatchObject({ accepted: 1 });
  expect(
    listAllEntries(outbox).map(({ kind, state, identCely }) => [kind, state, identCely]),
  ).toEqual([
    ['import', 'uncertain', null],
    ['import', 'accepted', expect.any(String)],
    ['photo', 'uncertain', null],
    ['import', 'uncertain', null],
  ]);
});

test('entries of one record are sent one after the other, the photograph after its find', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  const { findId } = queueImport(outbox, 'K-1');
  const target = findId;
  queueNumber(outbox, target, 'A 1', null);
  queuePhoto(outbox, target, PHOTOGRAPH);
  const { run, asked } = scene(clock, obeyed);
  expect(await run(outbox)).toMatchObject({ accepted: 3 });
  expect(asked.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
  for (const [index, { at }] of asked.slice(1).entries())
    expect(at - (asked[index]?.at ?? 0)).toBeGreaterThanOrEqual(LATENCY_MS);
});

describe('a refusal without details beside another import of the project', () => {
  const collision = answer(422, {}, { detail: 'identifier taken' });

  test('is tried again if a killed push may have left another import under way', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const { entryId } = queueImport(outbox, 'K-1');
    queueImport(outbox, 'K-2');
    claimEntry(outbox, entryId);
    recordOrphanedAttempts(outbox);
    const { run } = scene(clock, (_request, index) => (index === 0 ? collision : created()));
    expect(await run(outbox)).toMatchObject({ accepted: 1, refused: 0, requests: 2 });
    expect(count(outbox, 'uncertain')).toBe(1);
  });
});

test('after a stop by a person the requests under way are settled and no more are sent', async () => {
  using push = queuedScene(20, (_request, index) => {
    if (index === 2) stop.abort();
    return created();
  });
  const { outbox, run, asked, stop } = push;
  expect(await run()).toMatchObject({ stopCause: { kind: 'interrupted' } });
  expect(count(outbox, 'accepted')).toBe(asked.length);
  expect(count(outbox, 'sending')).toBe(0);
});

test('a limit of requests is kept', async () => {
  using push = queuedScene(20, created);
  const { run } = push;
  expect(await run({ limit: 7 })).toMatchObject({ accepted: 7, requests: 7 });
});

const DAY_MS = 86_400_000;
const N1 = `${PROJECT}-N00001`;

describe('an attempt', () => {
  const listRecorded = (outbox: TempOutbox, subject: string) =>
    listFactsInLedger(outbox, subject).map(({ kind }) => kind);

  test('is recorded in the ledger and in the outbox before its request starts, and its answer after it', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const { entryId } = queueImport(outbox, 'K-1');
    const { subject } = getEntry(outbox, entryId);
    let before: unknown[] = [];
    const { run } = scene(clock, created, async () => {
      before = [...listRecorded(outbox, subject), getEntry(outbox, entryId).state];
    });
    await run(outbox);
    expect(before).toEqual(['attempted', 'current', 'sending']);
    expect(listRecorded(outbox, subject)).toEqual(['attempted', 'current', 'answered']);
  });

  test.each([
    ['full', { passing: true }, 5],
    ['read-only', {}, 12],
  ])(
    'that the ledger cannot record, because its disk is %s, stops the push, and nothing departs',
    async (_name, options, exitCode) => {
      const clock = manualClock();
      using outbox = tempOutbox(clock);
      queueImport(outbox, 'K-1');
      const { run, asked } = scene(clock, created);
      const append = () => {
        throw new DatabaseError('the disk refuses', options);
      };
      const pushed = run({ ...outbox, ledger: { ...outbox.ledger, append } });
      await expect(pushed).rejects.toSatisfy(
        (thrown) => thrown instanceof DatabaseError && thrown.exitCode === exitCode,
      );
      expect([asked, count(outbox, 'queued')]).toEqual([[], 1]);
    },
  );

  test('whose answer the ledger cannot record stops the push, and is uncertain', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (const name of ['K-1', 'K-2', 'K-3']) queueImport(outbox, name);
    let isFull = false;
    const { run, asked } = scene(clock, (request) => {
      isFull = true;
      return created(request);
    });
    const { ledger } = outbox;
    const append: typeof ledger.append = (...given) => {
      if (isFull) throw new DatabaseError('the disk is full', { passing: true });
      ledger.append(...given);
    };
    await expect(run({ ...outbox, ledger: { ...ledger, append } })).rejects.toBeInstanceOf(
      DatabaseError,
    );
    expect(asked).toHaveLength(1);
    isFull = false;
    recordOrphanedAttempts(outbox);
    await run(outbox);
    expect([count(outbox, 'uncertain'), count(outbox, 'accepted')]).toEqual([1, 2]);
  });

  test('that is stopped between its record and its departure was not sent, and its entry stays queued', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const { entryId } = queueImport(outbox, 'K-1');
    const { run, asked, stop, pace } = scene(clock, created);
    const depart = pace.acquireSoon.bind(pace);
    pace.acquireSoon = (signal) => {
      stop.abort();
      return depart(signal);
    };
    expect(await run(outbox)).toMatchObject({ requests: 0, stopCause: { kind: 'interrupted' } });
    expect(asked).toEqual([]);
    expect(listAttempts(outbox, getEntry(outbox, entryId)).map(({ outcome }) => outcome)).toEqual([
      'not-sent',
    ]);
    expect(getEntry(outbox, entryId)).toMatchObject({ state: 'queued', unknownAttempts: 0 });
  });
});

test('a photograph whose record is taken back while it waits for its time is not sent, and stops nothing', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  const { findId, entryId } = queueImport(outbox, 'K-1', PROJECT);
  const photo = queuePhoto(outbox, findId, PHOTOGRAPH);
  attemptEntry(outbox, entryId, { state: 'uncertain', reason: 'no answer' });
  outbox.command.words = 'resolve';
  resolveEntries(outbox, 'K-1', { kind: 'created', identCely: N1 }, entryId, true);
  expect(getEntry(outbox, photo)).toMatchObject({ state: 'queued', identCely: N1 });
  const { run, asked, pace } = scene(clock, obeyed);
  const waitUntilNear = pace.waitUntilNear.bind(pace);
  pace.waitUntilNear = async (signal) => {
    const waitedMs = await waitUntilNear(signal);
    undoCommand(outbox);
    return waitedMs;
  };
  expect(await run(outbox)).toMatchObject({ requests: 0 });
  expect([asked.length, getEntry(outbox, photo).state]).toEqual([0, 'queued']);
});

describe('a record returned for an import', () => {
  test('that belongs to another project leaves it uncertain', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1', PROJECT);
    queueImport(outbox, 'K-2', 'X-C-123456789A');
    const { run } = scene(clock, (_request, index) =>
      answer(201, { 'x-record-id': `C-9-N0000${index}` }),
    );
    expect(await run(outbox)).toMatchObject({ accepted: 1 });
    // A temporary project may be renamed with its finds.
    expect(listAllEntries(outbox)).toMatchObject([
      { state: 'uncertain', identCely: null },
      { state: 'accepted' },
    ]);
    expect(String(listAllEntries(outbox)[0]?.reason)).toMatch(
      /C-9-N00000, which is not a record of C-202400101/,
    );
  });

  test('that the answer shows with other content, or by another account, leaves it uncertain', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const more = [
      '<poznamka>k 1</poznamka>',
      '<hloubka>3</hloubka><pocet>2</pocet><presna_datace>x</presna_datace>',
      '<poznamka>K-3</poznamka><historie><uzivatel id="U-9"/></historie>',
    ];
    for (const at of [1, 2, 3]) queueFind(outbox, `K-${at}`);
    const { run } = scene(clock, (_request, index) => {
      const shown = `<ident_cely>${PROJECT}-N0000${index}</ident_cely><projekt id="${PROJECT}"/>${more[index]}`;
      return answer(201, {}, `<svc><samostatny_nalez>${shown}</samostatny_nalez></svc>`);
    });
    await run(outbox);
    expect(listAllEntries(outbox).map(({ state }) => state)).toEqual([
      'accepted',
      'uncertain',
      'uncertain',
    ]);
  });

  test('that belongs to another find leaves both uncertain', async () => {
    using push = queuedScene(2, () => answer(201, { 'x-record-id': N1 }));
    const { outbox, run, events } = push;
    expect(await run()).toMatchObject({ accepted: 0, requests: 2 });
    expect(listAllEntries(outbox)).toMatchObject([
      { state: 'uncertain', identCely: null },
      { state: 'uncertain', identCely: null },
    ]);
    const lines = events.flatMap((event) =>
      event.type === 'settled' ? [`${event.find} ${event.state}`] : [],
    );
    expect(lines).toEqual(['K-0 accepted', 'K-0 uncertain', 'K-1 uncertain']);
    const told = inWords(events).flatMap((event) =>
      event.type === 'settled' && event.find === 'K-0' ? [event.reason] : [],
    );
    expect(told.at(-1)).toBe(String(listAllEntries(outbox)[0]?.reason));
  });

  test('that belongs to another find is of neither, also where the disk is full then', async () => {
    using push = queuedScene(2, () => answer(201, { 'x-record-id': N1 }));
    const { outbox, run } = push;
    outbox
      .sql(
        `create temp trigger full before insert on facts when new.kind = 'decided'
         begin select raise(abort, 'no space'); end`,
      )
      .run();
    await expect(run()).rejects.toThrow();
    expect(listAllEntries(outbox)).toMatchObject([
      { state: 'accepted', identCely: N1 },
      { state: 'sending', identCely: null },
    ]);
  });

  test.each([1, 16])(
    'and that it names for each of %i at once leaves all of them uncertain, and ends the push',
    async (maxInFlight) => {
      using push = queuedScene(41, (request) =>
        isCreate(request) ? answer(201, { 'x-record-id': N1 }) : obeyed(request),
      );
      const { outbox, run } = push;
      const { requests, stopCause } = await run({ maxInFlight });
      expect(stopCause?.kind).toBe('in-doubt');
      expect(requests).toBeLessThan(16);
      expect([
        count(outbox, 'accepted'),
        count(outbox, 'uncertain'),
        count(outbox, 'queued'),
      ]).toEqual([0, requests, 41 - requests]);
    },
  );
});

test.each([0, -2 * DAY_MS, 2 * DAY_MS])(
  'the time of an attempt is bounded by the service’s clock, even if that of this machine is set by %s ms once the find is made',
  async (setByMs) => {
    const time = manualClock();
    let aheadMs = 0;
    const clock: Clock = { ...time, now: () => asWallMs(time.now() + aheadMs) };
    using computer = aComputer(clock);
    const outbox = computer.open();
    const service = findService(time);
    queueFind(outbox, 'K-0');
    await service.push(outbox, { clock });
    service.habits.fate = (write) => {
      if (write !== 'K-1') return 'done';
      aheadMs = setByMs;
      return 'done-but-500';
    };
    const { entryId } = queueFind(outbox, 'K-1');
    const sentMs = time.now();
    await service.push(outbox, { clock, limit: 1 });
    const [attempt] = listAttempts(outbox, getEntry(outbox, entryId));
    expect(Math.abs((attempt?.bounds?.fromMs ?? 0) - sentMs)).toBeLessThan(5000);
    expect(Math.abs((attempt?.serverDateAt ?? 0) - sentMs)).toBeLessThan(5000);
    await service.push(outbox, { clock, kinds: ['number'] });
    expect(getEntry(outbox, entryId)).toMatchObject({
      state: 'accepted',
      identCely: `${PROJECT}-N00002`,
    });
  },
);
