import { expect, test } from 'vitest';
import { findStates, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { importSeason, sendSeason } from '../support/season.ts';
import { useMockProcess } from '../support/use-mock.ts';

const mock = useMockProcess();

const ALL_IN_INDEX = [...WITHOUT_PAUSES, '--set', 'index_allowance_ms=0'];

/** Number of requests that a command makes. */
async function countRequests(work: () => Promise<unknown>): Promise<number> {
  await mock.service.control('DELETE', '/journal');
  await work();
  return (await mock.service.journal()).length;
}

test('The requests before a push grow linearly with the sent and waiting finds.', async () => {
  /** Sent finds, as many that wait, and one with a failed answer: it is looked for among all. */
  const countAsked = async (finds: number): Promise<number> => {
    const home = await signedIn(mock.service, ALL_IN_INDEX);
    await importSeason(home, 2 * finds);
    await mock.service.faults({
      endpoint: 'import',
      fault: '500-after-save',
      when: { nth: 5 },
      times: 1,
    });
    await home.do('push', '--limit', String(finds));
    return countRequests(() => home.do('push', '--limit', '1'));
  };
  // Lists of several pages: one with records of the last minutes is read a second time.
  const few = await countAsked(200);
  await mock.service.control('POST', '/reset');
  expect(await countAsked(600)).toBeLessThanOrEqual(3 * few);
});

test('A second laptop with the same finds looks them up in one request, and holds each.', async () => {
  const finds = 300;
  const first = await signedIn(mock.service, ALL_IN_INDEX);
  await sendSeason(first, finds);
  const second = await signedIn(mock.service, ALL_IN_INDEX);
  await importSeason(second, finds);
  const requests = await countRequests(async () => expect((await second.pas('push')).code).toBe(6));
  expect(requests).toBeLessThan(finds / 2);
  expect(await second.json('list')).toHaveLength(finds);
  expect(new Set(Object.values(await findStates(second)))).toEqual(new Set(['queued']));
  expect(
    (await second.json<{ needs_person: readonly unknown[] }>('status')).needs_person,
  ).toHaveLength(finds);
  await mock.expectMade({ finds });
});
