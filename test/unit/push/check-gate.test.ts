import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { asWallMs } from '../../../src/base/clock.ts';
import { RefusedAccountError, UnavailableError } from '../../../src/base/errors.ts';
import { removeSubject } from '../../../src/outbox/changes/remove-finds.ts';
import { listHeldEntries, storeQuestion } from '../../../src/outbox/entry-queries.ts';
import { makeCandidates } from '../../../src/outbox/gate.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import { type Outbox, updateHeader } from '../../../src/outbox/open-outbox.ts';
import { findByLocalId } from '../../../src/outbox/stored-finds.ts';
import { recordFindWish } from '../../../src/outbox/wishes.ts';
import {
  holdEntriesWithQuestions,
  holdEntryBeforeDeparture,
  type LookContext,
  makeEntryContentKey,
} from '../../../src/push/look.ts';
import type { NoSearchReason } from '../../../src/push/push-context.ts';
import { resolveEntries } from '../../../src/push/resolve-entries.ts';
import type { Exchange } from '../../../src/service/http/exchange.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  acceptEntry,
  attemptEntry,
  EVA,
  listAllEntries,
  nthPhotograph,
  queueNumber,
  queuePhoto,
  tempOutbox,
} from '../../support/temp-outbox.ts';
import {
  aComputer,
  findService,
  getInnerText,
  makeFindContent,
  makeTestPace,
  PROJECT,
  queueFind,
  queuePhotograph,
} from './find-service.ts';

const DAY_MS = 86_400_000;
const N1 = `${PROJECT}-N00001`;

const states = (outbox: Outbox): string[] =>
  listAllEntries(outbox).map(({ state, held }) => (held === null ? state : `held: ${held.basis}`));
const decide = (outbox: Outbox, find: string, kind: 'created' | 'resend', identCely = N1) =>
  resolveEntries(
    outbox,
    find,
    kind === 'created' ? { kind, identCely } : { kind },
    undefined,
    true,
  );

function scene() {
  const clock = manualClock();
  const outbox = tempOutbox(clock);
  const service = findService(clock);
  return { clock, outbox, service, [Symbol.dispose]: () => outbox[Symbol.dispose]() };
}

function changeFind(outbox: Outbox, localId: string, note: string): void {
  const { elements, content } = makeFindContent(note);
  const find = findByLocalId(outbox, localId);
  if (find !== undefined) recordFindWish(outbox, find, { ...find.wish, elements }, content);
}

/** Two computers of one account with one find each that read alike; the first has sent its own. */
async function twoComputers() {
  const clock = manualClock();
  const service = findService(clock);
  const first = aComputer(clock);
  const second = aComputer(clock);
  const sentOutbox = first.open();
  queueFind(sentOutbox, 'A-1', 'fibula');
  await service.push(sentOutbox);
  const outbox = second.open();
  queueFind(outbox, 'B-1', 'fibula');
  const close = (): void => {
    for (const each of [first, second]) each[Symbol.dispose]();
  };
  return { clock, service, outbox, [Symbol.dispose]: close };
}

describe('a find that matches a record created from another outbox of the account', () => {
  test.each([
    ['is that record if a person says so', 'created', ['fibula']],
    ['is sent, and not asked about again, if it is another', 'resend', ['fibula', 'fibula']],
  ] as const)('%s', async (_what, answer, writes) => {
    using given = await twoComputers();
    const { service, outbox } = given;
    await service.push(outbox);
    decide(outbox, 'B-1', answer);
    await service.push(outbox);
    expect([states(outbox), service.writes]).toEqual([['accepted'], writes]);
  });

  test('is sent by a push with that decision, which decides nothing about unnamed finds', async () => {
    using given = await twoComputers();
    const { service, outbox } = given;
    queueFind(outbox, 'B-2', 'fibula');
    await service.push(outbox);
    const [first] = listAllEntries(outbox);
    await service.push(outbox, { onQuestion: 'send', subjects: [first?.subject ?? ''] });
    expect([states(outbox), service.writes]).toEqual([
      ['accepted', 'held: equal-record'],
      ['fibula', 'fibula'],
    ]);
  });

  test('is released if the record turns out to belong to another find of this outbox', async () => {
    using given = await twoComputers();
    const { service, outbox } = given;
    queueFind(outbox, 'B-2', 'fibula');
    await service.push(outbox);
    expect(states(outbox)).toEqual(['held: equal-record', 'held: equal-record']);
    decide(outbox, 'B-2', 'created');
    expect(await service.push(outbox)).toMatchObject({ accepted: 1 });
  });

  test('is held even if another question about it was answered during the push', async () => {
    using setup = scene();
    const { service, outbox } = setup;
    queueFind(outbox, 'K-1');
    const { entryId } = queueFind(outbox, 'K-2', 'fibula');
    const candidates = makeCandidates(['K-0']);
    storeQuestion(outbox, entryId, { basis: 'alike-here', question: '?', candidates });
    service.habits.fate = () => {
      service.make(getInnerText('fibula'));
      decide(outbox, 'K-2', 'resend');
      return 'done';
    };
    await service.push(outbox);
    expect([service.writes, states(outbox)]).toEqual([['K-1'], ['accepted', 'held: equal-record']]);
  });

  test('is not held by the record of an equal find whose answer is on its way', async () => {
    using setup = scene();
    const { clock, service, outbox } = setup;
    const [, , later] = ['K-0', 'the same', 'the same'].map(
      (note, index) => queueFind(outbox, `K-${index}`, note).entryId,
    );
    attemptEntry(outbox, later ?? 0, {
      state: 'queued',
      reason: 'busy',
      notBeforeAt: clock.now() + 3000,
    });
    const send: Exchange = async (request) => {
      const answered = await service.open.send(request);
      if (service.writes.join() !== 'K-0,the same') return answered;
      queueFind(outbox, 'K-3');
      await clock.sleep(10_000);
      return answered;
    };
    await service.push(outbox, { service: { ...service.open, send } });
    expect(states(outbox)).toEqual(['accepted', 'accepted', 'accepted', 'accepted']);
  });

  test('is held also where it was changed so while it waited for its time', async () => {
    using given = scene();
    const { clock, service, outbox } = given;
    service.make(getInnerText('fibula'));
    queueFind(outbox, 'K-1');
    const pace = makeTestPace(clock);
    const waitUntilNear = pace.waitUntilNear.bind(pace);
    pace.waitUntilNear = async (signal) => {
      const waitedMs = await waitUntilNear(signal);
      if (service.writes.length === 0) changeFind(outbox, 'K-1', 'fibula');
      return waitedMs;
    };
    await service.push(outbox, { pace });
    expect([service.writes, states(outbox)]).toEqual([[], ['held: equal-record']]);
  });

  test('is held even if it was queued long after the scan that showed the record', async () => {
    using setup = scene();
    const { clock, service, outbox } = setup;
    service.make(getInnerText('fibula'));
    queueFind(outbox, 'K-1');
    await service.push(outbox);
    decide(outbox, 'K-1', 'resend');
    await service.push(outbox);
    await clock.advance(20 * DAY_MS);
    queueFind(outbox, 'K-2', 'fibula');
    await service.push(outbox);
    expect([service.writes, states(outbox)]).toEqual([['K-1'], ['accepted', 'held: equal-record']]);
  });
});

test('a find from before the period that was searched is looked for from before its own time', async () => {
  using setup = scene();
  const { clock, service, outbox } = setup;
  queueFind(outbox, 'K-1', 'fibula');
  resolveEntries(outbox, 'K-1', { kind: 'drop' }, undefined, true);
  service.make(getInnerText('fibula'));
  await clock.advance(40 * DAY_MS);
  queueFind(outbox, 'K-2');
  await service.push(outbox);
  decide(outbox, 'K-1', 'resend');
  await service.push(outbox);
  expect([service.writes, states(outbox)]).toEqual([['K-2'], ['held: equal-record', 'accepted']]);
});

describe('equal notes in one outbox', () => {
  test('are sent even if one is uncertain and its record is shown', async () => {
    using setup = scene();
    const { service, outbox } = setup;
    service.habits.tellsTime = false;
    service.habits.fate = () => 'done-but-500';
    queueFind(outbox, 'K-1', 'sherd');
    await service.push(outbox);
    expect(states(outbox)).toEqual(['uncertain']);
    service.habits.fate = () => 'done';
    queueFind(outbox, 'K-2', 'sherd');
    await service.push(outbox);
    expect(states(outbox)).toEqual(['uncertain', 'accepted']);
    // A record without an explanation is not of this outbox.
    service.make(getInnerText('sherd'));
    queueFind(outbox, 'K-3', 'sherd');
    await service.push(outbox);
    expect(states(outbox)).toEqual(['uncertain', 'accepted', 'held: equal-record']);
  });
});

describe('a number', () => {
  const numbered = (expects: string) => {
    const setup = scene();
    const ident = setup.service.make(getInnerText('K-1'));
    setup.service.setNumber(ident, 'OLD');
    queueNumber(setup.outbox, makeRecordSubject(ident), 'INV 1', expects);
    return { ...setup, ident };
  };

  test('is held if the service does not show its record to the account', async () => {
    using setup = numbered('OLD');
    const { ident, outbox, service } = setup;
    service.change(ident, (record) =>
      Object.assign(record, { number: 'CUR 7', hidden: 'withheld' }),
    );
    await service.push(outbox);
    expect([service.writes, states(outbox)]).toEqual([[], ['held: number-changed']]);
  });

  test('is released if the curator restores the old one', async () => {
    using setup = numbered('OLD');
    const { ident, outbox, service } = setup;
    service.setNumber(ident, 'CUR 7');
    await service.push(outbox);
    service.setNumber(ident, 'OLD');
    expect(await service.push(outbox)).toMatchObject({ accepted: 1 });
  });

  test.each([
    [
      'is sent while the index shows the record as it was before the last number from here',
      60_000,
      false,
    ],
    ['is sent while the index shows the record as its import made it', 0, false],
    ['is held if a curator has put back the number before the last one from here', 0, true],
  ])('%s', async (_, restMs, isChanged) => {
    using setup = numbered('OLD');
    const { clock, ident, outbox, service } = setup;
    await clock.advance(1000);
    service.setNumber(ident, 'OLD');
    const before = { ...service.records.get(ident) };
    await clock.advance(restMs);
    await service.push(outbox);
    queueNumber(outbox, makeRecordSubject(ident), 'INV 2', 'INV 1');
    const record = service.records.get(ident);
    if (isChanged) service.setNumber(ident, 'OLD');
    else Object.assign(record ?? {}, before);
    await service.push(outbox);
    expect([record?.number, states(outbox)]).toEqual(
      isChanged
        ? ['OLD', ['accepted', 'held: number-changed']]
        : ['INV 2', ['accepted', 'accepted']],
    );
  });

  test('is checked again just before it departs', async () => {
    using setup = numbered('OLD');
    const { ident, outbox, service } = setup;
    service.habits.beforeHarvest = async ({ url }) => {
      if (url.includes('GetRecord')) service.setNumber(ident, 'CUR 7');
    };
    await service.push(outbox);
    expect([service.records.get(ident)?.number, states(outbox)]).toEqual([
      'CUR 7',
      ['held: number-changed'],
    ]);
  });

  test.each<[string, (outbox: Outbox, ident: string) => void, string[]]>([
    [
      'removed',
      (outbox, identCely) => void removeSubject(outbox, makeRecordSubject(identCely)),
      [],
    ],
    [
      'replaced by the one that the record has',
      (outbox, identCely) => void queueNumber(outbox, makeRecordSubject(identCely), 'CUR 7', 'OLD'),
      ['accepted'],
    ],
  ])('and that is %s while its record is looked at stops nothing', async (_, meanwhile, after) => {
    using given = numbered('OLD');
    const { ident, outbox, service } = given;
    service.habits.beforeHarvest = async ({ url }) => {
      if (!url.includes('GetRecord') || service.records.get(ident)?.number === 'CUR 7') return;
      service.setNumber(ident, 'CUR 7');
      meanwhile(outbox, ident);
    };
    await service.push(outbox);
    expect(states(outbox)).toEqual(after);
  });

  test('stays queued if the service cannot be checked just before it departs', async () => {
    using setup = numbered('OLD');
    setup.service.habits.beforeHarvest = async ({ url }) => {
      if (url.includes(setup.ident)) throw new UnavailableError('closed for the night');
    };
    expect(await setup.service.push(setup.outbox)).toMatchObject({
      requests: 0,
      stopCause: { kind: 'unreachable' },
    });
    expect(states(setup.outbox)).toEqual(['queued']);
  });
});

describe('a photograph', () => {
  const withFile = (name: string, bytes: string) => {
    const setup = scene();
    const ident = setup.service.make(getInnerText('K-1'));
    queuePhotograph(setup.outbox, makeRecordSubject(ident), name, bytes);
    return { ...setup, ident };
  };

  test.each([
    ['the same bytes', 'other.jpg'],
    ['the name that it was sent under', 'a.jpg'],
  ])('is held if the record has an unexplained file with %s', async (_what, name) => {
    using setup = withFile('a.jpg', 'picture');
    const { ident, outbox, service } = setup;
    using other = withFile('a.jpg', 'picture');
    await other.service.push(other.outbox);
    const [sent] = other.service.records.get(other.ident)?.files ?? [];
    service.addFile(ident, name, name === 'a.jpg' ? undefined : sent?.sha512Hex);
    await service.push(outbox);
    expect(listHeldEntries(outbox)).toMatchObject([
      { held: { basis: 'equal-photograph', candidates: [{ name }] } },
    ]);
    expect(service.writes).toEqual([]);
    resolveEntries(outbox, ident, { kind: 'resend' }, undefined, true);
    expect(await service.push(outbox)).toMatchObject({ accepted: 1 });
  });

  test('is sent if the files of the record differ, or are explained', async () => {
    using setup = withFile('a.jpg', 'picture');
    const { ident, outbox, service } = setup;
    service.addFile(ident, 'b.jpg');
    expect(await service.push(outbox)).toMatchObject({ accepted: 1 });
    queuePhotograph(outbox, makeRecordSubject(ident), 'a.jpg', 'another picture');
    expect(await service.push(outbox)).toMatchObject({ accepted: 1 });
  });
});

describe('if another account harvests', () => {
  const foreign = () => {
    const setup = scene();
    const { service } = setup;
    const told: NoSearchReason[] = [];
    const lent = { ...service.open, usesExternalToken: true, username: 'jan@example.org' };
    const harvesting = {
      open: async () => service.client,
      auth: 'basic',
      format: 'oai_svc',
      indexAllowanceMs: 0,
    } as const;
    const onNotChecked = (why: NoSearchReason): void => void told.push(why);
    return {
      ...setup,
      told,
      push: () => service.push(setup.outbox, { service: lent, harvesting, onNotChecked }),
    };
  };

  test('nothing is searched, since it may not see what was sent', async () => {
    using setup = foreign();
    const { outbox, push } = setup;
    queueFind(outbox, 'K-1');
    expect(await push()).toMatchObject({ accepted: 1 });
    expect(setup.told).toEqual(['anonymous']);
  });
});

describe('the scan before a push', () => {
  test('is reported as anonymous if the service withholds the record of the account', async () => {
    using setup = scene();
    const { outbox, service } = setup;
    service.change(service.make('<projekt id="U"/>'), (record) => {
      record.hidden = 'withheld';
      service.records.set(EVA.identCely, record);
    });
    queueFind(outbox, 'K-1');
    expect(await pushing(setup)).toMatchObject({ told: ['anonymous'], result: { accepted: 1 } });
    updateHeader(outbox, { mustLook: true });
    queueFind(outbox, 'K-2');
    await pushing(setup);
    expect(states(outbox)).toEqual(['accepted', 'held: not-searched']);
  });

  const pushing = async (setup: ReturnType<typeof scene>) => {
    const notChecked: NoSearchReason[] = [];
    const result = await setup.service.push(setup.outbox, {
      onNotChecked: (why) => notChecked.push(why),
    });
    return { told: notChecked, result };
  };

  test('sends nothing if it fails, and says what to do', async () => {
    using setup = scene();
    setup.service.habits.beforeHarvest = async () => {
      throw new UnavailableError('closed for the night', { hint: 'Come tomorrow.' });
    };
    queueFind(setup.outbox, 'K-1');
    await expect(pushing(setup)).rejects.toMatchObject({
      exitCode: 5,
      hint: 'Nothing was sent. Come tomorrow.',
    });
    expect([setup.service.writes, states(setup.outbox)]).toEqual([[], ['queued']]);
  });

  test('is reported once as missing if the service refuses the account, and everything is sent', async () => {
    using setup = scene();
    const { outbox, service } = setup;
    service.habits.beforeHarvest = async () => {
      throw new RefusedAccountError('no right to harvest', { hint: 'ask' });
    };
    queueFind(outbox, 'K-1');
    queueNumber(outbox, makeRecordSubject(service.make(getInnerText('K-0'))), 'INV 1', '');
    expect(await pushing(setup)).toMatchObject({
      told: ['refused'],
      result: { accepted: 2 },
    });
  });

  test('starts some weeks before the oldest entry, then where the last scan ended, and at least a day back', async () => {
    using setup = scene();
    const { clock, outbox, service } = setup;
    const froms = () => {
      const lists = service.asked.splice(0).filter((query) => query.includes('verb=ListRecords'));
      return Date.parse(new URLSearchParams(lists[0]).get('from') ?? '');
    };
    queueFind(outbox, 'K-1');
    const queuedMs = clock.now();
    await clock.advance(3 * DAY_MS);
    await service.push(outbox);
    expect(froms()).toBe(queuedMs - 30 * DAY_MS);
    const lookedMs = queuedMs + 3 * DAY_MS;
    queueFind(outbox, 'K-2');
    await service.push(outbox);
    expect(Math.abs(froms() - (lookedMs - DAY_MS))).toBeLessThan(200_000);
    await clock.advance(10 * DAY_MS);
    queueFind(outbox, 'K-3');
    await service.push(outbox);
    const since = lookedMs - froms();
    expect(since).toBeGreaterThan(0);
    expect(since).toBeLessThan(DAY_MS);
    updateHeader(outbox, { mustLook: true, lookedFrom: null, lookedUntil: null });
    queueFind(outbox, 'K-4');
    const lastMs = clock.now();
    await service.push(outbox);
    expect(froms()).toBe(lastMs - 30 * DAY_MS);
    queueFind(outbox, 'K-5');
    await service.push(outbox);
    expect(froms()).toBeGreaterThan(lastMs - 2 * DAY_MS);
  });

  test('is that long even if the clock of this machine is weeks ahead', async () => {
    using setup = scene();
    const { clock, service } = setup;
    const outbox = {
      ...setup.outbox,
      clock: { ...clock, now: () => asWallMs(clock.now() + 60 * DAY_MS) },
    };
    queueFind(outbox, 'K-1');
    await service.push(outbox);
    const from = new URLSearchParams(
      service.asked.find((query) => query.includes('verb=ListRecords')),
    ).get('from');
    expect(clock.now() - Date.parse(from ?? '')).toBeGreaterThanOrEqual(DAY_MS);
  });
});

describe('with thousands of records and entries', () => {
  /**
   * As many accepted as waiting, with a photograph each; the statements that are run are counted,
   * also between two turns.
   */
  async function large(count: number) {
    const clock = manualClock();
    const outbox = tempOutbox(clock);
    const service = findService(clock);
    outbox.change(() => {
      for (let index = 0; index < count; index += 1) {
        const { findId, entryId } = queueFind(
          outbox,
          `A-${index}`,
          index % 10 === 0 ? 'sherd' : `A-${index}`,
        );
        const identCely = service.make(getInnerText(index % 10 === 0 ? 'sherd' : `A-${index}`));
        acceptEntry(outbox, entryId, identCely);
        queuePhoto(outbox, findId, nthPhotograph(index));
        queueFind(outbox, `B-${index}`, index % 10 === 0 ? 'sherd' : `B-${index}`);
      }
    });
    const work = { statements: 0, sinceTurn: 0, mostInATurn: 0 };
    const counted: Outbox = {
      ...outbox,
      sql: (text) => {
        work.statements += 1;
        work.sinceTurn += 1;
        work.mostInATurn = Math.max(work.mostInATurn, work.sinceTurn);
        return outbox.sql(text);
      },
    };
    const stop = new AbortController();
    const lookup = {
      outbox: counted,
      client: service.client,
      clock,
      format: 'oai_svc',
      indexAllowanceMs: 0,
      harvester: EVA.identCely,
    };
    const context: LookContext = {
      outbox: counted,
      account: EVA.identCely,
      lookup,
      lookBackMs: 30 * DAY_MS,
      serverNowMs: clock.now(),
      stop: stop.signal,
      judged: new Map(),
    };
    const run = async (onTurn: () => void = () => {}) => {
      let isDone = false;
      const held = holdEntriesWithQuestions(context).finally(() => {
        isDone = true;
      });
      held.catch(() => {});
      while (!isDone) {
        work.sinceTurn = 0;
        onTurn();
        await (clock.sleeping > 0 ? clock.advance(1000) : turn());
      }
      await held;
      return listHeldEntries(context.outbox);
    };
    return { context, run, stop, work, dispose: () => outbox[Symbol.dispose]() };
  }

  test('the work of the gate grows linearly, in short steps', async () => {
    const small = await large(50);
    const big = await large(200);
    expect([await small.run(), await big.run()]).toEqual([[], []]);
    expect(big.work.statements).toBeLessThan(small.work.statements * 4.4);
    expect(big.work.mostInATurn).toBeLessThan(small.work.mostInATurn * 1.5);
    for (const each of [small, big]) each.dispose();
  });

  test('the check before a photograph leaves reads the same beside many of its record', async () => {
    const countStatements = async (photographs: number): Promise<number> => {
      using given = scene();
      const { outbox, service, clock } = given;
      const { findId, entryId } = queueFind(outbox, 'A-1', 'fibula');
      acceptEntry(outbox, entryId, service.make(getInnerText('fibula')));
      for (let nth = 0; nth < photographs; nth += 1) queuePhoto(outbox, findId, nthPhotograph(nth));
      const entry = listAllEntries(outbox).find(({ kind }) => kind === 'photo');
      if (entry === undefined) throw new Error('there is no photograph');
      let statements = 0;
      const context: LookContext = {
        outbox: {
          ...outbox,
          sql: (text) => {
            statements += 1;
            return outbox.sql(text);
          },
        },
        account: EVA.identCely,
        lookup: undefined,
        lookBackMs: DAY_MS,
        serverNowMs: clock.now(),
        stop: new AbortController().signal,
        judged: new Map([[entry.id, makeEntryContentKey(entry)]]),
      };
      expect(await holdEntryBeforeDeparture(context, entry)).toBe(false);
      return statements;
    };
    expect(await countStatements(20)).toBe(await countStatements(2));
  });

  test('an interrupt is noticed between two steps', async () => {
    const { context, run, stop, dispose } = await large(200);
    const stopped = run(() => {
      if (context.judged.size > 0) stop.abort();
    });
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
    expect(context.judged.size).toBeLessThan(200);
    dispose();
  });
});
