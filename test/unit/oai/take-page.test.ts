import { describe, expect, test } from 'vitest';
import { makeMemoryState } from '../../../src/oai/harvest-state.ts';
import type { BrokenRecord } from '../../../src/oai/malformed-error.ts';
import { type HarvestPass, type HarvestWindow, startScan } from '../../../src/oai/pass.ts';
import type { OaiRecord } from '../../../src/oai/protocol.ts';
import { isUnidentified, type RecordSink, takePage } from '../../../src/oai/take-page.ts';
import { begunPass } from '../../support/begun-pass.ts';
import { makeClient, RECORDS } from '../../support/scripted-client.ts';
import { listXml, OAI_BASE, recordXml, scripted } from '../../support/scripted-oai.ts';

const OPEN: HarvestWindow = { fromMs: null, untilMs: null };
const BEGAN_DAY = 10;

/** A record that changed last on this day of January. */
type Listed = readonly [ident: string, day: number, text?: string];

const getName = (ident: string): string => `${OAI_BASE}/id/${ident}`;
const dayMs = (day: number): number => Date.UTC(2025, 0, day);
const getIdent = ({ header }: OaiRecord): string => header.identifier.split('/').at(-1) ?? '';

/** A pass under way that takes one page after another. */
function aPass(window = OPEN) {
  const state = makeMemoryState();
  state.savePass(begunPass('full', window, dayMs(BEGAN_DAY), 1));
  const order: string[] = [];
  const givenPages: { readonly records: string[]; readonly seen: string[] }[] = [];
  const sink: RecordSink = {
    write: async ({ records, seenRecords: seen }) => {
      order.push('write');
      givenPages.push({ records: records.map(getIdent), seen: seen.map(getIdent) });
    },
    notePage: () => void order.push('commit'),
  };
  const underWay = (): HarvestPass => {
    const pass = state.getPass();
    if (pass === undefined) throw new Error('no pass is under way');
    return pass;
  };
  return {
    state,
    order,
    given: givenPages,
    underWay,
    counts: () => {
      const { seen: seenCount, unmet, overlooked } = underWay();
      return { seen: seenCount, unmet, overlooked };
    },
    nextScan: () => state.savePass(startScan(underWay(), true)),
    nextPass: () =>
      state.savePass(begunPass('full', window, dayMs(BEGAN_DAY), underWay().scan + 1)),
    take: async (
      records: readonly Listed[],
      broken: readonly BrokenRecord[] = [],
      cursor?: number,
    ) => {
      const xml = records.map(([name, day, text = '']) =>
        recordXml(name, `<x xmlns="urn:x">${text}</x>`, new Date(dayMs(day)).toISOString()),
      );
      const page = await makeClient(scripted(listXml('ListRecords', xml))).listRecords(RECORDS);
      let again: readonly number[] = [];
      const taken = await takePage(
        { state, sink },
        underWay(),
        { ...page, broken, cursor },
        (pass, againMs) => {
          again = againMs;
          order.push('note');
          return pass;
        },
      );
      const { written, newInScan, disputed, faults } = taken;
      return { written: written.map(getIdent), newInScan, disputed, faults: [...faults], again };
    },
  };
}

const NOTHING = { written: [], newInScan: 0, disputed: [], faults: [], again: [] };

describe('a page', () => {
  test('is written to the sink before it counts, and is recorded in one step', async () => {
    const pass = aPass();
    expect(
      await pass.take([
        ['A', 1],
        ['B', 2],
      ]),
    ).toEqual({ ...NOTHING, written: ['A', 'B'], newInScan: 2 });
    expect(pass.order).toEqual(['write', 'commit', 'note']);
    expect(pass.given).toEqual([{ records: ['A', 'B'], seen: ['A', 'B'] }]);
    expect(pass.counts()).toEqual({ seen: 2, unmet: null, overlooked: 0 });
    expect(pass.state.findSeen(getName('B'))).toMatchObject({
      datestampMs: dayMs(2),
      scan: 1,
      skipped: false,
    });
    await pass.take([['C', 3]]);
    expect(pass.counts()).toEqual({ seen: 3, unmet: null, overlooked: 0 });
  });

  test('changes only the counts of the pass if nothing else is to be recorded', async () => {
    const pass = aPass();
    const page = await makeClient(scripted(listXml('ListRecords', [recordXml('A')]))).listRecords(
      RECORDS,
    );
    await takePage(
      { state: pass.state, sink: { write: async () => {}, notePage: () => {} } },
      pass.underWay(),
      page,
    );
    expect(pass.counts()).toMatchObject({ seen: 1 });
  });

  test('that the scan has read already adds nothing, and shows if its records changed', async () => {
    const pass = aPass();
    await pass.take([
      ['A', 1],
      ['B', 2],
    ]);
    expect(
      await pass.take([
        ['B', 2],
        ['C', 3],
      ]),
    ).toEqual({ ...NOTHING, written: ['C'], newInScan: 1, again: [dayMs(2)] });
    expect(pass.counts()).toMatchObject({ seen: 3 });
  });

  test('that the scan before has read is counted again and not written', async () => {
    const pass = aPass();
    await pass.take([['A', 1]]);
    pass.nextScan();
    expect(await pass.take([['A', 1]])).toEqual({ ...NOTHING, newInScan: 1 });
    expect(pass.given.at(-1)).toEqual({ records: [], seen: ['A'] });
    expect(pass.counts()).toEqual({ seen: 1, unmet: 0, overlooked: 0 });
    pass.nextPass();
    expect(await pass.take([['A', 1]])).toEqual({ ...NOTHING, newInScan: 1 });
    expect(pass.counts()).toEqual({ seen: 1, unmet: null, overlooked: 0 });
  });

  test('shows what the scan before missed: records older than the pass', async () => {
    const pass = aPass();
    await pass.take([
      ['A', 1],
      ['B', 1],
    ]);
    pass.nextScan();
    await pass.take([
      ['A', 1],
      ['C', BEGAN_DAY - 1],
      ['D', BEGAN_DAY],
      ['E', BEGAN_DAY + 1],
    ]);
    expect(pass.counts()).toEqual({ seen: 4, unmet: 1, overlooked: 1 });
  });
});

describe('a record', () => {
  test.each([
    ['changed later', ['A', 2, 'x']],
    ['is otherwise than it was, with the same datestamp', ['A', 1, 'y']],
    ['was put back to an earlier version', ['A', 0, 'x']],
  ] as const)('is written again by a later scan if it %s', async (_name, now) => {
    const pass = aPass();
    await pass.take([['A', 1, 'x']]);
    pass.nextScan();
    expect(await pass.take([now])).toEqual({ ...NOTHING, written: ['A'], newInScan: 1 });
    expect(pass.counts()).toEqual({ seen: 1, unmet: 0, overlooked: 0 });
  });

  test('is the newer one of two versions in one scan, in either order', async () => {
    for (const versions of [[1, 3] as const, [3, 1] as const]) {
      const pages = aPass();
      for (const day of versions) await pages.take([['A', day, `${day}`]]);
      expect(pages.state.findSeen(getName('A'))?.datestampMs).toBe(dayMs(3));
      const page = aPass();
      const taken = await page.take(versions.map((day) => ['A', day, `${day}`] as const));
      expect(taken).toMatchObject({
        written: ['A'],
        newInScan: 1,
        disputed: [],
        again: [dayMs(versions[1])],
      });
      expect(page.state.findSeen(getName('A'))?.datestampMs).toBe(dayMs(3));
      expect(page.counts().seen).toBe(1);
    }
  });

  test('is disputed if one scan reads two versions of it with one datestamp', async () => {
    const pages = aPass();
    await pages.take([
      ['A', 1, 'x'],
      ['B', 1],
    ]);
    expect(
      await pages.take([
        ['A', 1, 'y'],
        ['B', 1],
      ]),
    ).toMatchObject({ written: ['A'], disputed: [getName('A')] });
    const page = aPass();
    const twice: Listed[] = [
      ['A', 1, 'x'],
      ['B', 1],
      ['A', 1, 'y'],
      ['B', 1],
    ];
    expect(await page.take(twice)).toMatchObject({
      disputed: [getName('A')],
      again: [dayMs(1), dayMs(1)],
    });
  });

  test('outside the window is counted and not stored', async () => {
    const pass = aPass({ fromMs: null, untilMs: dayMs(5) });
    expect(
      await pass.take([
        ['A', 5],
        ['B', 6],
      ]),
    ).toEqual({ ...NOTHING, written: ['A'], newInScan: 2 });
    expect(pass.given).toEqual([{ records: ['A'], seen: ['A'] }]);
    expect(pass.state.findSeen(getName('B'))).toEqual({
      datestampMs: 0,
      digest: '',
      scan: 1,
      skipped: false,
    });
    const noted = pass.state.findSeen(getName('A'));
    pass.nextScan();
    expect(await pass.take([['A', 7]])).toEqual({ ...NOTHING, newInScan: 1 });
    expect(pass.state.findSeen(getName('A'))).toEqual({ ...noted, scan: 2 });
  });
});

describe('an unreadable record', () => {
  test('is recorded as left out, with its previous state, and reported with its fault', async () => {
    const pass = aPass();
    await pass.take([['A', 1]]);
    const before = pass.state.findSeen(getName('A'));
    pass.nextScan();
    const broken = [{ identifier: getName('A'), reason: 'not well-formed' }];
    expect(await pass.take([], broken)).toEqual({
      ...NOTHING,
      newInScan: 1,
      faults: [[getName('A'), 'not well-formed']],
    });
    expect(pass.state.findSeen(getName('A'))).toEqual({ ...before, scan: 2, skipped: true });
    expect(pass.given.at(-1)).toEqual({ records: [], seen: [] });
  });

  test('without an identifier has the name of its place', async () => {
    const pass = aPass();
    const nameless = { identifier: undefined, reason: 'no identifier' };
    const { faults } = await pass.take(
      [],
      [nameless, { identifier: getName('A'), reason: 'x' }, nameless],
      100,
    );
    expect(faults.map(([name]) => name)).toEqual(['broken 100 0', getName('A'), 'broken 100 2']);
    expect((await pass.take([], [nameless])).faults.map(([name]) => name)).toEqual(['broken 0 0']);
    expect(faults.map(([name]) => isUnidentified(name))).toEqual([true, false, true]);
    expect(isUnidentified('not broken ')).toBe(false);
  });
});
