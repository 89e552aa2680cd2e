import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectEnded } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock);

function edit(path: string, from: string, to: string): void {
  const text = readFileSync(path, 'utf8');
  expect(text).toContain(from);
  writeFileSync(path, text.replace(from, to));
}

test('an edited row never changes a sent find, and is reported', async () => {
  const table = writeSeason(home, 2);
  await home.json('import', table);
  await home.do('push');
  const sentText = (await home.do('show', 'K-2', '--xml')).stdout;
  edit(table, 'pole 2', 'les 2');
  edit(table, 'nález 2', '');
  const run = await home.pas('import', table, '--json');
  expect(run.stdout).toContain('poznamka nález 2 → –, lokalizace pole 2 → les 2. The find');
  await expectEnded(run, 3);
  expect(JSON.parse(run.stdout)).toMatchObject({
    already_sent: 1,
    unchanged: 1,
    issues: [{ rule: 'already-sent' }, { rule: 'not-harvested' }],
  });
  expect((await home.do('show', 'K-2', '--xml')).stdout).toBe(sentText);
  expect((await home.json('show', 'K-2')).elements['lokalizace']).toBe('pole 2');
});

test('an incomplete find is a draft, is never sent, and is queued once its row is complete', async () => {
  const table = writeSeason(home, 1, { state: 2 });
  edit(table, ';HES-000253;', ';;');
  const run = await home.pas('import', table, '--json');
  await expectEnded(run, 3);
  expect(JSON.parse(run.stdout)).toMatchObject({ added: 1, drafts: 1 });
  await home.do('push');
  expect((await home.json('show', 'K-1')).entries).toMatchObject([{ state: 'draft' }]);
  edit(table, ';;HES-000691', ';HES-000253;HES-000691');
  expect(await home.json('import', table)).toMatchObject({ updated: 1, drafts: 0 });
  await home.do('push');
  expect((await home.json('show', 'K-1')).entries).toMatchObject([{ state: 'accepted' }]);
});

test('a refused find shows the service’s words beside the element, and is sent again once its row is corrected', async () => {
  const table = writeSeason(home, 1, { state: 2 });
  edit(table, 'HES-000691', 'HES-999999');
  await home.json('import', table);
  await expectEnded(home.pas('push'), 3);
  const refused = await home.do('show', 'K-1');
  expect(refused.stdout).toMatch(/import: refused/);
  expect(refused.stdout).toMatch(/druh_nalezu/);
  edit(table, 'HES-999999', 'HES-000691');
  await home.json('import', table);
  await home.do('push');
  expect((await home.json('show', 'K-1')).entries).toMatchObject([{ state: 'accepted' }]);
});

test('labels are understood after a harvest of vocabularies, and a wrong one lists similar labels', async () => {
  const table = writeSeason(home, 1, { state: 2 });
  edit(table, 'HES-000691', 'spona');
  await expectEnded(home.pas('import', table), 3);
  await home.do('harvest-vocab');
  expect(await home.json('import', table)).toMatchObject({ added: 1, drafts: 0 });
  edit(table, 'spona', 'sponka');
  const run = await home.pas('import', table);
  await expectEnded(run, 3);
  expect(run.stdout).toMatch(/row 2, column druh_nalezu.*spona/s);
});

test('of a table with very many errors the first are shown, and the copy has all', async () => {
  const table = home.file(
    'bad.csv',
    `local_id;projekt;stav\n${'A;B\n'.repeat(6)}${'A;B;9\n'.repeat(11_000)}`,
  );
  const { issues } = await home.json('import', table, '--issues-to', 'to-mend.csv');
  expect(issues.filter(({ rule }) => rule !== 'more-errors')).toHaveLength(10_000);
  expect(issues.at(-1)).toMatchObject({
    rule: 'more-errors',
    message: expect.stringMatching(/^1005 more errors are not listed/),
  });
  const copied = readFileSync(join(home.folder, 'to-mend.csv'), 'utf8')
    .trim()
    .split('\r\n')
    .slice(1);
  expect(copied).toHaveLength(11_000);
  const faulty = copied.slice(0, 10_999);
  expect(faulty.every((line) => line.includes('have the same local_id'))).toBe(true);
});
