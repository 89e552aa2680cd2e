import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { openSqlite } from '../../../src/base/disk/database.ts';
import { ConfigError, FileError, PasError, UsageError } from '../../../src/base/errors.ts';
import { isReadable } from '../../../src/base/issue.ts';
import {
  describeStrayText,
  getLine,
  getSourceText,
  type XmlElement,
} from '../../../src/base/xml/element.ts';
import { parseXml, walkXml, XmlSyntaxError } from '../../../src/base/xml/parse.ts';
import { readConfigFile } from '../../../src/cli/context/config.ts';
import { parseHarvestedFind } from '../../../src/finds/harvested-find.ts';
import { parsePolygon } from '../../../src/finds/place/areas.ts';
import { parseGeoPackagePoint } from '../../../src/finds/place/geometry.ts';
import { parsePosition } from '../../../src/finds/place/read-position.ts';
import { checkFindByRules } from '../../../src/finds/rules.ts';
import { parseTerm } from '../../../src/finds/vocabulary/term.ts';
import { openOaiClient } from '../../../src/harvest/client.ts';
import { findNativeContent, type OaiRecord } from '../../../src/harvest/protocol.ts';
import {
  readRepeatedElements,
  toHeaderJson,
  toRecordJson,
} from '../../../src/harvest/record-json.ts';
import { readPhotoExif } from '../../../src/photos/photo-exif.ts';
import { inspectPhotograph } from '../../../src/photos/photograph.ts';
import { removeGps } from '../../../src/photos/remove-gps.ts';
import { fetchAccount } from '../../../src/push/account.ts';
import { classifyAnswer } from '../../../src/service/outcome.ts';
import { parseColumnMap } from '../../../src/tables/columns/column-map.ts';
import { mapTableToFinds } from '../../../src/tables/columns/map-table.ts';
import { parseDefaults } from '../../../src/tables/columns/settings.ts';
import { unpackWorkbook } from '../../../src/tables/formats/xlsx.ts';
import { convertToUtf8 } from '../../../src/tables/input-file.ts';
import { parseTableBytes } from '../../../src/tables/readers.ts';
import { makeGeoPackage, pointBlob } from '../../support/make-geopackage.ts';
import { workbookParts } from '../../support/make-workbook.ts';
import { makeZip, type ZipPart } from '../../support/make-zip.ts';
import { photoWithGps } from '../../support/photo-with-gps.ts';
import {
  answer,
  listXml,
  OAI_BASE,
  oaiError,
  oaiXml,
  recordXml,
} from '../../support/scripted-oai.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** A reader of bytes that others have made. */
export type Target = {
  readonly name: string;
  /** Sound inputs, and inputs that are known to be broken. */
  readonly seeds: readonly (Buffer | string)[];
  /** Ends, or throws what it says that it throws; all else is a fault. */
  read(bytes: Buffer): Promise<void> | void;
};

const NOW_MS = Date.UTC(2025, 0, 1);
const fixture = (path: string): Buffer =>
  readFileSync(new URL(`../../../${path}`, import.meta.url));
const seedTexts = (folder: string, names: readonly string[]): Buffer[] =>
  names.map((name) => fixture(`${folder}/${name}`));
const folder = tempFolder();

/** Has what a reader says that it throws as an end like others. */
async function refusing(
  kinds: readonly (new (...given: never[]) => Error)[],
  work: () => unknown,
): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!kinds.some((kind) => thrown instanceof kind)) throw thrown;
  }
}

function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

/** Reads a table to its end, and its rows as finds. */
async function readRows(file: string, bytes: Buffer): Promise<void> {
  await refusing([FileError], async () => {
    const table = await parseTableBytes(file, bytes);
    let counted = 0;
    for (const { cells } of table.rows) {
      counted += 1;
      demand(
        cells.length === table.header.length,
        'a row has another number of cells than the header',
      );
    }
    demand(counted === table.rowCount, `${counted} rows were walked of ${table.rowCount}`);
    const { rows } = mapTableToFinds(table, {
      lookupTerm: () => ({ kind: 'not-harvested' }),
      resolvePhoto: (name) => ({ value: `/season/${name}` }),
    });
    for (const { find, issues } of rows) {
      for (const { says } of issues) String(says);
      if (find !== undefined)
        for (const { says } of checkFindByRules(find, { today: '2025-01-01' })) String(says);
    }
  });
}

function walk(element: XmlElement): number {
  let elements = 1 + element.attributes.length + Math.min(0, element.text.length);
  for (const child of element.children) elements += walk(child);
  return elements;
}

const ENCODINGS = [
  undefined,
  'utf-8',
  'utf-16',
  'windows-1250',
  'mac-ce',
  'cp852',
  'utf-7',
  'utf-32',
  'gb18030',
  'big5',
  'nonsense',
];
const RECORDS = ['samostatny_nalez', 'heslo', 'projekt', 'osoba', 'ruian_katastr', 'let', 'soubor'];
const PARTS = '\u001e';
const NOT_TO_BE_RUN =
  /attach|vacuum|recursive|pragma|extension|blob *\(|printf|format|replace|repeat|hex|group_concat|json|temp/i;

function getKind(bytes: Buffer, kinds: number): number {
  return (bytes[0] ?? 0) % kinds;
}

/**
 * Parts between separators as the parts of an archive, each with the right sum, since no change by
 * chance would get behind a wrong one.
 */
function splitParts(bytes: Buffer): ZipPart[] {
  const pieces = bytes.toString('latin1').split(PARTS);
  return Array.from({ length: pieces.length >> 1 }, (_, at) => ({
    name: pieces[2 * at] ?? '',
    content: Buffer.from(pieces[2 * at + 1] ?? '', 'latin1'),
  }));
}

function joinedParts(parts: readonly ZipPart[]): Buffer {
  return Buffer.from(
    parts.flatMap(({ name, content }) => [name, content.toString('latin1')]).join(PARTS),
    'latin1',
  );
}

function readRecords(
  records: readonly OaiRecord[],
  repeated: ReturnType<typeof readRepeatedElements>,
): void {
  for (const record of records) {
    JSON.stringify(toHeaderJson(record));
    JSON.stringify(toRecordJson(record, repeated));
    const entity = findNativeContent(record);
    if (entity === undefined) continue;
    parseHarvestedFind(entity);
    const term = parseTerm(entity, record.header.setSpecs[0]);
    if (term?.boundary != null) parsePolygon(term.boundary);
  }
}

const REPEATED = readRepeatedElements('2.2');

function isThere(path: string): boolean {
  return existsSync(new URL(`../../../${path}`, import.meta.url));
}

/** The file of a database that a script makes; undefined where SQLite does not take the script. */
function makeImage(script: string): Buffer | undefined {
  const database = openSqlite(':memory:');
  try {
    database.exec(script);
    return database.serialize();
  } catch {
    return undefined;
  } finally {
    database.close();
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(data.length + 12);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), data.length + 8);
  return framed;
}

const MARKS: readonly (readonly [string, string])[] = [
  ['image/jpeg', 'jpg'],
  ['image/png', 'png'],
  ['image/tiff', 'tif'],
];
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const TIFF_OF_JPEG = photoWithGps(50.1, 14.4).subarray(12, -2);

export const TARGETS: readonly Target[] = [
  {
    name: 'xml',
    seeds: [
      ...seedTexts('examples', ['find-state-1.xml', 'find-state-3.xml']).map((text) =>
        Buffer.concat([Buffer.from('\0'), text]),
      ),
      ...seedTexts('test/broken-files/xml', ['billion-laughs.xml', 'page.html']).map((text) =>
        Buffer.concat([Buffer.from('\0'), text]),
      ),
      '\u0001<?xml version="1.0" encoding="UTF-8"?><!-- c --><?p i?><a xmlns:b="urn:b" c=\'&lt;&#65;&#x42;\'><b:d/><![CDATA[e]]>f</a>\n',
      Buffer.from('\ufeff<a>\u017elu\u0165ou\u010dk\u00fd</a>', 'utf16le'),
    ],
    read: (bytes) =>
      refusing([XmlSyntaxError], () => {
        const document = parseXml(bytes.subarray(1), 50_000);
        walk(document.root);
        getLine(document, document.root);
        getSourceText(document, document.root);
        describeStrayText(document.root);
        const walked = walkXml(bytes.subarray(1), 50_000);
        demand(walked.root.name === document.root.name, 'two readings differ');
      }),
  },
  {
    name: 'harvest',
    seeds: [
      `\0${listXml(
        'ListRecords',
        RECORDS.map((name) =>
          recordXml(
            name,
            `<svc:${name} xmlns:svc="urn:s"><svc:ident_cely>A</svc:ident_cely><svc:heslo>b</svc:heslo></svc:${name}>`,
          ),
        ),
        'token',
        'cursor="0" completeListSize="9" expirationDate="2025-01-01T00:00:00Z"',
      )}`,
      ...[
        'adb',
        'heslo',
        'let',
        'projekt',
        'ruian_katastr',
        'samostatny_nalez',
        'soubor',
        'uzivatel',
      ].flatMap((name) => {
        const file = `test/contract/records/${name}.xml`;
        return isThere(file)
          ? [
              `\0${listXml('ListRecords', [recordXml(name, String(fixture(file)).replace(/<\?xml[^>]*>/, ''))])}`,
            ]
          : [];
      }),
      `\0${listXml('ListRecords', ['<record><header status="deleted"><identifier>a</identifier><datestamp>2025-01-01</datestamp></header></record>'])}`,
      `\u0001${listXml('ListIdentifiers', ['<header><identifier>a</identifier><datestamp>2025-01-01T00:00:00Z</datestamp></header>'], '')}`,
      `\u0002${oaiXml('<Identify><repositoryName>a</repositoryName><baseURL>b</baseURL><protocolVersion>2.0</protocolVersion></Identify>')}`,
      `\u0003${oaiXml(`<GetRecord>${recordXml('a')}</GetRecord>`)}`,
      `\u0004${listXml('ListSets', ['<set><setSpec>a</setSpec><setName>b</setName></set>'])}`,
      `\0${oaiError('noRecordsMatch')}`,
      `\0${oaiError('badResumptionToken', 'gone')}`,
    ],
    read: async (bytes) => {
      const client = openOaiClient({
        oaiBase: OAI_BASE,
        version: '2.2',
        credentials: { kind: 'none' },
        maxAnswerBytes: 8_000_000,
        exchange: async () => answer(bytes.subarray(1)),
      });
      await refusing([PasError], async () => {
        switch (getKind(bytes, 5)) {
          case 0:
            return readRecords(
              (await client.listRecords({ metadataPrefix: 'oai_svc' })).items,
              REPEATED,
            );
          case 1:
            return client.listHeaders({ metadataPrefix: 'oai_svc' });
          case 2:
            return client.identify();
          case 3:
            return readRecords([await client.getRecord('a', 'oai_svc')], REPEATED);
          default:
            return client.listSets();
        }
      });
    },
  },
  {
    name: 'answers',
    seeds: [
      '\u0000{"detail":"no"}',
      '\u0001{"schema_errors":[{"line":1,"column":2,"message":"a","error_type":2}]}',
      '\u0002{"validation_errors":[{"message":"a"}, 1, null]}',
      '\u0003<html><head><title>a</title></head><body>b<script>c</script></body></html>',
      '\u0004<svc:svc xmlns:svc="urn:s"><svc:samostatny_nalez><svc:ident_cely>C-1-N1</svc:ident_cely></svc:samostatny_nalez></svc:svc>',
      '\u0005<a><uzivatel><ident_cely>U-1</ident_cely><jmeno>E</jmeno><skupina>Archeolog</skupina></uzivatel></a>',
    ],
    read: async (bytes) => {
      const statuses = [200, 201, 400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503];
      const response = {
        status: statuses[getKind(bytes, statuses.length)] ?? 200,
        headers: {},
        body: bytes.subarray(1),
      };
      for (const operation of ['import', 'number', 'photo'] as const) {
        JSON.stringify(classifyAnswer(operation, response, NOW_MS, 'C-1-N1'));
      }
      const session = { token: async () => 't', renew: async () => 't' };
      await refusing([PasError], () =>
        fetchAccount({ baseUrl: 'https://x.example', session, send: async () => response }),
      );
    },
  },
  {
    name: 'csv',
    seeds: [
      ...seedTexts('examples', ['finds.csv', 'numbers.csv', 'museum/nalezy.csv']),
      ...seedTexts('test/broken-files/csv', [
        'abroad.csv',
        'control-characters.csv',
        'day-numbers.csv',
        'duplicate-ids.csv',
        'krovak-without-signs.csv',
        'unclosed-quote.csv',
        'utf-16.csv',
        'windows-1250.csv',
        'wrong-signs.csv',
      ]),
      ...seedTexts('test/fixtures/odd-tables', [
        'dates-of-people.csv',
        'links-of-maps.csv',
        'title-and-two-lines.csv',
      ]),
      "local_id;projekt;wkt;lon;lat;hloubka;datum_nalezu;pocet;nalezce;photos;poloha\nA-1;C-1;POINT (14.4 50.1);14°25'12\"E;50,1 N;25 cm;1. 6. 2024;asi 3;Novák, Jan (1950);a.jpg|b.jpg;50°5'N 14°E\n",
    ],
    read: (bytes) => readRows('finds.csv', bytes),
  },
  {
    name: 'geojson',
    seeds: seedTexts('test/broken-files/geojson', [
      'cut-short.geojson',
      'moved-point.geojson',
      'no-features.geojson',
      'not-points.geojson',
      'other-json.json',
      'other-system.geojson',
      'structured-property.geojson',
      'swapped-axes.geojson',
    ]),
    read: (bytes) => readRows('finds.geojson', bytes),
  },
  {
    name: 'xml-table',
    seeds: [
      ...seedTexts('test/broken-files/gpx', [
        'cut-short.gpx',
        'entity.gpx',
        'only-tracks.gpx',
        'positions.gpx',
        'same-names.gpx',
      ]),
      ...seedTexts('test/broken-files/xml', [
        'billion-laughs.xml',
        'harvested.xml',
        'other-namespace.xml',
        'page.html',
      ]),
      ...seedTexts('examples', ['find-state-1.xml', 'find-state-3.xml']),
    ],
    read: (bytes) => readRows('finds.xml', bytes),
  },
  {
    name: 'workbook',
    seeds: [
      joinedParts([
        ...workbookParts([
          {
            name: 'A',
            rows: [
              ['local_id', 'hloubka', 'datum_nalezu'],
              ['A-1', 2, { day: 45_444 }],
              [
                'A-2',
                { xml: '<c r="@" t="s"><v>0</v></c>' },
                { xml: '<c r="@" t="e"><v>#N/A</v></c>' },
              ],
            ],
            merged: ['A2:A3'],
          },
          {
            name: 'B',
            state: 'hidden',
            rows: [['x'], [{ xml: '<c r="@" t="b"><v>1</v></c>' }]],
            hiddenRows: [2],
          },
        ]),
        {
          name: 'xl/sharedStrings.xml',
          content:
            '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>a</t></si><si><r><t>b</t></r><rPh><t>c</t></rPh></si></sst>',
        },
      ]),
    ],
    read: (bytes) => readRows('finds.xlsx', makeZip(splitParts(bytes))),
  },
  {
    name: 'zip',
    seeds: [
      makeZip(workbookParts([{ name: 'A', rows: [['local_id'], ['A-1']] }])),
      makeZip([{ name: 'a', content: 'b' }]),
      makeZip([
        { name: 'a.xml', content: Buffer.alloc(4000), claimedBytes: 3 },
        { name: 'b/', content: '', flags: 1 },
      ]),
      makeZip([]),
    ],
    read: async (bytes) => {
      await refusing([FileError], async () => {
        for (const [name, entry] of await unpackWorkbook('finds.xlsx', bytes))
          demand(
            entry.name.toLowerCase() === name && entry.bytes.length >= 0,
            'a part has another name',
          );
      });
      await readRows('finds.xlsx', bytes);
    },
  },
  {
    name: 'geopackage',
    seeds: [
      makeGeoPackage([
        {
          name: 'finds',
          features: [
            [pointBlob(14.4, 50.1), { local_id: 'A-1', hloubka: 3 }],
            [null, { local_id: 'A-2' }],
          ],
        },
      ]),
      `create table gpkg_spatial_ref_sys (srs_name text, srs_id integer primary key, organization text, organization_coordsys_id integer, definition text);
create table gpkg_contents (table_name text primary key, data_type text, srs_id integer);
create table gpkg_geometry_columns (table_name text, column_name text, geometry_type_name text, srs_id integer, z integer, m integer);
insert into gpkg_spatial_ref_sys values ('', 4326, 'EPSG', 4326, '');
insert into gpkg_contents values ('a', 'features', 4326);
insert into gpkg_geometry_columns values ('a', 'geom', 'POINT', 4326, 0, 0);
create table a (fid integer primary key, geom blob, local_id text, hloubka);
insert into a values (1, x'4750000100000000010100000000000000000000400000000000000840', 'A-1', 1.5), (2, null, null, x'00');`,
    ],
    read: async (bytes) => {
      const script = bytes.toString();
      if (script.startsWith('SQLite format 3')) return readRows('finds.gpkg', bytes);
      const image = NOT_TO_BE_RUN.test(script) ? undefined : makeImage(script);
      if (image !== undefined) await readRows('finds.gpkg', image);
    },
  },
  {
    name: 'geometry',
    seeds: [
      pointBlob(14.4, 50.1),
      pointBlob(14.4, 50.1, { bigEndian: true, z: true, envelope: true }),
      pointBlob(14.4, 50.1, { multi: 1 }),
      pointBlob(14.4, 50.1, { multi: 2 }),
    ],
    read: (bytes) => {
      const reading = parseGeoPackagePoint(bytes);
      if (!isReadable(reading)) String(reading.problem);
      else if (reading.value !== undefined)
        demand(
          /^-?[\d.]+$/.test(reading.value.x) || !Number.isFinite(Number(reading.value.x)),
          `the number ${reading.value.x}`,
        );
    },
  },
  {
    name: 'place',
    seeds: [
      '50.1N, 14.4E',
      '50°5\'13.5"N 14°25\'15"E',
      'POINT (14.4 50.1)',
      '-743011,72 -1043210.5',
      'https://mapy.cz/zakladni?x=14.42&y=50.08&z=17',
      'https://www.google.com/maps/@50.08,14.42,17z',
      'geo:50.08,14.42',
      'X: 743011 Y: 1043210',
      'N 50 05.225 E 014 25.250',
    ],
    read: async (bytes) => {
      const reading = parsePosition(bytes.toString());
      if (!isReadable(reading)) String(reading.problem);
      else
        demand(
          Number.isFinite(Number(reading.value.point.x) + Number(reading.value.point.y)),
          'the position is no number',
        );
      await refusing([RangeError], () => parsePolygon(bytes.toString()));
    },
  },
  {
    name: 'photograph',
    seeds: [
      Buffer.concat([Buffer.from([0]), photoWithGps(50.1, 14.4)]),
      Buffer.concat([
        Buffer.from([1]),
        PNG,
        chunk('IHDR', Buffer.alloc(13)),
        chunk('eXIf', TIFF_OF_JPEG),
        chunk('tEXt', Buffer.from('exif:GPSLatitude\x0049/1')),
        chunk('iTXt', Buffer.from('XML:com.adobe.xmp\0\0\0\0\0<x exif:GPSLatitude="49,12.5N"/>')),
        chunk('IEND', Buffer.alloc(0)),
      ]),
      Buffer.concat([Buffer.from([2]), TIFF_OF_JPEG]),
      Buffer.concat([
        Buffer.from([0]),
        Buffer.from('ffd8ffe1005c', 'hex'),
        Buffer.from('http://ns.adobe.com/xap/1.0/\0<x exif:GPSLatitude="49,12.5N"/>'),
        Buffer.from('ffd9', 'hex'),
      ]),
      Buffer.concat([
        Buffer.from([0]),
        fixture('examples/photos/KR24-012.jpg').subarray(0, 3000),
        Buffer.from('ffd9', 'hex'),
      ]),
    ],
    read: async (seedBytes) => {
      const [type, ending] = MARKS[getKind(seedBytes, MARKS.length)] ?? ['image/jpeg', 'jpg'];
      const bytes = seedBytes.subarray(1);
      const file = join(folder, `photograph.${ending}`);
      writeFileSync(file, bytes);
      for (const { says } of (await inspectPhotograph(file)).issues) String(says);
      await readPhotoExif(file);
      const whole = Buffer.from(bytes);
      const { parts } = removeGps(bytes, type);
      const without = Buffer.concat(parts);
      demand(
        type === 'image/png' || without.length === whole.length,
        'the photograph has another length without its place',
      );
      demand(!removeGps(without, type).finding.startsWith('position'), 'the place is still there');
    },
  },
  {
    name: 'settings',
    seeds: [
      'default_profile = "a"\nlang = "cs"\n[profiles.a]\nbase_url = "https://a.example"\nkind = "training"\nmin_interval_ms = 100\n[profiles.a.defaults]\nprojekt = "C-1"\n[projects."C-1"]\nobdobi = "HES-1"\n',
      '[profiles."b c"]\npacing = "redis://:p@h:1/0"\noai_auth = "basic"\nallow_http = true\n',
      'version = 1\n[fixed]\nprojekt = "C-1"\n[columns]\n"a" = "hloubka"\n"b" = { element = "hloubka", unit = "cm" }\n"c" = { element = "datum_nalezu", date = "d.m.y" }\n',
      fixture('examples/museum/nalezy.map.toml'),
    ],
    read: async (bytes) => {
      const file = join(folder, 'config.toml');
      writeFileSync(file, bytes);
      await refusing([ConfigError, UsageError], () =>
        parseDefaults(file, readConfigFile(file).defaults),
      );
      for (const { says } of parseColumnMap('a.toml', bytes.toString()).issues) String(says);
    },
  },
  {
    name: 'encoding',
    seeds: ENCODINGS.flatMap((encoding, at) => [
      Buffer.concat([
        Buffer.from([at]),
        Buffer.from(
          'Příliš žluťoučký kůň úpěl ďábelské ódy\n',
          encoding === 'utf-16' ? 'utf16le' : 'utf8',
        ),
      ]),
    ]).concat(
      seedTexts('test/broken-files/csv', ['windows-1250.csv', 'utf-16.csv']).map((text) =>
        Buffer.concat([Buffer.from([0]), text]),
      ),
    ),
    read: (bytes) =>
      refusing([FileError, UsageError], async () => {
        const { text, issues } = await convertToUtf8(
          'finds.csv',
          bytes.subarray(1),
          ENCODINGS[getKind(bytes, ENCODINGS.length)],
        );
        demand(Buffer.isBuffer(text), 'no bytes');
        for (const { says } of issues) String(says);
      }),
  },
];
