import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openFindOutbox } from '../../src/exports/outbox.ts';
import { makeHome } from '../support/run-pas.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';

const { folder } = makeHome();
let mock: TestMock;
beforeAll(async () => {
  mock = await startMock({ minIntervalMs: 0 });
});
afterAll(() => mock.close());

function table(name: string, ...rows: readonly string[]): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    ['local_id;ident_cely;projekt;stav;pristupnost;geom_system;poznamka', ...rows].join('\n'),
  );
  return path;
}

test('a program imports a table as pas does: once, and no find that has a record already', async () => {
  const account = {
    username: 'archaeologist',
    password: 'archaeologist',
    paceFile: join(folder, 'pace.sqlite'),
  };
  const service = {
    baseUrl: mock.url,
    schemaBase: mock.server.schema_base,
    ...account,
    minIntervalMs: 0,
  };
  await using outbox = await openFindOutbox({ file: join(folder, 'outbox.sqlite'), service });
  const common = 'C-202400101;1;HES-000866;4326';
  const recorded = `K-2;C-202400101-N00001;${common};`;
  const season = table(
    'season.csv',
    `K-1;;${common};`,
    recorded,
    `K-3;;C-202400101;9;HES-000866;4326;`,
  );
  const first = await outbox.importTable(season);
  expect(first).toMatchObject({ rows: 3, finds: [{ find: 'K-1', change: 'added', ready: true }] });
  expect(first.issues.filter(({ severity }) => severity === 'error')).toMatchObject([
    { rule: 'already-recorded', row: 3 },
    { row: 4, element: 'stav' },
  ]);
  expect((await outbox.importTable(season)).finds).toMatchObject([{ change: 'kept' }]);
  expect(await outbox.push()).toMatchObject({ accepted: 1 });
  const [entry] = outbox.entries('K-1');
  const exported = await outbox.importTable(
    table('exported.csv', `K-1;${entry?.identCely};${common};`),
  );
  expect([exported.finds, exported.issues]).toMatchObject([[{ change: 'kept' }], []]);
});
