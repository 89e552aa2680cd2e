import { describe, expect, test } from 'vitest';
import { listXml, oaiError, recordXml } from '../../support/scripted-oai.ts';
import { type Answers, harvesting, list, NOW_MS } from './harvesting.ts';

const kept = {
  holdings: { findLost: async () => ({ lost: [], inUse: [] }), deleteLost: async () => 0 },
};

/** Two pages of two records each, and what follows the token of the second. */
const twoPages =
  (token: string, end: string, size = 4): Answers =>
  (args) => {
    if (args.has('from')) return oaiError('noRecordsMatch');
    if (args.get('resumptionToken') === undefined)
      return list(['A', 'B'], 'T1', `completeListSize="${size}" cursor="0"`);
    return args.get('resumptionToken') === 'T1'
      ? list(['C', 'D'], token, `completeListSize="${size}" cursor="2"`)
      : end;
  };

/** The same where changes are asked for, all of which are recent. */
function ofChangesToo(answers: Answers): Answers {
  return (args, ...rest) =>
    answers(new Map([...args].filter(([name]) => name !== 'from')), ...rest);
}

describe('a list is accepted if all counted records were read', () => {
  test.each([
    ['with a token behind which nothing matches', twoPages('T2', oaiError('noRecordsMatch'))],
    ['with a token that is refused', twoPages('T2', oaiError('badResumptionToken'))],
    ['with a last page that names its own token', twoPages('T1', '')],
    [
      'with last pages that name their own tokens, also those of changes',
      ofChangesToo(twoPages('T1', '')),
    ],
  ])('%s', async (_, answers) => {
    const scene = harvesting(answers);
    await scene.run();
    expect(scene.kept).toEqual(['A', 'B', 'C', 'D']);
  });

  test('but not if it is counted one too many, even if its pages are contiguous', async () => {
    expect((await harvesting(twoPages('', '', 5), kept).failure())[0]).toMatch('is not complete');
  });
});

test('a first harvest under a clock that is a day ahead requests changes since then the next time', async () => {
  const dayMs = 86_400_000;
  const clock = {
    now: () => NOW_MS,
    monotonicMs: () => 0,
    sleep: async () => {},
    hold: () => {},
  } as never;
  const one = list(['A'], '', 'completeListSize="1"');
  const first = harvesting(() => one.replace('2025-06-18T08', '2025-06-19T08'), {
    ...kept,
    clock,
    serverNowMs: NOW_MS + dayMs,
  });
  await first.run();
  expect(first.state.getProgress().watermarkMs).toBe(NOW_MS);
});

test('a record that appears in an ascending list just before the pass, while another leaves, hides none', async () => {
  const stamped = (name: string, stamp: string): string => recordXml(name, undefined, stamp);
  const old = ['A', 'B', 'C', 'D'].map((name, index) =>
    stamped(name, `2025-01-0${index + 1}T00:00:00Z`),
  );
  const late = stamped('E', '2025-06-18T07:59:30Z');
  // A leaves behind the first page, so that C moves onto it; E has come.
  const now = [...old.slice(1), late];
  const page = (records: readonly string[], token: string, cursor: number): string =>
    listXml('ListRecords', records, token, `completeListSize="4" cursor="${cursor}"`);
  let lists = 0;
  const scene = harvesting((args) => {
    const from = args.get('from');
    if (from !== undefined) return listXml('ListRecords', [late], '', 'completeListSize="1"');
    if (args.has('resumptionToken')) return page(now.slice(2), '', 2);
    lists += 1;
    return page((lists === 1 ? old : now).slice(0, 2), `T${lists}`, 0);
  });
  await scene.run();
  expect(new Set(scene.kept)).toEqual(new Set(['A', 'B', 'C', 'D', 'E']));
});
