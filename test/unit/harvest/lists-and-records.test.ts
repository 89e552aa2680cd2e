import { describe, expect, test } from 'vitest';
import { findIdentifierBefore } from '../../../src/harvest/protocol.ts';
import { listXml, OAI_BASE, oaiXml, recordXml, scripted } from '../../support/scripted-oai.ts';
import { makeClient, readPage } from './scripted-client.ts';

describe('what a list reports about itself', () => {
  const paging = async (attributes: string, token = ' T2\n') => {
    const {
      items: _,
      document: __,
      ...rest
    } = await readPage(listXml('ListRecords', [recordXml('A')], token, attributes));
    return rest;
  };

  test('is read from its token', async () => {
    expect(
      await paging('completeListSize=" 1500 " cursor="100" expirationDate="2025-06-18T09:00:00Z"'),
    ).toEqual({
      next: 'T2',
      completeListSize: 1500,
      cursor: 100,
      tokenExpiresMs: Date.UTC(2025, 5, 18, 9),
      responseDateMs: Date.UTC(2025, 5, 18, 8),
    });
  });

  test.each(['-1', '1.5', 'x1', '1x', '1e3', '', '1234567890123456'])(
    '%j is not a number',
    async (text) => {
      expect(
        await paging(`completeListSize="${text}" cursor="${text}" expirationDate="${text}"`, ' '),
      ).toMatchObject({
        next: undefined,
        completeListSize: undefined,
        cursor: undefined,
        tokenExpiresMs: undefined,
      });
    },
  );
});

describe('what the service reports about itself', () => {
  test('is read without surrounding blanks', async () => {
    const identity = await makeClient(
      scripted(
        oaiXml(`<Identify><repositoryName> Archive </repositoryName><baseURL>${OAI_BASE}</baseURL><protocolVersion>2.0</protocolVersion>
        <adminEmail> a@example.org </adminEmail><earliestDatestamp>2024-07-14</earliestDatestamp><deletedRecord>transient</deletedRecord>
        <granularity>YYYY-MM-DD</granularity><compression> gzip </compression></Identify>`),
      ),
    ).identify();
    expect(identity).toEqual({
      repositoryName: 'Archive',
      baseUrl: OAI_BASE,
      protocolVersion: '2.0',
      adminEmails: ['a@example.org'],
      earliestDatestamp: '2024-07-14',
      deletedRecord: 'transient',
      granularity: 'YYYY-MM-DD',
      compressions: ['gzip'],
      descriptions: [],
      responseDateMs: Date.UTC(2025, 5, 18, 8),
    });
  });
});

describe('single records', () => {
  test.each(['<GetRecord/>', '<GetRecord><record><header/></record></GetRecord>'])(
    '%s is not a record',
    async (inner) => {
      const recordPromise = makeClient(scripted(oaiXml(inner))).getRecord('A', 'oai_svc');
      await expect(recordPromise).rejects.toThrow(
        'The service did not send a complete record for A.',
      );
    },
  );

  test('that are unusable are reported by their place', async () => {
    const bad = '<record><header><identifier>x</identifier></header></record>';
    const listed = readPage(listXml('ListRecords', [recordXml('A'), bad]));
    await expect(listed).rejects.toThrow(
      'The service sent a page with an unreadable record: record 2 has no identifier, an invalid datestamp or an unknown status.',
    );
  });
});

describe('the record in which a byte stands', () => {
  const at = (text: string): string | undefined =>
    findIdentifierBefore(Buffer.from(text), text.indexOf('!'));
  test.each<[string, string | undefined]>([
    ['<header><identifier>A</identifier></header> !', 'A'],
    ['<h:header status="deleted">\n  <h:identifier> A </h:identifier> !', 'A'],
    ['<header><identifier>A</identifier></header><header><identifier>B</identifier> !', 'B'],
    ['<header><identifier>A</identifier></header> ! <header><identifier>B</identifier>', 'A'],
    ['<identifier>A</identifier> !', undefined],
    ['<header><identifier></identifier> !', undefined],
    [`<header>${' '.repeat(100)}<identifier>A</identifier> !`, undefined],
    [`<header><identifier>A</identifier>${' '.repeat(1024 * 1024)}!`, undefined],
    ['!', undefined],
  ])('%.60j', (text, record) => {
    expect(at(text)).toBe(record);
  });
});
