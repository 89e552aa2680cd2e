import { describe, expect, test } from 'vitest';
import { OaiError } from '../../../src/base/errors.ts';
import { type HarvestState, openStateInMemory } from '../../../src/harvest/harvest-state.ts';
import {
  answer,
  listXml,
  OAI_BASE,
  oaiError,
  recordXml,
  scripted,
} from '../../support/scripted-oai.ts';
import { begunPass, completePass } from './begun-pass.ts';
import { ALL, type Answers, harvesting, list, NOW_MS } from './harvesting.ts';
import { makeClient } from './scripted-client.ts';

const HOUR_MS = 3_600_000;
const AGAIN =
  'Run the command again; what was stored is kept. If it happens again, tell the operator of the service.';

describe('a list of one page', () => {
  test('is read once, and the next time only the changes since', async () => {
    const first = harvesting(() => list(['A', 'B']));
    const { pass, broken } = await first.run();
    expect([first.asked(), first.kept, first.pages, broken]).toEqual([[ALL], ['A', 'B'], [2], []]);
    expect([
      pass?.kind,
      first.state.getProgress().watermarkMs,
      first.state.getProgress().pass,
    ]).toEqual(['full', NOW_MS, null]);
    const { state } = first;
    const then = harvesting(() => oaiError('noRecordsMatch'), {
      state,
      serverNowMs: NOW_MS + HOUR_MS,
    });
    expect((await then.run()).pass?.kind).toBe('changes');
    expect(then.asked()).toEqual([`${ALL} from=2025-06-18T07:00:00Z`]);
  });

  test('is requested without a set if all is wanted, and to the full second of a bound', async () => {
    const { run, asked } = harvesting(() => list(['A']), {
      setSpec: '',
      window: { fromMs: 1500, untilMs: NOW_MS - 500 },
    });
    await run();
    expect(asked()).toEqual([
      'verb=ListRecords metadataPrefix=oai_svc from=1970-01-01T00:00:01Z until=2025-06-18T08:00:00Z',
    ]);
  });

  test('is not requested if all possible changes are outside the bound', async () => {
    const state = openStateInMemory();
    completePass(state, NOW_MS);
    const until = (untilMs: number) =>
      harvesting(() => list(['A']), { state, window: { fromMs: null, untilMs } });
    const behind = until(NOW_MS - HOUR_MS - 1);
    expect(await behind.run()).toMatchObject({ pass: { kind: 'changes', seen: 0 }, broken: [] });
    expect([behind.asked(), state.getProgress().pass]).toEqual([[], null]);
    const reached = until(NOW_MS - HOUR_MS);
    await reached.run();
    expect(reached.asked()).toEqual([
      `${ALL} from=2025-06-18T07:00:00Z until=2025-06-18T07:00:00Z`,
    ]);
  });

  test('with a lower bound is requested from there, not from before', async () => {
    const state = openStateInMemory();
    completePass(state, NOW_MS);
    const { run, asked } = harvesting(() => list(['A']), {
      state,
      window: { fromMs: NOW_MS - 1000, untilMs: null },
    });
    await run();
    expect(asked()).toEqual([`${ALL} from=2025-06-18T07:59:59Z`]);
  });
});

describe('a service’s clock that went back', () => {
  test.each([
    [NOW_MS - 2000, 'changes'],
    [NOW_MS - 2001, 'full'],
  ])('from the last harvest to %i: %s', async (serverNowMs, kind) => {
    const state = openStateInMemory();
    completePass(state, NOW_MS);
    const { run } = harvesting(() => list(['A']), { state, serverNowMs });
    expect((await run()).pass?.kind).toBe(kind);
  });

  test.each([
    [NOW_MS - 2000, false],
    [NOW_MS - 2001, true],
  ])('from an interrupted harvest to %i starts it again: %s', async (serverNowMs, isAnew) => {
    const state = openStateInMemory();
    state.saveProgress({ pass: { ...begunPass('full', NOW_MS, 3), token: 'T', pages: 1 } });
    const { run, asked } = harvesting(() => list(['A'], '', 'completeListSize="1"'), {
      state,
      serverNowMs,
    });
    await run();
    expect(asked()[0]).toBe(isAnew ? ALL : 'verb=ListRecords resumptionToken=T');
  });
});

test.each([
  ['full', 'T', false, 'full', true],
  ['full', 'T', true, 'full', true],
  ['changes', 'T', false, 'changes', true],
  ['changes', 'T', true, 'full', false],
  ['changes', null, false, 'changes', false],
  ['full', null, false, 'full', false],
] as const)(
  'after an interrupted pass of %s with the token %s, --full %s reads %s, resumed: %s',
  async (kind, token, full, then, isResumed) => {
    const state = openStateInMemory();
    completePass(state, NOW_MS);
    state.saveProgress({ pass: { ...begunPass(kind, NOW_MS, 1), token, pages: 1 } });
    const { run, asked } = harvesting(() => list(['A'], '', 'completeListSize="1"'), {
      state,
      full,
    });
    expect((await run()).pass.kind).toBe(then);
    expect(asked()[0] === 'verb=ListRecords resumptionToken=T').toBe(isResumed);
  },
);

describe('a list with a count', () => {
  test('that is sent in part is reported as incomplete, with how many are missing', async () => {
    const { failure, asked, state } = harvesting(() =>
      list(['A', 'B'], '', 'completeListSize="3"'),
    );
    expect(await failure()).toEqual([
      'heslo is not complete: its list ended before. The service sent 2 records and counts 3.',
      AGAIN,
    ]);
    expect(new Set(asked())).toEqual(new Set([ALL]));
    // Read records are kept, and the next run looks again from the beginning.
    expect(state.getProgress().pass?.token).toBeNull();
    const all = harvesting(() => list(['A', 'B'], '', 'completeListSize="3"'), { setSpec: '' });
    expect((await all.failure())[0]).toMatch(/^everything is not complete/);
  });

  test('resumes at the token where it was interrupted, and requests the changes meanwhile', async () => {
    const state = openStateInMemory();
    const fails = harvesting(
      (_, nth) => (nth === 1 ? list(['A'], 'T2', 'completeListSize="2"') : oaiError('badArgument')),
      {
        state,
      },
    );
    await expect(fails.run()).rejects.toThrow('badArgument');
    expect([fails.kept, state.getProgress().pass?.token]).toEqual([['A'], 'T2']);
    const then = harvesting(
      (args) =>
        args.get('resumptionToken') === 'T2'
          ? list(['B'], '', 'completeListSize="2"')
          : oaiError('noRecordsMatch'),
      { state },
    );
    await then.run();
    expect(then.kept).toEqual(['B']);
    expect(then.asked()).toEqual([
      'verb=ListRecords resumptionToken=T2',
      `${ALL} from=2025-06-18T07:00:00Z`,
    ]);
  });

  test.each([
    ['as a wrong argument', oaiError('badArgument')],
    ['by a page for people', '<html/>'],
  ])(
    'continues by datestamps if the token of an interrupted run is refused %s',
    async (_, refusal) => {
      const state = openStateInMemory();
      const records = [recordXml('A', undefined, '2025-02-01T00:00:00Z'), recordXml('B')];
      const size = 'completeListSize="3"';
      const answers = (args: ReadonlyMap<string, string>) => {
        if (args.has('resumptionToken')) return refusal;
        if (args.has('from')) return oaiError('noRecordsMatch');
        if (args.has('until')) return list(['B', 'C'], '', 'completeListSize="2"');
        return listXml('ListRecords', records, 'T2', size);
      };
      await expect(harvesting(answers, { state }).run()).rejects.toBeInstanceOf(OaiError);
      const then = harvesting(answers, { state });
      await then.run();
      expect(then.kept).toEqual(['C']);
    },
  );

  test('passes a hundred pages of one datestamp again after an interruption', async () => {
    const names = Array.from({ length: 120 }, (_, nth) => `N-${nth}`);
    const size = 'completeListSize="121"';
    let isRefused = false;
    const { run, kept: keptNames } = harvesting((args) => {
      if (args.has('from')) return oaiError('noRecordsMatch');
      const [part = '', at = 0] =
        args.get('resumptionToken')?.split('.') ?? (args.has('until') ? ['rest', 0] : []);
      if (part === '')
        return listXml(
          'ListRecords',
          [recordXml('new', undefined, '2025-02-01T00:00:00Z')],
          'all.0',
          size,
        );
      if (part === 'all' && Number(at) === 115) isRefused = true;
      if (part === 'all' && isRefused) return oaiError('badResumptionToken');
      const next = Number(at) + 1;
      return list(
        [names[Number(at)] ?? ''],
        next < names.length ? `${part}.${next}` : '',
        part === 'all' ? size : '',
      );
    });
    await run();
    expect(keptNames).toEqual(['new', ...names]);
  });

  test('continues by datestamps if the service fails for the token of an interrupted run, unless it fails altogether', async () => {
    const run = (state: HarvestState, failing: RegExp) => {
      const first = [recordXml('A', undefined, '2025-02-01T00:00:00Z'), recordXml('B')];
      const exchange = scripted(({ url }) => {
        if (failing.test(url)) return answer('', { status: 500 });
        if (url.includes('from=')) return oaiError('noRecordsMatch');
        if (url.includes('ListIdentifiers'))
          return listXml('ListIdentifiers', first, 'T2', 'completeListSize="3"');
        if (url.includes('until=')) return list(['B', 'C'], '', 'completeListSize="2"');
        return listXml('ListRecords', first, 'T2', 'completeListSize="3"');
      });
      return harvesting(() => '', { client: makeClient(exchange), state }).run();
    };
    const state = openStateInMemory();
    await expect(run(state, /resumptionToken/)).rejects.toThrow('(status 500)');
    await expect(run(state, /./)).rejects.toThrow('(status 500)');
    expect(state.getProgress().pass?.token).toBe('T2');
    expect((await run(state, /resumptionToken/)).pass?.seen).toBe(3);
  });

  test('without a count keeps the token of an interrupted run if the service fails altogether', async () => {
    const state = openStateInMemory();
    const run = (failing: RegExp) => {
      const exchange = scripted(({ url }) =>
        failing.test(url) ? answer('', { status: 500 }) : list(['A'], 'T2'),
      );
      return harvesting(() => '', { client: makeClient(exchange), state }).run();
    };
    await expect(run(/resumptionToken/)).rejects.toThrow('(status 500)');
    await expect(run(/./)).rejects.toThrow('(status 500)');
    expect(state.getProgress().pass?.token).toBe('T2');
  });

  test('whose tokens are refused again and again is given up', async () => {
    const { failure, asked } = harvesting((args) =>
      args.has('resumptionToken')
        ? oaiError('badResumptionToken')
        : list(['A'], 'T2', 'completeListSize="2"'),
    );
    expect(await failure()).toEqual([
      'heslo is not complete: it repeatedly refuses its own resumption tokens. The service sent 1 records and counts 2.',
      AGAIN,
    ]);
    expect(asked().filter((each) => each.startsWith(ALL))).toHaveLength(10);
  });
});

test('a list without a count whose token is refused is not taken for its first page', async () => {
  const stamped = (name: string, stamp: string): string => recordXml(name, undefined, stamp);
  const [first, second] = [stamped('A', '2025-01-01'), stamped('B', '2025-01-02')];
  const { failure } = harvesting((args) => {
    if (args.has('resumptionToken')) return oaiError('badResumptionToken');
    if (args.has('from')) return oaiError('noRecordsMatch');
    // Oldest first: behind the token is C.
    return args.has('until')
      ? listXml('ListRecords', [first])
      : listXml('ListRecords', [first, second], 'T2');
  });
  expect((await failure())[0]).toMatch(/^heslo is not complete/);
});

test('a service that does not count is reported as such', async () => {
  const { failure } = harvesting((args) =>
    args.has('resumptionToken') ? oaiError('badResumptionToken') : list(['A'], 'T2'),
  );
  expect((await failure())[0]).toMatch(/The service sent 1 records and counts \?\.$/);
});

describe('a list without end', () => {
  const endless = (names: (page: number) => readonly string[], attributes = ''): Answers => {
    let page = 0;
    return () => {
      page += 1;
      return list(names(page), `T${page}`, attributes);
    };
  };
  const ENDLESS = 'The list of the service repeats itself or does not end.';

  test('that adds nothing in ten thousand records is left', async () => {
    const { failure } = harvesting(endless((page) => (page % 2 === 0 ? ['A', 'B'] : ['B', 'A'])));
    expect(await failure()).toEqual([ENDLESS, AGAIN]);
  });

  test('that grows far beyond its count is left', async () => {
    const names = (page: number) => Array.from({ length: 1001 }, (_, nth) => `N-${page}-${nth}`);
    const { failure } = harvesting(endless(names, 'completeListSize="4"'));
    expect((await failure())[0]).toBe(ENDLESS);
  });

  test('may grow to twice its count and ten thousand more', async () => {
    const names = (page: number) => Array.from({ length: 1001 }, (_, nth) => `N-${page}-${nth}`);
    let page = 0;
    const { kept: keptNames, run } = harvesting((args) => {
      if (args.has('from')) return oaiError('noRecordsMatch');
      page += 1;
      return list(
        names(page),
        page < 10 ? `T${page}` : '',
        page === 1 ? 'completeListSize="5"' : 'completeListSize="10010"',
      );
    });
    await run();
    expect(keptNames).toHaveLength(10_010);
  });
});

describe('a record without content', () => {
  const IDENT_OF_B = `${OAI_BASE}/id/B`;
  const EMPTY = `<record><header><identifier>${IDENT_OF_B}</identifier><datestamp>2025-01-01</datestamp></header></record>`;
  const run = async (state: HarvestState, records: readonly string[], full = false) => {
    const later = harvesting(
      (args) =>
        records.length === 0 || args.has('from')
          ? oaiError('noRecordsMatch')
          : listXml('ListRecords', records),
      { state, full, holdings: { findLost: async () => NO_LOSSES, deleteLost: async () => 0 } },
    );
    const { broken } = await later.run();
    return [broken, later.kept] as const;
  };
  const NO_LOSSES = { lost: [], inUse: [] };

  test('is reported by each run, until one that reads everything finds it whole', async () => {
    const state = openStateInMemory();
    expect(await run(state, [recordXml('A'), EMPTY])).toEqual([[IDENT_OF_B], ['A']]);
    expect(await run(state, [recordXml('A'), EMPTY])).toEqual([[IDENT_OF_B], []]);
    expect(await run(state, [recordXml('A'), recordXml('B')])).toEqual([[IDENT_OF_B], []]);
    expect(await run(state, [recordXml('A'), recordXml('B')], true)).toEqual([[], ['B']]);
  });

  test('is no longer reported when it is gone', async () => {
    const state = openStateInMemory();
    await run(state, [recordXml('A'), EMPTY]);
    expect(await run(state, [recordXml('A')], true)).toEqual([[], []]);
  });
});
