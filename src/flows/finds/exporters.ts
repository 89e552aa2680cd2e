import { type Message, msg } from '../../base/message.ts';
import type { DocumentProfile } from '../../find/build-document.ts';
import { makeDatabaseImage } from '../../store/database.ts';
import type { ExportedFind } from '../../tables/exported-find.ts';
import type { RowCell } from '../../tables/row-cell.ts';

export type ExportSettings = {
  readonly format: ExportFormat;
  /** Option of CSV. */
  readonly separator: 'semicolon' | 'comma' | 'tab';
  /** Option of XML. */
  readonly documents: DocumentProfile;
};

type ExportSource = ExportSettings & { readonly nowIso: string };

type Render = (
  finds: Iterable<ExportedFind>,
  source: ExportSource,
) => Promise<Iterable<string | Buffer>>;

type Format = {
  /** File extensions that select the format. */
  readonly extensions: readonly string[];
  readonly render: Render;
};

/** A format that `pas import` reads again is a file that writes it and a row here. */
const FORMATS = {
  csv: {
    extensions: ['csv', 'tsv', 'txt'],
    render: renderFinds,
  },
  xlsx: {
    extensions: ['xlsx'],
    render: renderFinds,
  },
  geojson: {
    extensions: ['geojson', 'json'],
    render: async (finds) => (await import('../../tables/export-text.ts')).exportGeoJson(finds),
  },
  gpkg: {
    extensions: ['gpkg'],
    render: async (finds, { nowIso }) => {
      const { exportGeoPackage } = await import('../../tables/gpkg-layers.ts');
      return [makeDatabaseImage((database) => exportGeoPackage(database, finds, nowIso))];
    },
  },
  xml: {
    extensions: ['xml'],
    render: async (finds, { documents }) =>
      (await import('../../tables/export-text.ts')).exportXml(finds, documents),
  },
} as const satisfies Readonly<Record<string, Format>>;

export type ExportFormat = keyof typeof FORMATS;

export const EXPORT_FORMATS = Object.keys(FORMATS) as readonly ExportFormat[];

/** Returns the first format with this file extension; undefined for an unknown one. */
export function findFormatOfExtension(extension: string): ExportFormat | undefined {
  return EXPORT_FORMATS.find((name) => (FORMATS[name] as Format).extensions.includes(extension));
}

type Exporter = {
  /** For the help of `--for`. */
  readonly summary: Message;
  /** The first one is the default for standard output. */
  readonly formats: readonly ExportFormat[];
  /**
   * Exports finds as the service has them, which are not imported again; otherwise as they are
   * stored.
   */
  readonly isAtService: boolean;
  readonly render: Render;
};

/** An export for other people or programs is a file that writes it and a row here. */
const ROWS = {
  people: {
    summary: msg`CSV or XLSX for reading, with labels for codes`,
    formats: ['csv', 'xlsx'],
    isAtService: true,
    render: async (finds, source) =>
      renderRows((await import('./museum-rows.ts')).makeReaderRows(finds), source),
  },
  museum: {
    summary: msg`CSV or XLSX for a collection system`,
    formats: ['csv', 'xlsx'],
    isAtService: true,
    render: async (finds, source) =>
      renderRows(await (await import('./museum-rows.ts')).makeMuseumRows(finds), source),
  },
  qgis: {
    summary: msg`a GeoPackage with its style`,
    formats: ['gpkg'],
    isAtService: false,
    render: async (finds, { nowIso }) => {
      const { exportStyledGeoPackage } = await import('./styled-geopackage.ts');
      return [makeDatabaseImage((database) => exportStyledGeoPackage(database, finds, nowIso))];
    },
  },
} as const satisfies Readonly<Record<string, Exporter>>;

export type ExporterName = keyof typeof ROWS;

export const EXPORTER_NAMES = Object.keys(ROWS) as readonly ExporterName[];
export const EXPORTERS: Readonly<Record<ExporterName, Exporter>> = ROWS;

async function renderFinds(
  finds: Iterable<ExportedFind>,
  source: ExportSource,
): Promise<Iterable<string | Buffer>> {
  const { makeFindRows } = await import('../../tables/exported-find.ts');
  return renderRows(makeFindRows(finds), source);
}

async function renderRows(
  rows: Iterable<readonly RowCell[]>,
  { format, separator }: ExportSource,
): Promise<Iterable<string | Buffer>> {
  if (format !== 'xlsx')
    return (await import('../../tables/row-cell.ts')).formatCsvLines(rows, separator);
  const { makeWorkbook } = await import('../../tables/write-workbook.ts');
  return [await makeWorkbook(new Map([['finds', rows]]))];
}

export function getRenderer(exporter: ExporterName | undefined, format: ExportFormat): Render {
  return (exporter === undefined ? FORMATS[format] : EXPORTERS[exporter]).render;
}
