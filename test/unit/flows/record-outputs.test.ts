import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { makeRecordCutter } from '../../../src/flows/harvest/xml-output.ts';
import { type Exchange, TransportError } from '../../../src/http/exchange.ts';
import { OAI_NAMESPACE } from '../../../src/oai/protocol.ts';
import { openSqlite } from '../../../src/store/database.ts';
import {
  getChild,
  getChildren,
  getChildText,
  getSourceText,
  walkDescendants,
} from '../../../src/xml/element.ts';
import { parseXml } from '../../../src/xml/parse.ts';
import { FakeRepository } from '../../support/fake-repository.ts';
import { type HarvestPlace, harvestPlace, SET } from '../../support/record-harvest.ts';
import { answer, OAI_BASE, oaiXml } from '../../support/scripted-oai.ts';

const NAMES = ['A-1', 'A-2', 'A-3', 'A-4', 'A-5'];

function aRepository(): FakeRepository {
  const repository = new FakeRepository({ pageSize: 2 });
  for (const name of NAMES) repository.put(name, `věc ${name}`);
  return repository;
}

/** The page as the repository sends it, under a root that declares what its records use. */
function withOuterPrefix(repository: FakeRepository): Exchange {
  return async (request) => {
    const response = await repository.exchange(request);
    const text = response.body
      .toString()
      .replace('<OAI-PMH ', '<OAI-PMH xmlns:s="urn:svc/2.2/" ')
      .replaceAll(/<(\/?)svc( xmlns="urn:svc\/2.2\/")?>/g, '<$1s:svc>');
    return { ...response, body: Buffer.from(text) };
  };
}

function xmlRecords(path: string): Map<string, string> {
  const document = parseXml(readFileSync(path));
  const records = getChildren(
    document.root,
    'ListRecords',
    'http://www.openarchives.org/OAI/2.0/',
  ).flatMap(({ children }) => children);
  return new Map(
    records.map((record) => {
      const header = getChild(record, 'header');
      return [
        (header === undefined ? undefined : getChildText(header, 'identifier')) ?? '',
        getSourceText(document, record),
      ];
    }),
  );
}

/** The bytes of every record of the repository now, by identifier. */
async function asSent(exchange: Exchange): Promise<Map<string, string>> {
  const sentBodies = new Map<string, string>();
  for (let query = `verb=ListRecords&metadataPrefix=oai_svc&set=${SET}`; query !== ''; ) {
    const { body } = await exchange({ method: 'GET', url: `${OAI_BASE}/2.2/oai?${query}` });
    for (const [record] of body.toString().matchAll(/<record>.*?<\/record>/gs)) {
      sentBodies.set(/<identifier>(.*?)</.exec(record)?.[1] ?? '', record);
    }
    const token = /<resumptionToken[^>]*>([^<]+)</.exec(body.toString())?.[1];
    query = token === undefined ? '' : `verb=ListRecords&resumptionToken=${token}`;
  }
  return sentBodies;
}

function cut(repository: FakeRepository, after: number): Exchange {
  let pages = 0;
  return async (request) => {
    if (request.url.includes('ListRecords') && ++pages > after)
      throw new TransportError('reset', true, 'gone');
    return repository.exchange(request);
  };
}

test('one XML stream holds the bytes of every record, and can be read alone', async () => {
  const place = harvestPlace('out.xml');
  const repository = aRepository();
  const exchange = withOuterPrefix(repository);
  await place.run(exchange, { form: 'xml' });
  expect(xmlRecords(place.path)).toEqual(await asSent(exchange));
});

test('an XML stream is complete after an interruption and the resumed run', async () => {
  const place = harvestPlace('out.xml');
  const repository = aRepository();
  await place.run(cut(repository, 1), { form: 'xml' }).catch(() => {});
  expect(xmlRecords(place.path).size).toBe(2);
  await place.run(repository.exchange, { form: 'xml' });
  expect(xmlRecords(place.path)).toEqual(await asSent(repository.exchange));
  expect(readFileSync(place.path, 'utf8').match(/<harvest>/g)).toHaveLength(1);
});

test('one flush of the disk covers many pages that arrive together', async () => {
  const place = harvestPlace('out.jsonl');
  const repository = aRepository();
  for (let n = 0; n < 100; n++) repository.put(`B-${n}`, 'věc');
  const handle = await open(import.meta.filename);
  const flushes = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'datasync');
  await handle.close();
  await place.run(repository.exchange);
  expect(place.lines()).toHaveLength(105);
  expect(flushes.mock.calls.length).toBeLessThan(20);
  flushes.mockRestore();
});

test('an empty XML stream is a document all the same', async () => {
  const place = harvestPlace('out.xml');
  await place.run(new FakeRepository().exchange, { form: 'xml' });
  expect(xmlRecords(place.path).size).toBe(0);
});

function files(place: HarvestPlace): string[] {
  return readdirSync(place.folder).filter((name) => name.endsWith('.xml'));
}

test('files contain one record each, in its current version and as received', async () => {
  const place = harvestPlace('unused');
  const repository = aRepository();
  await place.run(repository.exchange, { form: 'files' });
  expect(files(place).sort()).toEqual(NAMES.map((name) => `${name}.xml`));
  repository.nowMs += 3600_000;
  repository.put('A-2', 'změněno');
  repository.remove('A-4');
  await place.run(repository.exchange, { form: 'files' });
  const sentRecords = await asSent(repository.exchange);
  for (const name of NAMES) {
    const document = parseXml(readFileSync(join(place.folder, `${name}.xml`)));
    const [record] = document.root.children;
    expect(record && getSourceText(document, record)).toBe(
      sentRecords.get(`${OAI_BASE}/id/${name}`),
    );
  }
  expect(readFileSync(join(place.folder, 'A-4.xml'), 'utf8')).toContain('status="deleted"');
});

test('recorded files that a power cut removed are requested again', async () => {
  const place = harvestPlace('unused');
  const repository = aRepository();
  await place.run(cut(repository, 1), { form: 'files' }).catch(() => {});
  const [first = '', second = ''] = files(place).map((name) => join(place.folder, name));
  writeFileSync(first, Buffer.alloc(statSync(first).size));
  // As it is where the disk kept the times and lost what was written then.
  const notes = openSqlite(join(place.folder, '.harvest'));
  notes
    .prepare('update files set changed_at = ? where name = ?')
    .run(String(statSync(first, { bigint: true }).ctimeNs), basename(first));
  notes.close();
  rmSync(second);
  await place.run(repository.exchange, { form: 'files' });
  const sentRecords = await asSent(repository.exchange);
  for (const path of [first, second]) {
    const [record = ''] = [sentRecords.get(`${OAI_BASE}/id/${basename(path, '.xml')}`)];
    expect(readFileSync(path, 'utf8')).toContain(record);
  }
  expect(files(place)).toHaveLength(NAMES.length);
});

test('identifiers with path characters create files inside the folder only', async () => {
  const place = harvestPlace('unused');
  const names = ['../../escaped', '..', '/etc/cron.d/x', 'a/../../b', 'C:\\x', '.harvest', 'A-1'];
  const repository = new FakeRepository({ pageSize: 3 });
  for (const name of names) repository.put(name, name);
  const before = readdirSync(join(place.folder, '..')).length;
  await place.run(repository.exchange, { form: 'files' });
  expect(files(place)).toHaveLength(names.length);
  expect(readdirSync(join(place.folder, '..'))).toHaveLength(before);
});

test('an SQLite file has the current version of every record, ready for queries', async () => {
  const place = harvestPlace('out.sqlite');
  const repository = aRepository();
  await place.run(cut(repository, 1), { form: 'sqlite' }).catch(() => {});
  await place.run(repository.exchange, { form: 'sqlite' });
  repository.nowMs += 3600_000;
  repository.put('A-2', 'změněno');
  repository.remove('A-4');
  await place.run(repository.exchange, { form: 'sqlite' });
  const database = openSqlite(place.path, { readonly: true });
  const rows = database
    .prepare(
      `select identifier, deleted, metadata ->> '$.heslo.heslo' as label, xml, json_array_length(sets) as sets from records order by 1`,
    )
    .all() as {
    identifier: string;
    deleted: number;
    label: string | null;
    xml: string;
    sets: number;
  }[];
  database.close();
  const sentRecords = await asSent(repository.exchange);
  expect(rows.map(({ label }) => label)).toEqual([
    'věc A-1',
    'změněno',
    'věc A-3',
    null,
    'věc A-5',
  ]);
  expect(rows.map(({ deleted }) => deleted)).toEqual([0, 0, 0, 1, 0]);
  expect(rows.map(({ sets }) => sets)).toEqual([1, 1, 1, 0, 1]);
  for (const { identifier, xml } of rows) expect(xml).toBe(sentRecords.get(identifier));
});

test('a broken page ends the harvest with nothing lost, and can be skipped record by record', async () => {
  const place = harvestPlace();
  const repository = aRepository();
  const damaged: Exchange = async (request) => {
    const response = await repository.exchange(request);
    return {
      ...response,
      body: Buffer.from(response.body.toString().replace('věc A-2', 'věc & A-2')),
    };
  };
  await expect(place.run(damaged)).rejects.toMatchObject({
    oaiCode: 'malformed',
    exitCode: 14,
    record: `${OAI_BASE}/id/A-2`,
  });
  const stored = place.lines().length;
  const result = await place.run(damaged, { skipBroken: true });
  expect(result).toMatchObject({
    records: 5,
    held: 4,
    broken: [{ identifier: `${OAI_BASE}/id/A-2` }],
  });
  expect(place.lines()).toHaveLength(4);
  expect(stored).toBeLessThan(4);
});

test('a service without records of the set gives an empty output', async () => {
  const place = harvestPlace();
  const exchange: Exchange = async ({ url }) => {
    if (url.includes('ListSets'))
      return answer(oaiXml(`<ListSets><set><setSpec>${SET}</setSpec></set></ListSets>`));
    return answer(
      oaiXml(url.includes('Identify') ? '<Identify/>' : '<error code="noRecordsMatch"/>'),
    );
  };
  expect(await place.run(exchange)).toMatchObject({ records: 0, held: 0 });
  expect(readFileSync(place.path, 'utf8')).toBe('');
});

test('a record of a single answer keeps the namespaces that its GetRecord declares', () => {
  const record = '<record><metadata><s:x/></metadata></record>';
  const document = parseXml(
    Buffer.from(
      `<OAI-PMH xmlns="${OAI_NAMESPACE}"><GetRecord xmlns:s="urn:s">${record}</GetRecord></OAI-PMH>`,
    ),
  );
  const elements = [...walkDescendants(document.root, 'record', OAI_NAMESPACE)];
  const { root } = parseXml(Buffer.concat(makeRecordCutter(document)(elements)));
  expect([...walkDescendants(root, 'x', 'urn:s')]).toHaveLength(1);
});
