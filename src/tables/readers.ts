import { type Message, msg } from '../base/message.ts';
import type { HeaderRows } from './header-row.ts';
import type { Table } from './table.ts';
import type { ZipEntry } from './zip-entries.ts';

/** A file to be read as a table, with the parts that its format may need. */
type TableSource = {
  readonly file: string;
  readonly bytes: Buffer;
  /** Parts of an archive, by name. */
  readonly entries: ReadonlyMap<string, ZipEntry>;
  /** Files of the same name beside it, by extension. */
  readonly beside: ReadonlyMap<string, Buffer>;
  readonly sheet: string | undefined;
  readonly encoding: string | undefined;
  readonly headerRows: HeaderRows | undefined;
};

type TableReader = {
  /** Extensions, the usual one first. */
  readonly extensions: readonly string[];
  /** Name in messages; absent for a text table, the fallback. */
  readonly called?: Message;
  /** First bytes as Latin-1. */
  readonly signature?: string;
  /** Part that identifies an archive (ZIP) of this format. */
  readonly part?: RegExp;
  /** Text at the beginning of an XML document of this format. */
  readonly root?: RegExp;
  /** Options that apply to the format. */
  readonly options: readonly ('sheet' | 'encoding' | 'header')[];
  /** Loads the reader on demand and reads the table. */
  read(source: TableSource): Promise<Table>;
};

/** Formats by name: a new one is a file that reads it, and a row here. The first match wins. */
const READERS = {
  csv: {
    extensions: ['csv', 'tsv', 'txt'],
    options: ['encoding', 'header'],
    read: async ({ file, bytes, encoding, headerRows }) =>
      (await import('./csv-table.ts')).readTextTable(file, bytes, encoding, headerRows),
  },
  xlsx: {
    extensions: ['xlsx', 'xlsm'],
    called: msg`a workbook (XLSX)`,
    part: /^xl\/workbook\.xml$/i,
    options: ['sheet', 'header'],
    read: async ({ file, entries, sheet, headerRows }) =>
      (await import('./xlsx-table.ts')).readXlsx(file, entries, sheet, headerRows),
  },
  ods: {
    extensions: ['ods'],
    called: msg`a workbook (ODS)`,
    part: /^content\.xml$/,
    options: ['sheet', 'header'],
    read: async ({ file, entries, sheet, headerRows }) =>
      (await import('./ods-table.ts')).readOds(file, entries, sheet, headerRows),
  },
  fods: {
    extensions: ['fods'],
    called: msg`a flat workbook (FODS)`,
    root: /<office:document\s/,
    options: ['sheet', 'header'],
    read: async ({ file, bytes, sheet, headerRows }) =>
      (await import('./ods-table.ts')).readFlatOds(file, bytes, sheet, headerRows),
  },
  geojson: {
    extensions: ['geojson', 'geojsonl', 'geojsons', 'geojsonseq', 'ndjson', 'json'],
    called: 'GeoJSON',
    options: [],
    read: async ({ file, bytes }) => (await import('./geojson-table.ts')).parseGeoJson(file, bytes),
  },
  gpkg: {
    extensions: ['gpkg'],
    called: msg`a GeoPackage (an SQLite database)`,
    signature: 'SQLite format 3\u0000',
    options: ['sheet'],
    read: async ({ file, bytes, sheet }) => (await import('./gpkg-table.ts')).readGeoPackage(file, bytes, sheet),
  },
  shp: {
    extensions: ['shp'],
    called: msg`a shapefile`,
    signature: '\u0000\u0000\u0027\u000a',
    options: ['encoding'],
    read: async ({ file, bytes, beside, encoding }) =>
      (await import('./shapefile-table.ts')).readShapefile(file, new Map([...beside, ['.shp', bytes]]), encoding),
  },
  dbf: {
    extensions: ['dbf'],
    called: msg`a table of a shapefile (DBF)`,
    options: ['encoding'],
    read: async ({ file, bytes, beside, encoding }) =>
      (await import('./shapefile-table.ts')).readShapefile(file, new Map([...beside, ['.dbf', bytes]]), encoding),
  },
  kmz: {
    extensions: ['kmz'],
    called: msg`an archive of KML (KMZ)`,
    part: /\.kml$/i,
    options: [],
    read: async ({ file, entries }) => (await import('./kmz-table.ts')).readKmz(file, entries),
  },
  shapefile: {
    extensions: [],
    called: msg`a shapefile`,
    part: /\.(?:shp|dbf)$/i,
    options: ['sheet', 'encoding'],
    read: async ({ file, entries, sheet, encoding }) =>
      (await import('./shapefile-table.ts')).readShapefileArchive(file, entries, sheet, encoding),
  },
  xml: {
    extensions: ['xml', 'gpx', 'kml'],
    called: 'XML',
    options: [],
    read: async ({ file, bytes }) => (await import('./xml-table.ts')).readXmlTable(file, bytes),
  },
} as const satisfies Readonly<Record<string, TableReader>>;

/** Formats from which finds are read. KML and GPX are `xml`; a `dbf` may be part of a shapefile. */
export type TableKind = keyof typeof READERS;

export const TABLE_READERS: Readonly<Record<TableKind, TableReader>> = READERS;
export const TABLE_KINDS = Object.keys(READERS) as readonly TableKind[];
