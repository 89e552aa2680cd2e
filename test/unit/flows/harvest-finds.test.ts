import { expect, test } from 'vitest';
import { harvestFinds } from '../../../src/flows/harvest/harvest-finds.ts';
import { openOaiClient } from '../../../src/oai/client.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { listXml, OAI_BASE, oaiError, oaiXml, recordXml, scripted } from '../../support/scripted-oai.ts';

const record = (ident: string): string =>
  recordXml(
    ident,
    `<svc xmlns="urn:svc/2.2/"><samostatny_nalez><ident_cely>${ident}</ident_cely><stav>1</stav></samostatny_nalez></svc>`,
  );
const first = listXml('ListRecords', [record('N-1'), record('N-2')], 'more', 'completeListSize="3" cursor="0"');
const end = (...idents: string[]): string => listXml('ListRecords', idents.map(record));

const NOTHING = oaiError('noRecordsMatch');

/** @param answers of the list; what is asked beside it is answered as a service does that stands still */
function harvest(...answers: string[]) {
  const list = [...answers];
  const exchange = scripted(({ url }) => {
    if (url.includes('Identify')) return oaiXml('<Identify/>');
    return url.includes('from=') ? NOTHING : (list.shift() ?? end());
  });
  const client = openOaiClient({ oaiBase: OAI_BASE, version: '2.2', credentials: { kind: 'none' }, exchange });
  return harvestFinds({ client, format: 'oai_svc', clock: manualClock(), indexAllowanceMs: 0 }, null);
}

test('a list that is shorter than its own count is read again', async () => {
  const { lookups } = await harvest(first, end(), first, end('N-3'));
  expect([...lookups.keys()]).toEqual(['N-1', 'N-2', 'N-3']);
});

test('and stays an error where it is short again: what it left out may be there', async () => {
  await expect(harvest(first, end(), first, end())).rejects.toMatchObject({ oaiCode: 'incomplete' });
});

test('a record that is sent twice does not stand for one that is missing', async () => {
  await expect(harvest(first, end('N-2'), first, end('N-1'))).rejects.toMatchObject({ oaiCode: 'incomplete' });
});
