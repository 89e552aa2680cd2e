import { expect, test } from 'vitest';
import { recoverPage } from '../../../src/harvest/protocol.ts';
import { listXml, OAI_BASE, recordXml } from '../../support/scripted-oai.ts';

const broken = (identifier: string): string =>
  `<record><header><identifier>${identifier}</identifier></header><x>a & b</x></record>`;

function salvaged(body: string | Buffer) {
  const page = recoverPage(Buffer.from(body as string));
  return page === undefined
    ? undefined
    : {
        left: page.document.root.children.at(-1)?.children.length,
        broken: page.broken.map(({ identifier }) => identifier),
      };
}

test.each([
  ['A', 'A'],
  ['  A\n', 'A'],
  ['https://h/id/A?x=1&amp;y=2', 'https://h/id/A?x=1&y=2'],
  ['A&#x10D;', 'Ač'],
  ['A&#269;', 'Ač'],
  // Half of an identifier would name another record, or none.
  ['A & B', undefined],
  ['A&B', undefined],
  ['', undefined],
  ['A B', undefined],
])('a broken record with the identifier %j is left out as %j', (identifier, named) => {
  expect(salvaged(listXml('ListRecords', [recordXml('X'), broken(identifier)], 'T'))).toEqual({
    left: 2,
    broken: [named],
  });
});

test('an identifier with undecodable bytes names nothing', () => {
  const [before, after] = listXml('ListRecords', [recordXml('X'), broken('A?')]).split('A?') as [
    string,
    string,
  ];
  const body = Buffer.concat([Buffer.from(`${before}A`), Buffer.from([0xff]), Buffer.from(after)]);
  expect(salvaged(body)).toEqual({ left: 1, broken: [undefined] });
});

test('an identifier of the metadata is not taken for that of the record', () => {
  const record = broken('A & B').replace('<x>', '<dc:identifier>doi:10.1/2</dc:identifier><x>');
  expect(salvaged(listXml('ListRecords', [recordXml('X'), record]))?.broken).toEqual([undefined]);
});

test('records may have a prefix, attributes and line breaks in their tags', () => {
  const list = `<oai:ListRecords>
    <oai:record id="1"><oai:header><oai:identifier>A</oai:identifier></oai:header></oai:record>
    <oai:record
    ><oai:header><oai:identifier>B</oai:identifier></oai:header>&</oai:record >
    <oai:record><oai:header><oai:identifier>C</oai:identifier></oai:header></oai:record
    ></oai:ListRecords>`;
  const body = `<oai:OAI-PMH xmlns:oai="http://www.openarchives.org/OAI/2.0/">${list}</oai:OAI-PMH>`;
  expect(salvaged(body)).toEqual({ left: 2, broken: ['B'] });
  // An element whose name only begins with the word is not a record.
  expect(salvaged('<a><recording>&</recording></a>')).toBeUndefined();
});

test('a record that runs into its neighbour is left out, with a message', () => {
  const page = recoverPage(
    Buffer.from(listXml('ListRecords', [recordXml('A'), '<record/>', recordXml('B'), broken('C')])),
  );
  expect(page?.broken[0]).toEqual({
    identifier: `${OAI_BASE}/id/A`,
    reason: 'it is not separated from the next record',
  });
  expect(page?.broken[1]).toMatchObject({
    identifier: 'C',
    reason: expect.stringMatching(/\(line \d+, byte \d+\)$/),
  });
});

test.each([
  ['no records', listXml('ListRecords', [])],
  ['a record that is never closed', '<a><record>'],
  ['an end before the first begin', '<a></record><record></a>'],
  ['nothing', ''],
  [
    'a frame that is broken',
    listXml('ListRecords', [recordXml('A'), '<record>&</record>']).replace('</ListRecords>', '&'),
  ],
])('%s cannot be salvaged', (_, body) => {
  expect(salvaged(body)).toBeUndefined();
});

test('a page that would have to be read too often is given up', () => {
  const frame = (size: number) =>
    listXml(
      'ListRecords',
      Array.from({ length: 256 }, () => '<record>&</record>'),
    ).replace('<request>', `<request>${'a'.repeat(size)}`);
  const most = 1024 * 1024;
  const bare = frame(0).length - 256 * '<record>&</record>'.length;
  expect(salvaged(frame(most - bare + 1))).toBeUndefined();
});

test('text after the root costs no record', () => {
  const page = listXml('ListRecords', [recordXml('A'), broken('B')], 'T');
  expect(salvaged(`${page}\n<p>Bye</p>`)).toEqual({ left: 2, broken: ['B'] });
});
