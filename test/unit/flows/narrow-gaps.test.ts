import { expect, test } from 'vitest';
import type { HarvestedFind } from '../../../src/find/harvested-find.ts';
import { narrowGaps } from '../../../src/flows/reconcile/narrow-gaps.ts';
import { entryById } from '../../../src/outbox/entries.ts';
import { addGap, gapsOf } from '../../../src/outbox/gaps.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { JAN_SAID } from '../../support/account-service.ts';
import { asSeenBy, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const NOON = Date.UTC(2024, 5, 1, 12);
const HOUR = 3_600_000;
const PROJECT = 'C-202400101';
const EVA = 'U-000001';

/** A record of the project, made in the middle of the gap by this account. */
function madeBy(user: string): HarvestedFind {
  return {
    ...{ identCely: `${PROJECT}-N00001`, stav: 2, protectedWithheld: false, area: undefined, district: undefined, files: [] },
    history: [{ type: 'SN01', at: new Date(NOON).toISOString(), user, note: '' }],
    elements: { projekt: { id: PROJECT, text: PROJECT } },
  };
}

/** Eva's look at the service, a day after a copy was put back that knows nothing of the hours around noon. */
function look(outbox: ServiceOutbox, shown: readonly HarvestedFind[]): void {
  narrowGaps({ outbox, settleMs: 600_000, user: EVA }, gapsOf(outbox), {
    finds: new Map(shown.map((find) => [find.identCely, find])),
    isOwned: () => false,
    readsAsSent: () => false,
    shown: new Map([['a kind of her records', new Set([EVA])]]),
    harvester: EVA,
    ...{ withheld: new Map(), deleted: new Map(), nowMs: NOON + 24 * HOUR, offsetMs: 0 },
    index: { unlisted: new Map(), allowanceMs: 900_000 },
  });
}

function withGap() {
  const outbox = tempOutbox();
  addGap(outbox, { project: null, fromMs: NOON - HOUR, untilMs: NOON + HOUR });
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
