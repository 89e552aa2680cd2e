import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { fetchPages, parseRecords } from '../contract/raw-harvest.ts';
import { expectEnded, type Home, signedIn } from '../support/run-pas.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';
import { getIdent, type HarvestSummary, readLines, served } from './whole-harvest.ts';

let mock: TestMock;
let signed: Home;
let home: Home;
beforeAll(async () => {
  mock = await startMock({ pageSize: 40 });
  signed = await signedIn(mock.server);
});
afterAll(() => mock.close());
beforeEach(() => {
  home = signed.copy();
});

type Summary = HarvestSummary & {
  readonly set: string | null;
  readonly mended: number;
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
    expect.stringMatching(/^everything: changes, \d+ records, 0 new/),
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
  ).toMatchObject({ mended: 0 });
});

test('several sets are not mixed with one of them, nor with all', async () => {
  await home.json('harvest', 'let', 'projekt', '--out', 'two.jsonl');
  for (const given of [['let'], ['--all'], ['let', 'projekt', 'osoba']]) {
    await expectEnded(
      home.pas('harvest', ...given, '--out', 'two.jsonl'),
      2,
      /its set is let projekt, not/,
    );
  }
});

test.each<readonly [RegExp, readonly string[]]>([
  [/Specify either sets/, []],
  [/Specify either sets/, ['--all', 'let']],
  [/no set nonsense/, ['let', 'nonsense', '--out', 'x.jsonl']],
])('wrong combinations end with 2: %s', async (words, args) => {
  await expectEnded(home.pas('harvest', ...args), 2, words);
});
