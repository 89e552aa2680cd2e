import { describe, expect, test } from 'vitest';
import { answerValidator, faults, SCHEMA_VERSIONS } from '../support/schema-validators.ts';
import { record } from './hand-typed-records.ts';

// Answers of the harvesting interface: OAI-PMH 2.0 around records of the contract.

const validator = await answerValidator('2.2');
const check = (document: string) => faults(validator, document);

function answer(
  content: string,
  request = '<request verb="Identify">https://oai.example/2.2/oai</request>',
): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet type="text/xsl" href="/oai.xsl"?>
<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/ http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd">
  <responseDate>2024-05-06T07:08:09Z</responseDate>
  ${request}
  ${content}
</OAI-PMH>`;
}

const DC =
  'xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/"';

const IDENTIFY = answer(`<Identify>
    <repositoryName>Finds</repositoryName>
    <baseURL>https://oai.example/2.2/oai</baseURL>
    <protocolVersion>2.0</protocolVersion>
    <adminEmail>info@oai.example</adminEmail>
    <adminEmail>second@oai.example</adminEmail>
    <earliestDatestamp>2024-07-14T21:39:10Z</earliestDatestamp>
    <deletedRecord>persistent</deletedRecord>
    <granularity>YYYY-MM-DDThh:mm:ssZ</granularity>
    <compression>gzip</compression>
    <description>
      <rightsManifest xmlns="http://www.openarchives.org/OAI/2.0/rights/" appliesTo="http://www.openarchives.org/OAI/2.0/entity#metadata">
        <rights><rightsReference ref="https://creativecommons.org/licenses/by-nc/4.0/"/></rights>
      </rightsManifest>
    </description>
    <description>
      <oai_dc:dc ${DC}>
        <dc:title xml:lang="cs">Nálezy</dc:title><dc:title xml:lang="en">Finds</dc:title>
        <dc:identifier>https://oai.example/</dc:identifier><dc:language>cs</dc:language>
      </oai_dc:dc>
    </description>
  </Identify>`);

const FORMATS = answer(`<ListMetadataFormats>
    <metadataFormat><metadataPrefix>oai_dc</metadataPrefix><schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</schema><metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace></metadataFormat>
    <metadataFormat><metadataPrefix>oai_svc</metadataPrefix><schema>https://schemas.example/svc/2.2/svc.xsd</schema><metadataNamespace>https://schemas.example/svc/2.2/</metadataNamespace></metadataFormat>
  </ListMetadataFormats>`);

const SETS = answer(`<ListSets>
    <set><setSpec>projekt</setSpec><setName>Projekty / Projects</setName></set>
    <set><setSpec>heslo:obdobi</setSpec><setName>Heslář: Období / Vocabulary: Period</setName>
      <setDescription><oai_dc:dc ${DC}><dc:description xml:lang="cs">Období</dc:description><dc:description xml:lang="en">Period</dc:description></oai_dc:dc></setDescription>
    </set>
  </ListSets>`);

const HEADER =
  '<header><identifier>https://oai.example/id/HES-000253</identifier><datestamp>2024-07-11T12:27:13Z</datestamp><setSpec>heslo:obdobi</setSpec></header>';
const DELETED = `${HEADER.replace('<header>', '<header status="deleted">').replace('000253', '000254')}`;
const TOKEN =
  '<resumptionToken completeListSize="250" cursor="0" expirationDate="2024-05-06T08:08:09Z">0F3A</resumptionToken>';
const DC_METADATA = `<metadata><oai_dc:dc ${DC}><dc:title xml:lang="cs">paleolit</dc:title><dc:type>x</dc:type></oai_dc:dc></metadata>`;
const MASKED =
  '<metadata><svc:svc xmlns:svc="https://schemas.example/svc/2.2/">HTTP/1.1 403 Forbidden</svc:svc></metadata>';
const OSOBA = record('osoba')
  .join('\n')
  .replace(/^<\?xml.*\?>/, '');

const IDENTIFIERS = answer(`<ListIdentifiers>${HEADER}${DELETED}${TOKEN}</ListIdentifiers>`);
const RECORDS = answer(
  `<ListRecords>
    <record>${HEADER}${DC_METADATA}</record>
    <record>${HEADER}${MASKED}</record>
    <record>${HEADER}<metadata>${OSOBA}</metadata></record>
    <record>${DELETED}</record>
    <resumptionToken completeListSize="250" cursor="200"/>
  </ListRecords>`,
  '<request verb="ListRecords" set="heslo:obdobi" from="2024-01-01" until="2024-12-31" metadataPrefix="oai_svc">https://oai.example/2.2/oai</request>',
);
const RECORD = answer(`<GetRecord><record>${HEADER}${DC_METADATA}</record></GetRecord>`);

describe('an answer', () => {
  test.each([
    ['Identify', IDENTIFY],
    ['ListMetadataFormats', FORMATS],
    ['ListSets', SETS],
    ['ListIdentifiers', IDENTIFIERS],
    ['ListRecords', RECORDS],
    ['GetRecord', RECORD],
  ])('to %s is valid', (_, document) => {
    expect(check(document)).toEqual([]);
  });

  test.each([
    'badArgument',
    'badResumptionToken',
    'badVerb',
    'cannotDisseminateFormat',
    'idDoesNotExist',
    'noMetadataFormats',
    'noRecordsMatch',
    'noSetHierarchy',
  ])('may be the error %s', (code) => {
    const plainRequest = '<request>https://oai.example/2.2/oai</request>';
    expect(check(answer(`<error code="${code}">why</error>`, plainRequest))).toEqual([]);
    expect(
      check(
        answer(`<error code="${code}"/><error code="badArgument">second</error>`, plainRequest),
      ),
    ).toEqual([]);
  });

  test.each([
    ['no content', answer('')],
    ['an error of its own invention', answer('<error code="noSuchThing"/>')],
    ['an error without code', answer('<error>sorry</error>')],
    [
      'an error beside a list',
      answer(`<error code="badVerb"/><ListRecords><record>${HEADER}</record></ListRecords>`),
    ],
    ['a time without zone', IDENTIFY.replace('07:08:09Z', '07:08:09')],
    ['a verb that does not exist', IDENTIFY.replace('verb="Identify"', 'verb="identify"')],
    ['no request', IDENTIFY.replace(/<request.*<\/request>/, '')],
    ['another protocol version', IDENTIFY.replace('>2.0<', '>1.1<')],
    ['no administrator', IDENTIFY.replaceAll(/<adminEmail>.*<\/adminEmail>/g, '')],
    ['an administrator without address', IDENTIFY.replace('info@oai.example', 'Eva')],
    ['another granularity', IDENTIFY.replace('YYYY-MM-DDThh:mm:ssZ', 'YYYY')],
    ['another support of deletions', IDENTIFY.replace('persistent', 'yes')],
    ['a rights manifest without rights', IDENTIFY.replace(/<rights>.*<\/rights>/, '')],
    ['a rights manifest for something else', IDENTIFY.replace('entity#metadata', 'entity#record')],
    ['a description of an unknown kind', IDENTIFY.replaceAll('rightsManifest', 'leftsManifest')],
    ['no formats', answer('<ListMetadataFormats/>')],
    [
      'a format without namespace',
      FORMATS.replace(/<metadataNamespace>.*?<\/metadataNamespace>/, ''),
    ],
    ['a set without name', SETS.replace('<setName>Projekty / Projects</setName>', '')],
    ['a setSpec with a blank', SETS.replace('heslo:obdobi', 'heslo: obdobi')],
    ['an empty list', answer('<ListRecords/>')],
    [
      'identifiers wrapped in records',
      answer(`<ListIdentifiers><record>${HEADER}</record></ListIdentifiers>`),
    ],
    ['a record without header', RECORD.replace(HEADER, '')],
    [
      'two records of GetRecord',
      RECORD.replace('</record>', `</record><record>${HEADER}</record>`),
    ],
    ['a header with another status', IDENTIFIERS.replace('"deleted"', '"gone"')],
    ['a datestamp of day and minute', IDENTIFIERS.replace('12:27:13Z', '12:27Z')],
    ['a list size in words', IDENTIFIERS.replace('"250"', '"many"')],
    ['a negative cursor', IDENTIFIERS.replace('cursor="0"', 'cursor="-1"')],
    [
      'Dublin Core twice in one record',
      RECORD.replace(DC_METADATA, DC_METADATA.replace(/(<oai_dc:dc.*<\/oai_dc:dc>)/, '$1$1')),
    ],
    ['an element that Dublin Core has not', RECORD.replaceAll('dc:type', 'dc:kind')],
    [
      'metadata that nobody declared',
      RECORDS.replace('https://schemas.example/svc/2.2/', 'https://schemas.example/svc/2.1/'),
    ],
    [
      'a record that its own schema refuses',
      RECORDS.replace('<svc:rok_narozeni>1950', '<svc:rok_narozeni>asi 1950'),
    ],
  ])('with %s is refused', (_, document) => {
    expect([IDENTIFY, FORMATS, SETS, IDENTIFIERS, RECORDS, RECORD]).not.toContain(document);
    expect(check(document)).not.toEqual([]);
  });

  test('may give a datestamp in either granularity, with milliseconds too', () => {
    for (const datestamp of ['2024-07-11', '2024-07-11T12:27:13Z', '2024-07-11T12:27:13.968Z']) {
      expect(check(IDENTIFIERS.replace('2024-07-11T12:27:13Z', datestamp))).toEqual([]);
    }
  });

  test('of an older version holds records of that version', async () => {
    for (const version of SCHEMA_VERSIONS) {
      const ofVersion = await answerValidator(version);
      expect(
        faults(
          ofVersion,
          answer(
            `<GetRecord><record>${HEADER}${MASKED.replace('2.2', version)}</record></GetRecord>`,
          ),
        ),
      ).toEqual([]);
      const other = version === '2.0' ? '2.1' : '2.0';
      expect(
        faults(
          ofVersion,
          answer(
            `<GetRecord><record>${HEADER}${MASKED.replace('2.2', other)}</record></GetRecord>`,
          ),
        ),
      ).not.toEqual([]);
      ofVersion[Symbol.dispose]();
    }
  });
});
