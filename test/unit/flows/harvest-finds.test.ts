import { expect, test } from 'vitest';
import { harvestFinds } from '../../../src/flows/harvest-finds.ts';
import { openOaiClient } from '../../../src/oai/client.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { listXml, OAI_BASE, recordXml, scripted } from '../../support/scripted-oai.ts';

const record = (ident: string): string =>
  recordXml(
    ident,
    `<svc xmlns="urn:svc/2.2/"><samostatny_nalez><ident_cely>${ident}</ident_cely><stav>1</stav></samostatny_nalez></svc>`,
  );
const first = listXml('ListRecords', [record('N-1'), record('N-2')], 'more', 'completeListSize="3" cursor="0"');
const end = (...idents: string[]): string => listXml('ListRecords', idents.map(record));

function harvest(...answers: string[]) {
  const exchange = scripted(...answers);
  const client = openOaiClient({ oaiBase: OAI_BASE, version: '2.2', credentials: { kind: 'none' }, exchange });
  return harvestFinds({ client, format: 'oai_svc', clock: manualClock() });
}

test('a list that is shorter than its own count is read again', async () => {
  const { finds } = await harvest(first, end(), first, end('N-3'));
  expect([...finds.keys()]).toEqual(['N-1', 'N-2', 'N-3']);
});

test('and stays an error where it is short again: what it left out may be there', async () => {
  await expect(harvest(first, end(), first, end())).rejects.toMatchObject({ oaiCode: 'incomplete' });
});

test('a record that is sent twice does not stand for one that is missing', async () => {
  await expect(harvest(first, end('N-2'), first, end('N-1'))).rejects.toMatchObject({ oaiCode: 'incomplete' });
});
