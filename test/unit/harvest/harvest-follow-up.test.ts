import { describe, expect, test } from 'vitest';
import { openStateInMemory } from '../../../src/harvest/harvest-state.ts';
import { oaiError } from '../../support/scripted-oai.ts';
import { ALL, type Answers, harvesting, list, NOW_MS } from './harvesting.ts';

const HOUR_MS = 3_600_000;
const CHANGES = `${ALL} from=2025-06-18T07:00:00Z`;
const SECOND = 'verb=ListRecords resumptionToken=T2';

/**
 * A list of two pages, which grows by what is said to have changed meanwhile, one record an answer.
 */
function twoPages(isCounted: boolean, changes: readonly string[]): Answers {
  const news = [] as string[];
  const coming = [...changes];
  return (args) => {
    const size = isCounted ? `completeListSize="${2 + news.length}"` : '';
    if (args.has('resumptionToken')) return list(['B', ...news], '', size);
    if (!args.has('from')) return list(['A'], 'T2', size);
    const next = coming.shift();
    if (next === undefined) return oaiError('noRecordsMatch');
    news.push(next);
    return list([next]);
  };
}

describe('changes during a scan', () => {
  test('are requested once if there are none', async () => {
    const { run, asked } = harvesting(twoPages(true, []));
    await run();
    expect(asked()).toEqual([ALL, SECOND, CHANGES]);
  });

  test('are requested until there are none, and then the list is counted again', async () => {
    const { run, asked, kept: keptNames } = harvesting(twoPages(true, ['C']));
    const { pass } = await run();
    expect(keptNames).toEqual(['A', 'B', 'C']);
    expect(
      asked()
        .filter((each) => each !== SECOND)
        .slice(0, 4),
    ).toEqual([ALL, CHANGES, CHANGES, ALL.replace('ListRecords', 'ListIdentifiers')]);
    expect(pass?.listSize).toBe(3);
  });

  test('are not followed by a count if the service does not count', async () => {
    const { run, asked } = harvesting(twoPages(false, ['C']));
    await run();
    expect(asked().slice(0, 4)).toEqual([ALL, SECOND, CHANGES, CHANGES]);
  });

  test('are requested five times per scan if there are always more', async () => {
    const {
      run,
      asked,
      kept: keptNames,
    } = harvesting(
      twoPages(
        true,
        Array.from({ length: 100 }, (_, nth) => `C-${nth}`),
      ),
    );
    await run().catch(() => {});
    const rounds = asked().filter((each) => each === CHANGES).length;
    expect([rounds > 0, rounds % 5]).toEqual([true, 0]);
    expect(keptNames).toHaveLength(2 + rounds);
  });

  test.each([
    [NOW_MS - HOUR_MS - 1000, []],
    [NOW_MS - HOUR_MS, ['2025-06-18T07:00:00Z']],
  ])('are not requested after the bound %i', async (untilMs, from) => {
    const { run, asked } = harvesting(
      (args) =>
        args.has('from') ? oaiError('noRecordsMatch') : twoPages(true, [])(args, 0, {} as never),
      {
        window: { fromMs: null, untilMs },
      },
    );
    await run();
    expect(asked().flatMap((each) => / from=(\S+)/.exec(each)?.[1] ?? [])).toEqual(from);
  });

  test('are requested from the lower bound on, if that is later', async () => {
    const { run, asked } = harvesting(
      (args) => {
        if (args.get('resumptionToken') === 'T2') return list(['B'], '', 'completeListSize="2"');
        return args.get('from') === '2025-06-18T07:30:00Z'
          ? list(['A'], 'T2', 'completeListSize="2"')
          : oaiError('badArgument');
      },
      { window: { fromMs: NOW_MS - HOUR_MS / 2, untilMs: null } },
    );
    await run();
    expect(new Set(asked())).toEqual(new Set([`${ALL} from=2025-06-18T07:30:00Z`, SECOND]));
  });
});

test('changes that were read before an interruption still require a second reading', async () => {
  const state = openStateInMemory();
  // A, which is on the first page, leaves the list B C D, whose second page lacks C then; E is new.
  let changes = 0;
  const fails = harvesting(
    (args) => {
      if (args.has('resumptionToken')) return list(['D']);
      if (!args.has('from')) return list(['A', 'B'], 'T2', 'completeListSize="4"');
      changes += 1;
      return changes === 1 ? list(['E']) : oaiError('badArgument');
    },
    { state },
  );
  await expect(fails.run()).rejects.toThrow('badArgument');
  expect(fails.kept).toEqual(['A', 'B', 'D', 'E']);
  const then = harvesting(
    (args) => {
      if (args.has('resumptionToken')) return list(['D', 'E']);
      return args.has('from') ? list(['E']) : list(['B', 'C'], 'T2', 'completeListSize="4"');
    },
    { state },
  );
  await then.run();
  expect(then.kept).toEqual(['C']);
});

test('a list that never repeats is given up as unstable', async () => {
  let scan = 0;
  const { failure } = harvesting((args) => {
    if (args.has('from')) return oaiError('noRecordsMatch');
    if (!args.has('resumptionToken')) scan += 1;
    return args.has('resumptionToken') ? list([`B-${scan}`]) : list(['A'], `T${scan}`);
  });
  expect((await failure())[0]).toMatch(
    /^heslo is not complete: its list kept changing while it was read\. /,
  );
});
