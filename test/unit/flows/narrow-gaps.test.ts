import { describe, expect, test } from 'vitest';
import type { HarvestedFile, HarvestedFind } from '../../../src/find/harvested-find.ts';
import { narrowGaps } from '../../../src/flows/reconcile/narrow-gaps.ts';
import type { View } from '../../../src/flows/reconcile/verdict.ts';
import { claim, settle } from '../../../src/outbox/claims.ts';
import { addNumber, addPhoto, entryById } from '../../../src/outbox/entries.ts';
import { addGap, gapsOf } from '../../../src/outbox/gaps.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { JAN_SAID } from '../../support/account-service.ts';
import { ACCOUNT_ID, asSeenBy, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const NOON = Date.UTC(2024, 5, 1, 12);
const HOUR = 3_600_000;
const PROJECT = 'C-202400101';
const EVA = 'U-000001';

const IDENT = `${PROJECT}-N00001`;

type Seen = Partial<Pick<View, 'isOwned' | 'shown' | 'withheld' | 'deleted' | 'nowMs'>> & { readonly user?: string | undefined };

/** A record of the project, made in the middle of the gap by this account. */
function madeBy(user: string, atMs = NOON): HarvestedFind {
  return {
    ...{ identCely: IDENT, stav: 2, protectedWithheld: false, area: undefined, district: undefined, files: [] },
    history: [{ type: 'SN01', at: new Date(atMs).toISOString(), user, note: '' }],
    elements: { projekt: { id: PROJECT, text: PROJECT } },
  };
}

/** Eva's look at the service, a day after a copy was put back that knows nothing of the hours around noon. */
function look(outbox: ServiceOutbox, shown: readonly HarvestedFind[], more: Seen = {}): void {
  const user = 'user' in more ? more.user : EVA;
  narrowGaps({ outbox, settleMs: 600_000, user }, gapsOf(outbox), {
    finds: new Map(shown.map((find) => [find.identCely, find])),
    isOwned: () => false,
    readsAsSent: () => false,
    shown: new Map([['a kind of her records', new Set([EVA])]]),
    harvester: EVA,
    ...{ withheld: new Map(), deleted: new Map(), nowMs: NOON + 24 * HOUR, offsetMs: 0 },
    index: { unlisted: new Map(), allowanceMs: 900_000 },
    ...more,
  });
}

function withGap(project: string | null = null, before: (outbox: ServiceOutbox) => void = () => {}) {
  const outbox = tempOutbox();
  before(outbox);
  addGap(outbox, { project, fromMs: NOON - HOUR, untilMs: NOON + HOUR });
  const stateOf = (seen: ServiceOutbox, localId: string) => entryById(outbox, queueImport(seen, localId).entryId)?.state;
  return { outbox, stateOf, jan: asSeenBy(outbox, { username: JAN_SAID.email }), [Symbol.dispose]: outbox[Symbol.dispose] };
}

test('a time of which nothing is known is over for an account where its harvest shows no record of it that is not known here', () => {
  using scene = withGap();
  expect(scene.stateOf(scene.outbox, 'K-1')).toBe('uncertain');
  look(scene.outbox, []);
  expect(scene.stateOf(scene.outbox, 'K-2')).toBe('queued');
});

test('it goes on for the project of a record of that account', () => {
  using scene = withGap();
  look(scene.outbox, [madeBy(EVA)]);
  expect(gapsOf(scene.outbox)).toMatchObject([{ project: PROJECT }]);
  expect(scene.stateOf(scene.outbox, 'K-1')).toBe('uncertain');
});

test('it goes on for another account of the service that queues here, whose record the harvest shows', () => {
  using scene = withGap();
  look(scene.outbox, [madeBy(JAN_SAID.identCely)]);
  expect(scene.stateOf(scene.jan, 'K-1')).toBe('uncertain');
});

test('it goes on for another account of the service that queues here, whose records the harvest need not show', () => {
  using scene = withGap();
  queueImport(scene.jan, 'K-0');
  look(scene.outbox, []);
  expect(scene.stateOf(scene.jan, 'K-1')).toBe('uncertain');
});

describe('it goes on as it was', () => {
  const gapOf = (project: string | null) => [{ project, fromMs: NOON - HOUR, untilMs: NOON + HOUR }];

  test('where the harvest shows no record that is known to have been made from here', () => {
    using scene = withGap();
    look(scene.outbox, [], { shown: new Map() });
    expect(gapsOf(scene.outbox)).toEqual(gapOf(null));
  });

  test('until the service is done with what was sent in it and its index has come so far', () => {
    const over = NOON + HOUR + 600_000 + 900_000;
    for (const [nowMs, left] of [
      [over - 1, gapOf(null)],
      [over, []],
    ] as const) {
      using scene = withGap();
      look(scene.outbox, [], { nowMs });
      expect(gapsOf(scene.outbox)).toEqual(left);
    }
  });

  test('of one project only for what is of that project', () => {
    using own = withGap(PROJECT);
    look(own.outbox, [madeBy(EVA)]);
    expect(gapsOf(own.outbox)).toEqual(gapOf(PROJECT));
    using other = withGap('C-2');
    look(other.outbox, [madeBy(EVA)]);
    expect(gapsOf(other.outbox)).toEqual([]);
  });

  test('for whoever’s records where it is not known which account asks', () => {
    using scene = withGap();
    look(scene.outbox, [madeBy(JAN_SAID.identCely)], { user: undefined });
    expect(gapsOf(scene.outbox)).toEqual(gapOf(PROJECT));
  });
});

describe('it is over', () => {
  test.each([
    ['another account made', madeBy(JAN_SAID.identCely), {}],
    ['was made before it', madeBy(EVA, NOON - 2 * HOUR), {}],
    ['an entry here is known to have made', madeBy(EVA), { isOwned: () => true }],
  ])('where the only record is one that %s', (_name, record, more) => {
    using scene = withGap();
    look(scene.outbox, [record], more);
    expect(gapsOf(scene.outbox)).toEqual([]);
  });
});

describe.each(['withheld', 'deleted'] as const)('a record that is %s', (kind) => {
  const after = (changedMs: number, more: Seen = {}, identCely = IDENT) => {
    using scene = withGap();
    look(scene.outbox, [], { [kind]: new Map([[identCely, changedMs]]), ...more });
    return gapsOf(scene.outbox).map(({ project }) => project);
  };

  test('may be of that time where it changed since', () => {
    expect([NOON - HOUR, NOON - HOUR - 1].map((ms) => after(ms))).toEqual([[PROJECT], []]);
  });

  test('says nothing where an entry here is known to have made it', () => {
    expect(after(NOON, { isOwned: () => true })).toEqual([]);
  });

  test('is of the project that its identifier names, whatever that looks like', () => {
    expect(after(NOON, {}, 'X-C-N2-00012-N00345')).toEqual(['X-C-N2-00012']);
  });
});

describe('a photograph that was stored in that time', () => {
  const photograph = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 };
  const hex = photograph.sha512.toString('hex');
  const file = (sha512Hex: string, note: string, user = EVA, atMs = NOON): HarvestedFile => ({
    ...{ name: 'F01.jpg', mediaType: 'image/jpeg', sha512Hex },
    history: [
      { type: 'SBR1', at: new Date(atMs).toISOString(), user: JAN_SAID.identCely, note: 'x.jpg' },
      { type: 'SBR0', at: new Date(atMs).toISOString(), user, note },
    ],
  });
  const accept = (outbox: ServiceOutbox, id: number): void => {
    const claimed = claim(outbox, id, () => ({ method: 'POST', path: '/', accountId: ACCOUNT_ID }));
    if (claimed === undefined) throw new Error('the entry is not queued');
    settle(outbox, claimed, { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
  };
  const queue = (outbox: ServiceOutbox): number => addPhoto(outbox, { findId: null, identCely: IDENT }, photograph);
  /** Of a record of this outbox, made long before, to which a number and a photograph of this outbox were given. */
  const after = (files: readonly HarvestedFile[], isSent = true) => {
    using scene = withGap(null, (outbox) => {
      accept(outbox, addNumber(outbox, { findId: null, identCely: IDENT }, 'INV 1'));
      const id = queue(outbox);
      if (isSent) accept(outbox, id);
    });
    look(scene.outbox, [{ ...madeBy(EVA, NOON - 30 * HOUR), files }], { isOwned: () => true });
    return gapsOf(scene.outbox).map(({ project }) => project);
  };

  test('holds the project of its record where no entry here is known to have sent it', () => {
    expect(after([file('ff', 'b.jpg')])).toEqual([PROJECT]);
    expect(after([file(hex, 'a.jpg'), file('ff', 'b.jpg')])).toEqual([PROJECT]);
    expect(after([file(hex, 'a.jpg')], false)).toEqual([PROJECT]);
  });

  test('is known by its digest, or by the name under which it was sent', () => {
    expect(after([file(hex, 'b.jpg')])).toEqual([]);
    expect(after([file('ff', 'a.jpg')])).toEqual([]);
  });

  test('is none where another account stored it, or at another time, and a record without any holds nothing', () => {
    expect(after([file('ff', 'b.jpg', JAN_SAID.identCely)])).toEqual([]);
    expect(after([file('ff', 'b.jpg', EVA, NOON - 2 * HOUR)])).toEqual([]);
    expect(after([])).toEqual([]);
  });

  test('is none where one of two that were sent here is it', () => {
    const other = { ...photograph, name: 'c.jpg', sha512: Buffer.alloc(64, 2) };
    using scene = withGap(null, (outbox) => {
      accept(outbox, queue(outbox));
      accept(outbox, addPhoto(outbox, { findId: null, identCely: IDENT }, other));
    });
    look(scene.outbox, [{ ...madeBy(EVA, NOON - 30 * HOUR), files: [file(hex, 'a.jpg')] }], { isOwned: () => true });
    expect(gapsOf(scene.outbox)).toEqual([]);
  });
});
