import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ask, fetchPages, parseRecords } from '../contract/raw-harvest.ts';
import { outboxFile } from '../support/outbox-files.ts';
import { expectEnded, type Home, makeHome, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';
import {
  getIdent,
  type HarvestSummary,
  lines,
  readLines,
  served,
  testWholeHarvests,
} from './whole-harvest.ts';

testWholeHarvests('2.2');

let mock: TestMock;
let signed: Home;
let home: Home;
beforeAll(async () => {
  mock = await startMock({ pageSize: 20 });
  signed = await signedIn(mock.server);
});
afterAll(() => mock.close());
beforeEach(() => {
  home = signed.copy();
});

describe('a harvest', () => {
  test('shows new records after the rights of the account changed, without --full', async () => {
    const reader = await signedIn(mock.server, WITHOUT_PAUSES, 'researcher');
    const shown = async (): Promise<number> => {
      const run = await reader.pas('harvest', 'samostatny_nalez', '--out', 'shown.jsonl');
      expect(run.stdout).not.toContain('repaired');
      const last = new Map(readLines(reader, 'shown.jsonl').map((line) => [getIdent(line), line]));
      return [...last.values()].filter(({ masked }) => masked !== true).length;
    };
    const before = await shown();
    await mock.control('PUT', '/accounts/researcher', { role: 'archivist' });
    expect(await shown()).toBeGreaterThan(before);
    await mock.control('PUT', '/accounts/researcher', { role: 'researcher' });
    const run = await reader.pas('harvest', 'samostatny_nalez', '--out', 'shown.jsonl');
    expect(run.stderr).toContain('permissions have changed since the last harvest');
    expect(await shown()).toBe(before);
    const quiet = await reader.pas('harvest', 'samostatny_nalez', '--out', 'shown.jsonl');
    expect(quiet.stdout).toMatch(/changes.* 0 new or changed/);
  });

  test.each([
    ['harvest', 'heslo:obdobi', 'heslo:jazyk', '--out', 'sets.jsonl'],
    ['harvest-vocab', 'heslo:obdobi', 'heslo:jazyk'],
  ])('%s says once for all sets that the rights of the account changed', async (...command) => {
    const reader = await signedIn(mock.server, WITHOUT_PAUSES, 'researcher');
    await expectEnded(reader.pas(...command), 0, '');
    await mock.control('PUT', '/accounts/researcher', { role: 'archivist' });
    const run = await reader.pas(...command);
    await mock.control('PUT', '/accounts/researcher', { role: 'researcher' });
    expect(run.stderr.match(/permissions have changed since the last harvest/g)).toHaveLength(1);
  });

  test('shows more to a signed-in account, and the two views are not mixed in one output', async () => {
    const anonymous = makeHome({}, home.folder).with({ PAS_HOME: join(home.folder, 'anonymous') });
    await anonymous.init(mock.server, '--name', 'a');
    const masks = async (at: Home, out: string): Promise<number> => {
      await at.json('harvest', 'samostatny_nalez', '--out', out);
      return (readFileSync(join(home.folder, out), 'utf8').match(/"masked":true/g) ?? []).length;
    };
    expect(await masks(anonymous, 'anonymous.jsonl')).toBeGreaterThan(
      await masks(home, 'known.jsonl'),
    );
    await expectEnded(
      home.pas('harvest', 'samostatny_nalez', '--out', 'anonymous.jsonl'),
      2,
      /its account is none, not archaeologist/,
    );
  });
});

describe('a command line', () => {
  afterEach(() => mock.control('PUT', '/faults', []));

  test('without --out prints lines, and messages go to stderr', async () => {
    const run = await home.pas('harvest', 'heslo:obdobi', '--json');
    expect(run.code, run.stderr).toBe(0);
    expect(lines(run.stdout).map(getIdent).sort()).toEqual(
      [...(await served(mock, 'heslo:obdobi', 'oai_svc')).keys()].sort(),
    );
    expect(run.stderr).toMatch(/heslo:obdobi: \d+ records/);
  });

  test('with --from and --until limits the harvest', async () => {
    const { text } = await ask(
      mock,
      'verb=ListIdentifiers&metadataPrefix=oai_svc&set=heslo&from=2024-10-01&until=2024-12-31',
    );
    const size = Number(
      /completeListSize="(\d+)"/.exec(text)?.[1] ?? (text.match(/<header>/g) ?? []).length,
    );
    const summary = await home.json<HarvestSummary>(
      'harvest',
      'heslo',
      '--from',
      '2024-10-01',
      '--until',
      '2024-12-31',
      '--out',
      'autumn.jsonl',
    );
    expect(summary.records).toBe(size);
  });

  test('a set of finds is refused as a vocabulary', async () => {
    await expectEnded(
      home.pas('harvest-vocab', 'samostatny_nalez'),
      2,
      'pas harvest samostatny_nalez --out records.jsonl',
    );
  });

  test.each([
    [2, /no set nonsense/, ['nonsense', '--out', 'x.jsonl']],
    [2, /no set obdobi\.\s+Did you mean heslo:obdobi\?/, ['obdobi', '--out', 'x.jsonl']],
    [2, /not a date/, ['heslo', '--from', 'yesterday', '--out', 'x.jsonl']],
    [2, /was not written by pas/, ['heslo', '--out', 'mine.jsonl']],
    [2, /cannot tell the format from the name/, ['heslo', '--out', 'the outbox']],
    [14, /cannotDisseminateFormat/, ['heslo', '--format', 'marc21', '--out', 'x.jsonl']],
  ])('with wrong values ends with %i: %s', async (code, words, args) => {
    home.file('mine.jsonl', 'mine\n');
    await home.pas('status');
    const given = args.map((arg) => (arg === 'the outbox' ? outboxFile(home) : arg));
    await expectEnded(home.pas('harvest', ...given), code, words);
    expect(readFileSync(join(home.folder, 'mine.jsonl'), 'utf8')).toBe('mine\n');
  });

  test('with --deadline ends with what was read, and the next run resumes', async () => {
    const harvest = ['harvest', 'heslo', '--out', 'in-time.jsonl'];
    await mock.faults({
      endpoint: 'oai',
      fault: 'slow',
      ms: 600_000,
      times: 1,
      when: { nth: 5 },
    });
    await expectEnded(
      home.pas(...harvest, '--deadline', '3s'),
      5,
      'The deadline of 3s (--deadline) has passed.',
    );
    await mock.faults();
    await expectEnded(home.pas(...harvest, '--deadline', '5m'), 0);
  });
});

type Summary = HarvestSummary & {
  readonly set: string | null;
  readonly sets: readonly (HarvestSummary & { readonly set: string | null })[];
};

const idents = (name: string): string[] => readLines(home, name).map(getIdent).sort();

test('everything at the service is harvested without a set', async () => {
  const pages = await fetchPages(mock, 'verb=ListRecords&metadataPrefix=oai_dc', {
    as: 'archaeologist',
  });
  const expected = new Map(pages.flatMap((page) => [...parseRecords(page)]));
  const summary = await home.json<Summary>(
    'harvest',
    '--all',
    '--format',
    'oai_dc',
    '--out',
    'all.xml',
  );
  expect(summary).toMatchObject({ set: null, records: expected.size, held: expected.size });
  expect(parseRecords(readFileSync(join(home.folder, 'all.xml'), 'utf8'))).toEqual(expected);
  const again = await home.pas('harvest', '--all', '--format', 'oai_dc', '--out', 'all.xml');
  expect([again.code, again.stdout]).toEqual([
    0,
    expect.stringMatching(/^everything: changes, \d+ records?, 0 new/),
  ]);
});

test('several sets that share records are one harvest, with each record once', async () => {
  const [family, one, other] = await Promise.all(
    ['heslo', 'heslo:obdobi', 'projekt'].map((set) =>
      served(mock, set, 'oai_svc', { as: 'archaeologist' }),
    ),
  );
  const expected = [...new Set([...(family?.keys() ?? []), ...(other?.keys() ?? [])])].sort();
  const sets = ['projekt', 'heslo:obdobi', 'heslo'];
  const summary = await home.json<Summary>('harvest', ...sets, '--out', 'several.jsonl');
  expect(idents('several.jsonl')).toEqual(expected);
  expect(summary).toMatchObject({ set: null, written: expected.length, held: expected.length });
  expect(summary.sets.map(({ set, records }) => [set, records])).toEqual([
    ['heslo', family?.size],
    ['heslo:obdobi', one?.size],
    ['projekt', other?.size],
  ]);

  await mock.clock({ advance_ms: 3600_000 });
  const [shared = ''] = [...(one?.keys() ?? [])];
  await mock.control('POST', `/records/${shared}/delete`);
  const changes = await home.json<Summary>(
    'harvest',
    'heslo',
    'projekt',
    'heslo:obdobi',
    '--out',
    'several.jsonl',
  );
  expect(changes).toMatchObject({ pass: 'changes', written: 1, deleted: 1, held: expected.length });
  expect(readLines(home, 'several.jsonl').at(-1)).toMatchObject({ deleted: true });
  expect(
    await home.json<Summary>('harvest', ...sets, '--out', 'several.jsonl', '--verify'),
  ).toMatchObject({ written: 0 });
});

test.each<readonly [RegExp, readonly string[]]>([
  [/Specify either sets/, []],
  [/Specify either sets/, ['--all', 'let']],
  [/no set nonsense/, ['let', 'nonsense', '--out', 'x.jsonl']],
])('wrong combinations end with 2: %s', async (words, args) => {
  await expectEnded(home.pas('harvest', ...args), 2, words);
});
