import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import {
  getChild,
  getChildren,
  getChildText,
  getSourceText,
  walkDescendants,
} from '../../../src/base/xml/element.ts';
import { parseXml } from '../../../src/base/xml/parse.ts';
import {
  openHarvestStore,
  type RecordHarvestSubject,
  storeOrAssertSubject,
} from '../../../src/harvest/harvest-store.ts';
import { openFileOutput } from '../../../src/harvest/outputs.ts';
import { OAI_NAMESPACE, parseOaiRecord } from '../../../src/harvest/protocol.ts';
import { type Exchange, TransportError } from '../../../src/service/http/exchange.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { FakeRepository, SET } from './fake-repository.ts';
import { harvestPlace } from './record-harvest.ts';

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

test('of several copies in an XML stream the last one is the current version', async () => {
  const place = harvestPlace('out.xml');
  const repository = aRepository();
  await place.run(repository.exchange, { form: 'xml' });
  repository.nowMs += 3600_000;
  repository.put('A-2', 'změněno');
  repository.remove('A-4');
  await place.run(repository.exchange, { form: 'xml' });
  const records = xmlRecords(place.path);
  expect(records).toEqual(await asSent(repository.exchange));
  expect(records.get(`${OAI_BASE}/id/A-4`)).toContain('status="deleted"');
});

test('a record keeps the namespaces that its list declares, also after a failed start', async () => {
  const text =
    '<record><header><identifier>A-1</identifier><datestamp>2025-01-01</datestamp></header><metadata><s:x/></metadata></record>';
  const document = parseXml(
    Buffer.from(
      `<OAI-PMH xmlns="${OAI_NAMESPACE}"><ListRecords xmlns:s="urn:s">${text}</ListRecords></OAI-PMH>`,
    ),
  );
  const records = [...walkDescendants(document.root, 'record', OAI_NAMESPACE)].map(parseOaiRecord);
  const path = join(tempFolder(), 'out.xml');
  const store = openHarvestStore(`${path}.harvest`);
  const subject: RecordHarvestSubject = {
    oaiBase: OAI_BASE,
    version: '2.2',
    sets: SET,
    format: 'oai_svc',
    fromBound: '',
    untilBound: '',
    account: '',
    form: 'xml',
  };
  store.change(() => storeOrAssertSubject(store, subject, path));
  const output = await openFileOutput(path, store, subject, { verify: false, onNote: () => {} });
  const page = records.filter((record) => record !== undefined);
  await output.write({ document, records: page, seenRecords: page });
  output.commit({ document, records: page, seenRecords: page });
  await output.flush();
  await output.close();
  // A disk that is full at the next start leaves the file as it is known.
  const change = (): never => {
    throw new Error('full');
  };
  const again = { verify: false, onNote: () => {} };
  await expect(openFileOutput(path, { ...store, change }, subject, again)).rejects.toThrow('full');
  await (await openFileOutput(path, store, subject, again)).close();
  const { root } = parseXml(readFileSync(path));
  expect([...walkDescendants(root, 'x', 'urn:s')]).toHaveLength(1);
});
