import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listAll } from '../contract/raw-harvest.ts';
import { send, startOddService } from '../endurance/odd-service.ts';
import { expectEnded, type Home, makeHome, signedIn } from '../support/run-pas.ts';
import { oaiXml } from '../support/scripted-oai.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';

const SET = 'heslo:obdobi';
let mock: TestMock;
let home: Home;
beforeAll(async () => {
  mock = await startMock({ pageSize: 50 });
});
afterAll(() => mock.close());
beforeEach(async () => {
  await mock.reset();
  home = await signedIn(mock.server);
});

async function eraseAll(set: string): Promise<number> {
  const all = await listAll(mock, `verb=ListIdentifiers&metadataPrefix=oai_dc&set=${set}`, {
    as: 'archivist',
  });
  for (const { ident } of all)
    await mock.control('POST', `/records/${ident}/delete`, { permanent: true });
  return all.length;
}

describe('a set that is suddenly empty', () => {
  test('keeps its entries, exits 3, and is emptied with --accept-losses', async () => {
    await expectEnded(home.pas('harvest-vocab', SET), 0);
    const count = (await home.json<unknown[]>('vocab', 'list', SET)).length;
    const erased = await eraseAll(SET);
    const run = await home.pas('harvest-vocab', SET, '--json');
    await expectEnded(run, 3, `no longer lists ${erased} of ${erased} records`);
    expect(JSON.parse(run.stdout)).toMatchObject({
      sets: [{ set: SET, vanished: 0, kept_in_doubt: 'losses' }],
    });
    expect(await home.json('vocab', 'list', SET)).toHaveLength(count);
    await expectEnded(home.pas('harvest-vocab', SET, '--accept-losses'), 0);
    expect(await home.json('vocab', 'list', SET)).toEqual([]);
  });

  test('is named at the first harvest, and is a failure if documents need it', async () => {
    await eraseAll(SET);
    await expectEnded(home.pas('harvest-vocab', SET), 3, `${SET}: the service lists no records.`);
    await eraseAll('let');
    await expectEnded(
      home.pas('harvest', 'let', '--out', 'flights.jsonl'),
      0,
      'let: the service lists no records.',
    );
  });
});

test('of a service without any record no set is said to be empty', async () => {
  await using service = await startOddService();
  const anonymous = makeHome();
  await anonymous.init(service, '--name', 'odd', '--oai-auth', 'none');
  service.odd((response) => send(response, oaiXml('<error code="noRecordsMatch"/>')));
  await expectEnded(
    anonymous.pas('harvest', '--all', '--out', 'all.jsonl'),
    0,
    'everything: the service lists no records.',
  );
});

describe('an output', () => {
  test.each<[string, string, (folder: string) => void, RegExp]>([
    ['with a name of 300 characters', `${'a'.repeat(300)}.jsonl`, () => {}, /ENAMETOOLONG/],
    ['with such a folder above it', `${'a'.repeat(300)}/x.jsonl`, () => {}, /ENAMETOOLONG/],
    [
      'in place of a folder',
      'there.jsonl',
      (at) => mkdirSync(join(at, 'there.jsonl')),
      /there\.jsonl is a folder/,
    ],
    [
      'below a file',
      'f/x.jsonl',
      (at) => writeFileSync(join(at, 'f'), ''),
      /does not exist|cannot be written/,
    ],
    [
      'at a link to itself',
      'loop.jsonl',
      (at) => symlinkSync('loop.jsonl', join(at, 'loop.jsonl')),
      /cannot be written/,
    ],
  ])('%s is wrong usage', async (_, out, prepare, message) => {
    prepare(home.folder);
    const run = await home.pas('harvest', SET, '--out', out);
    await expectEnded(run, 2, message);
    expect(run.stderr).not.toMatch(/PAS_HOME|bug in pas/);
  });
});
