import { makeDatabaseBytes } from '../../base/disk/database-file.ts';
import { writeOutputFile, writeToStdout } from '../../base/disk/output-file.ts';
import { type Message, msg } from '../../base/message.ts';
import type { DocumentProfile } from '../../finds/document.ts';
import type { Entry } from '../../outbox/entry.ts';
import { getWantedElements, listEntriesOfSubject } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { countVisibleFinds, iterateFinds, type StoredFind } from '../../outbox/stored-finds.ts';
import { type FindFilter, getElementsAtService } from '../../outbox/views/records-at-service.ts';
import {
  type ExportedFind,
  type FormatReference,
  type LabelLookup,
  makeFindRows,
  makeMuseumRows,
  makeReadableRows,
  renderFindsXml,
  renderGeoJson,
} from './exported-find.ts';
import type { RowCell } from './write-rows.ts';

type Render = (
  finds: Iterable<ExportedFind>,
  request: ExportRequest,
) => Iterable<string> | Promise<Iterable<string | Buffer>>;

const renderFinds: Render = (finds, request) => renderRows(makeFindRows(finds), request);

/**
 * A format that `pas import` reads again is a file that writes it and a row here, under the usual
 * extension of its files.
 */
const FORMATS = {
  csv: renderFinds,
  xlsx: renderFinds,
  geojson: renderGeoJson,
  gpkg: renderGeoPackage,
  xml: (finds, { documents }) => renderFindsXml(finds, documents),
} as const satisfies Readonly<Record<string, Render>>;

/** Format of an exported file, as `--format` names it. */
export type ExportFormat = keyof typeof FORMATS;

/** Names of the formats, as `--format` lists them. */
export const EXPORT_FORMATS = Object.keys(FORMATS) as readonly ExportFormat[];

const OTHER_EXTENSIONS = new Map<string, ExportFormat>([
  ['txt', 'csv'],
  ['json', 'geojson'],
]);

/**
 * Returns the format of files with this extension (lower case, without a dot); undefined for an
 * unknown one.
 */
export function findFormatOfExtension(extension: string): ExportFormat | undefined {
  return EXPORT_FORMATS.find((name) => name === extension) ?? OTHER_EXTENSIONS.get(extension);
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
    render: (finds, request) => renderRows(makeReadableRows(finds), request),
  },
  museum: {
    summary: msg`CSV or XLSX for a collection system`,
    formats: ['csv', 'xlsx'],
    isAtService: true,
    render: (finds, request) => renderRows(makeMuseumRows(finds), request),
  },
  qgis: {
    summary: msg`a GeoPackage with its style`,
    formats: ['gpkg'],
    isAtService: false,
    render: renderGeoPackage,
  },
} as const satisfies Readonly<Record<string, Exporter>>;

/** Purpose of an export other than being imported again, as `--for` names it. */
export type ExportPurpose = keyof typeof ROWS;

/** Purposes of an export, as `--for` lists them. */
export const EXPORT_PURPOSES = Object.keys(ROWS) as readonly ExportPurpose[];
/** The exports for other people or programs, by purpose. */
export const EXPORTERS: Readonly<Record<ExportPurpose, Exporter>> = ROWS;

async function renderGeoPackage(
  finds: Iterable<ExportedFind>,
  { nowMs }: ExportRequest,
): Promise<Iterable<Buffer>> {
  const { fillGeoPackage } = await import('./gpkg-layers.ts');
  const nowIso = new Date(nowMs).toISOString();
  return [makeDatabaseBytes((database) => fillGeoPackage(database, finds, nowIso))];
}

async function renderRows(
  rows: Iterable<readonly RowCell[]>,
  { format }: ExportRequest,
): Promise<Iterable<string | Buffer>> {
  const { renderTable } = await import('./write-rows.ts');
  return renderTable(rows, format, 'finds');
}

type ExportRequest = {
  readonly format: ExportFormat;
  /** Option of XML. */
  readonly documents: DocumentProfile;
  readonly filters: readonly FindFilter[];
  /** Purpose of the file; undefined for one that `pas import` reads again. */
  readonly exporter: ExportPurpose | undefined;
  readonly finds: readonly StoredFind[] | undefined;
  readonly getLabels: LabelLookup;
  /** Words for references; undefined where identifiers are wanted. */
  readonly formatReference: FormatReference | undefined;
  readonly nowMs: number;
  readonly onProgress: (doneCount: number, total: number) => void;
};

type Destination =
  | { readonly stream: NodeJS.WriteStream }
  | { readonly file: string; readonly overwrite: boolean };

/**
 * Writes the finds that match all filters to a file or stream, each with its identifier, its wanted
 * number and its photographs that are not dropped; for some purposes with the service's values in
 * place of those that were sent. A file is written atomically. `onProgress` is called for each
 * written find; its total also counts the finds that the filters leave out.
 * @returns the number of written finds; undefined where the reader of the stream closed it early
 * @throws UsageError where the file exists and may not be replaced; FileError where the path is not
 * writable; DatabaseError where the disk is full
 */
export async function exportFinds(
  outbox: Outbox,
  request: ExportRequest,
  to: Destination,
): Promise<number | undefined> {
  const total = request.finds?.length ?? countVisibleFinds(outbox);
  let count = 0;
  const counted = function* (): Generator<ExportedFind> {
    for (const find of makeExportedFinds(outbox, request)) {
      count += 1;
      request.onProgress(count, total);
      yield find;
    }
  };
  const { exporter, format } = request;
  const render: Render = exporter === undefined ? FORMATS[format] : EXPORTERS[exporter].render;
  const pieces = await render(counted(), request);
  if ('file' in to) await writeOutputFile(to.file, pieces, to);
  else if (!(await writeToStdout(to.stream, pieces))) return undefined;
  return count;
}

function* makeExportedFinds(
  outbox: Outbox,
  { finds, getLabels, formatReference, exporter, filters }: ExportRequest,
): Generator<ExportedFind> {
  const isAtService = exporter !== undefined && EXPORTERS[exporter].isAtService;
  for (const find of finds ?? iterateFinds(outbox)) {
    const entries = listEntriesOfSubject(outbox, find.uuid);
    const sent = entries.find(({ kind, state }) => kind === 'import' && state !== 'dropped');
    // An export that is imported again has the stored values.
    const elements = isAtService
      ? getElementsAtService(outbox, find)
      : getWantedElements(outbox, find);
    if (!filters.every((matches) => matches({ ...find, elements }, sent))) continue;
    yield {
      localId: find.localId,
      state: sent?.state,
      getLabels,
      formatReference,
      identCely: sent?.identCely ?? undefined,
      elements,
      photos: listPhotoNames(entries),
    };
  }
}

function listPhotoNames(entries: readonly Entry[]): string[] {
  const names = entries.flatMap((entry) =>
    entry.kind === 'photo' && entry.state !== 'dropped' ? [entry.photograph.name] : [],
  );
  return [...new Set(names)];
}
