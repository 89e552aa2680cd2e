import { describe, expect, test } from 'vitest';
import { AuthError, UnavailableError } from '../../../src/base/errors.ts';
import { openOaiClient } from '../../../src/harvest/client.ts';
import { findNativeContent, MalformedAnswerError } from '../../../src/harvest/protocol.ts';
import {
  answer,
  listXml,
  OAI_BASE,
  oaiError,
  oaiXml,
  recordXml,
  scripted,
} from '../../support/scripted-oai.ts';
import { makeClient, RECORDS, readPage } from './scripted-client.ts';

describe('the six verbs', () => {
  test('ListIdentifiers reads headers in standard form and wrapped in records', async () => {
    const header = `<header><identifier>${OAI_BASE}/id/A</identifier><datestamp>2025-01-01T00:00:00.5Z</datestamp><setSpec>a:b</setSpec></header>`;
    for (const shape of [header, `<record>${header}</record>`]) {
      const { items } = await makeClient(scripted(listXml('ListIdentifiers', [shape]))).listHeaders(
        RECORDS,
      );
      expect(items.map((record) => record.header)).toEqual([
        {
          identifier: `${OAI_BASE}/id/A`,
          datestamp: '2025-01-01T00:00:00.5Z',
          datestampMs: Date.UTC(2025, 0, 1) + 500,
          setSpecs: ['a:b'],
          deleted: false,
        },
      ]);
    }
  });

  test('a header is read with blanks around its values', async () => {
    const header = `<header status=" Deleted "><identifier>${OAI_BASE}/id/B</identifier><datestamp>2025-02-01</datestamp>
      <setSpec> a:b </setSpec></header>`;
    const { items } = await readPage(listXml('ListRecords', [`<record>${header}</record>`]));
    expect(items[0]).toMatchObject({
      header: { deleted: true, setSpecs: ['a:b'] },
      metadata: undefined,
      refused: false,
    });
    expect(items[0] && findNativeContent(items[0])).toBeUndefined();
  });

  test('GetRecord by the bare identifier and by the full one', async () => {
    const exchange = scripted(oaiXml(`<GetRecord>${recordXml('A')}</GetRecord>`));
    const client = makeClient(exchange);
    await client.getRecord('A', 'oai_dc');
    await client.getRecord(`${OAI_BASE}/id/A`, 'oai_dc');
    await client.getRecord('oai:other:A', 'oai_dc');
    expect(
      exchange.requests.map((request) => new URL(request.url).searchParams.get('identifier')),
    ).toEqual([`${OAI_BASE}/id/A`, `${OAI_BASE}/id/A`, 'oai:other:A']);
  });

  test('elements are matched by namespace: default namespaces and prefixes make no difference', async () => {
    const text = `<o:OAI-PMH xmlns:o="http://www.openarchives.org/OAI/2.0/"><o:responseDate>2025-01-01T00:00:00Z</o:responseDate><o:ListRecords>
      <o:record><o:header><o:identifier>x/id/A</o:identifier><o:datestamp>2025-01-01</o:datestamp></o:header><o:metadata>
      <whatever:svc xmlns:whatever="urn:svc/2.1/"><whatever:heslo/></whatever:svc></o:metadata></o:record></o:ListRecords></o:OAI-PMH>`;
    const { items } = await readPage(text);
    expect(items[0] && findNativeContent(items[0])).toMatchObject({
      name: 'heslo',
      namespace: 'urn:svc/2.1/',
    });
  });
});

describe('withheld content', () => {
  const dc = (inner: string): string =>
    `<oai_dc:dc xmlns:oai_dc="urn:oai_dc" xmlns:dc="urn:dc">${inner}</oai_dc:dc>`;
  test.each([
    [
      'the text alone in a native root',
      '<svc:svc xmlns:svc="urn:s">\n HTTP/1.1 403 Forbidden\n</svc:svc>',
      true,
    ],
    ['the text in Dublin Core', dc('HTTP/1.1 403 Forbidden'), true],
    ['the text in a field of Dublin Core', dc('<dc:type>HTTP/1.1 403 Forbidden</dc:type>'), true],
    ['the text in a root of Dublin Core inside another', dc(dc('HTTP/1.1 403 Forbidden')), true],
    ['another text alone', '<svc:svc xmlns:svc="urn:s">HTTP/1.1 404 Not Found</svc:svc>', false],
    ['nothing at all', '<svc:svc xmlns:svc="urn:s"/>', false],
    [
      'the text in one of two fields',
      dc('<dc:type>HTTP/1.1 403 Forbidden</dc:type><dc:title>A</dc:title>'),
      false,
    ],
    ['the text in an entity', '<s xmlns="urn:s"><find>HTTP/1.1 403 Forbidden</find></s>', false],
    ['the text beside an entity', '<s xmlns="urn:s">HTTP/1.1 403 Forbidden<find/></s>', false],
    [
      'a record of which a part is masked',
      '<s xmlns="urn:s"><find><chranene_udaje>HTTP/1.1 403 Forbidden</chranene_udaje></find></s>',
      false,
    ],
    [
      'a note that quotes the text',
      '<s xmlns="urn:s"><find><poznamka>HTTP/1.1 403 Forbidden by my own server</poznamka></find></s>',
      false,
    ],
  ])('%s', async (_, metadata, refused) => {
    const page = await readPage(listXml('ListRecords', [recordXml('A', metadata)]));
    expect(page.items[0]?.refused).toBe(refused);
  });
});

describe('an error answer of the service', () => {
  test.each([
    'badArgument',
    'badResumptionToken',
    'badVerb',
    'cannotDisseminateFormat',
    'idDoesNotExist',
    'noMetadataFormats',
    'noSetHierarchy',
  ])('the error %s keeps its name', async (code) => {
    const failure = readPage(oaiError(code, 'in words'));
    await expect(failure).rejects.toMatchObject({ oaiCode: code, exitCode: 14 });
    await expect(failure).rejects.toThrow('in words');
  });

  test('no records match: an empty list, whose date still counts', async () => {
    const page = await readPage(oaiError('noRecordsMatch'));
    expect(page).toMatchObject({
      items: [],
      next: undefined,
      responseDateMs: Date.UTC(2025, 5, 18, 8),
    });
  });

  test.each([
    ['403', answer('no', { status: 403 }), AuthError],
    ['429', answer('', { status: 429 }), UnavailableError],
    [
      'a record without identifier',
      answer(
        listXml('ListRecords', [
          '<record><header><datestamp>2025-01-01</datestamp></header></record>',
        ]),
      ),
      MalformedAnswerError,
    ],
    [
      'a record with an impossible date',
      answer(listXml('ListRecords', [recordXml('A', '', '2025-02-30')])),
      MalformedAnswerError,
    ],
    [
      'a record without a header',
      answer(listXml('ListRecords', ['<record/>'])),
      MalformedAnswerError,
    ],
    [
      'a record in a state that is not known',
      answer(
        listXml('ListRecords', [recordXml('A').replace('<header>', '<header status="gone">')]),
      ),
      MalformedAnswerError,
    ],
    [
      'a record without a date',
      answer(
        listXml('ListRecords', [
          '<record><header><identifier>x/id/A</identifier></header></record>',
        ]),
      ),
      MalformedAnswerError,
    ],
  ])('%s', async (_, step, kind) => {
    const client = openOaiClient({
      oaiBase: OAI_BASE,
      version: '2.2',
      exchange: scripted(step),
      credentials: { kind: 'none' },
      maxAnswerBytes: 2_000_000,
    });
    await expect(client.listRecords(RECORDS)).rejects.toBeInstanceOf(kind);
  });

  test('a broken page is reported with the record and the byte', async () => {
    const body = listXml('ListRecords', [
      recordXml('A'),
      recordXml('B', '<x>salt & pepper</x>'),
      recordXml('C'),
    ]);
    const byte = Buffer.from(body).indexOf('& pepper');
    await expect(readPage(body)).rejects.toThrow(
      new RegExp(`byte ${byte}\\), in the record ${OAI_BASE}/id/B`),
    );
  });
});
