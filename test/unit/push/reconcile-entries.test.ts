import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findImportOfFind } from '../../../src/outbox/entry-queries.ts';
import { uniteWithLedger } from '../../../src/outbox/unite.ts';
import { recordNewFind } from '../../../src/outbox/wishes.ts';
import { type PersonDecision, resolveEntries } from '../../../src/push/resolve-entries.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import {
  ACCOUNT_ID,
  acceptEntry,
  NO_PLACE,
  openAt,
  queueImport,
} from '../../support/temp-outbox.ts';
import { getInnerText, queueFind } from './find-service.ts';
import { lookScene } from './look-scene.ts';

const DAY_MS = 86_400_000;

/** From when on a list was asked for. */
function parseFrom(query: string): number | undefined {
  const from = new URLSearchParams(query).get('from');
  return from === null ? undefined : Date.parse(from);
}

describe('a lookup of uncertain entries', () => {
  test('settles what is there, queues what is not, and records the evidence', async () => {
    using scene = lookScene();
    await scene.find('K-0', 'accepted');
    const queued = await scene.find('K-1', 'uncertain', true);
    const lost = await scene.find('K-2', 'uncertain');
    const looked = await scene.look();
    expect(looked.map(({ entry, verdict }) => [entry.id, verdict.kind])).toEqual([
      [queued.entryId, 'found'],
      [lost.entryId, 'absent'],
    ]);
    expect(scene.entry(queued.entryId)).toMatchObject({
      state: 'accepted',
      identCely: queued.ident,
    });
    expect(scene.entry(lost.entryId)).toMatchObject({ state: 'queued', identCely: null });
    expect([queued, lost].map(({ entryId }) => scene.evidence(entryId))).toEqual([
      ['same-and-new'],
      ['not-among-those-shown'],
    ]);
  });

  test.each<[PersonDecision, string]>([
    [{ kind: 'drop' }, 'dropped'],
    [{ kind: 'created', identCely: 'C-202400101-N00077' }, 'accepted'],
  ])('leaves what a person decides meanwhile: %j', async (decision, state) => {
    using scene = lookScene();
    await scene.find('K-0', 'accepted');
    const { entryId } = await scene.find('K-1', 'uncertain');
    let isDecided = false;
    scene.service.habits.beforeHarvest = async () => {
      if (!isDecided) resolveEntries(scene.outbox, 'K-1', decision, undefined, false);
      isDecided = true;
    };
    await scene.look();
    expect([isDecided, scene.entry(entryId).state]).toEqual([true, state]);
  });

  test('makes no request if none of the requested entries is uncertain', async () => {
    using scene = lookScene();
    await scene.find('K-0', 'accepted');
    expect(await scene.look()).toEqual([]);
    const { entryId } = await scene.find('K-1', 'uncertain');
    expect(await scene.look(['another'])).toEqual([]);
    expect([scene.service.asked, scene.entry(entryId).state]).toEqual([[], 'uncertain']);
  });

  test('settles only the requested entries', async () => {
    using scene = lookScene();
    await scene.find('K-0', 'accepted');
    const lost = await scene.find('K-1', 'uncertain');
    const queued = await scene.find('K-2', 'uncertain', true);
    await scene.look([scene.entry(lost.entryId).subject]);
    expect([lost, queued].map(({ entryId }) => scene.entry(entryId).state)).toEqual([
      'queued',
      'uncertain',
    ]);
  });

  test('leaves two equal finds to a person that were sent at once, of which one was created', async () => {
    using scene = lookScene();
    await scene.find('K-0', 'accepted');
    const ids = ['K-1', 'K-2'].map(
      (localId) => queueFind(scene.outbox, localId, 'the same').entryId,
    );
    scene.service.make(getInnerText('the same'));
    await scene.endAll(ids, 'uncertain');
    const [first] = ids;
    await scene.look([scene.entry(first ?? 0).subject]);
    expect(ids.map((id) => scene.evidence(id))).toEqual([['several-same'], []]);
  });

  test('leaves a record to the other outbox of this machine whose import the service answered with it', async () => {
    using scene = lookScene();
    await scene.find('K-0', 'accepted');
    const lost = await scene.find('K-1', 'lost', false, 'the same');
    using other = openAt(join(tempFolder(), 'outbox.sqlite'), scene.outbox.ledger.path, {
      clock: scene.clock,
    });
    uniteWithLedger(other, ACCOUNT_ID);
    acceptEntry(
      other,
      queueFind(other, 'L-1', 'the same').entryId,
      scene.service.make(getInnerText('the same')),
    );
    uniteWithLedger(scene.outbox);
    await scene.look();
    expect([scene.entry(lost.entryId).state, scene.evidence(lost.entryId)]).toEqual([
      'queued',
      ['not-among-those-shown'],
    ]);
  });

  test.each([
    ['a day before the uncertain entries', ['accepted', 'uncertain']],
    [
      'with the uncertain entries if they are older than all accepted ones',
      ['uncertain', 'accepted'],
    ],
  ] as const)('starts %s', async (_when, states) => {
    using scene = lookScene();
    const beganMs = scene.clock.now();
    for (const [nth, state] of states.entries()) {
      if (nth > 0) await scene.clock.advance(10 * DAY_MS);
      await scene.find(`K-${nth}`, state);
    }
    await scene.look();
    expect(
      scene.service.asked.filter((query) => query.includes('ListRecords')).map(parseFrom),
    ).toEqual([beganMs - DAY_MS]);
  });

  test('leaves a find whose document is unreadable, and tolerates an accepted one', async () => {
    using scene = lookScene();
    const unreadable = [queueImport(scene.outbox, 'K-1'), queueImport(scene.outbox, 'K-2')].map(
      ({ entryId }) => entryId,
    );
    const [accepted = 0, doubtful = 0] = unreadable;
    const document = Buffer.from('<svc xmlns="urn:svc/2.2/"><samostatny_nalez/></svc>');
    const findId = recordNewFind(
      scene.outbox,
      { localId: 'K-3', elements: {}, ...NO_PLACE },
      { document, issues: [] },
    );
    const without = findImportOfFind(scene.outbox, findId)?.id ?? 0;
    for (const id of [accepted, without])
      await scene.end(id, 'accepted', scene.service.make(getInnerText(`${id}`)));
    const lost = await scene.find('K-4', 'uncertain');
    await scene.end(doubtful, 'uncertain');
    expect((await scene.look()).map(({ entry }) => entry.id)).toEqual([lost.entryId]);
    expect(scene.entry(doubtful).state).toBe('uncertain');
  });

  test('only shows what it finds if the service’s time before the attempt is unknown', async () => {
    using scene = lookScene({ tellsTime: false });
    await scene.find('K-0', 'accepted');
    const queued = await scene.find('K-1', 'uncertain', true);
    const lost = await scene.find('K-2', 'uncertain');
    await scene.clock.advance(10 * DAY_MS);
    await scene.look();
    expect(
      [queued, lost].map(({ entryId }) => [scene.entry(entryId).state, scene.evidence(entryId)]),
    ).toEqual([
      ['uncertain', ['time-unknown']],
      ['uncertain', ['time-unknown']],
    ]);
  });
});

describe('a find that the harvest does not show', () => {
  test.each([
    ['withheld', 'similar-new'],
    ['deleted', 'deleted-since'],
  ] as const)('may be a record of its project that is %s since', async (hidden, basis) => {
    using scene = lookScene();
    await scene.find('K-0', 'accepted');
    const queued = await scene.find('K-1', 'uncertain', true);
    scene.service.change(queued.ident, (record) => {
      record.hidden = hidden;
    });
    const [looked] = await scene.look();
    expect(looked?.verdict).toMatchObject({ kind: 'undecided', basis, candidates: [queued.ident] });
    expect(scene.entry(queued.entryId).state).toBe('uncertain');
  });

  test('is not absent while a later accepted find is missing', async () => {
    using scene = lookScene();
    await scene.find('K-0', 'accepted');
    const lost = await scene.find('K-1', 'uncertain');
    const later = await scene.find('K-2', 'accepted');
    scene.service.records.delete(later.ident);
    await scene.look();
    expect(scene.evidence(lost.entryId)).toEqual(['index-behind']);
  });

  test('is not proven absent if no find created from here is shown', async () => {
    using scene = lookScene();
    const gone = await scene.find('K-0', 'accepted');
    await scene.clock.advance(10 * DAY_MS);
    const lost = await scene.find('K-1', 'uncertain');
    scene.service.change(gone.ident, (record) => {
      record.hidden = 'withheld';
    });
    await scene.look();
    expect(scene.evidence(lost.entryId)).toEqual(['no-like-record-shown']);
  });
});

describe('a record assigned to another find here', () => {
  test('is not this one, even after a correction or a new number', async () => {
    using scene = lookScene();
    const owner = await scene.find('K-0', 'accepted');
    const canary = await scene.find('K-9', 'accepted');
    expect(canary.ident).not.toBe(owner.ident);
    const lost = await scene.find('K-1', 'uncertain', false, 'K-0');
    for (const edit of ['', 'INV 1']) {
      scene.service.setNumber(owner.ident, edit);
      await scene.look();
      expect(scene.evidence(lost.entryId).at(-1)).toBe('not-among-those-shown');
      await scene.end(lost.entryId, 'uncertain');
    }
    scene.service.change(owner.ident, (record) => {
      record.inner = getInnerText('opravená').replace(/<ident_cely>.*?<\/ident_cely>/, '');
    });
    await scene.look();
    expect(scene.entry(lost.entryId).state).toBe('queued');
  });

  test('belongs to neither at first if the service gave its identifier again, then to this one, and a person decides about the other', async () => {
    using scene = lookScene();
    await scene.find('K-9', 'accepted');
    const owner = await scene.find('K-0', 'accepted');
    await scene.clock.advance(DAY_MS);
    scene.service.records.delete(owner.ident);
    const lost = await scene.find('K-1', 'uncertain', true);
    expect(lost.ident).toBe(owner.ident);
    await scene.look();
    for (const { entryId } of [lost, owner])
      expect(scene.entry(entryId)).toMatchObject({ state: 'uncertain', identCely: null });
    await scene.clock.advance(60_000);
    await scene.look();
    expect(scene.entry(lost.entryId)).toMatchObject({ state: 'accepted', identCely: lost.ident });
    expect(scene.entry(owner.entryId)).toMatchObject({ state: 'uncertain', identCely: null });
    expect(scene.evidence(owner.entryId)).toEqual(['deleted-since']);
  });
});
