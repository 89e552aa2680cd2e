import type { FindElements } from '../../find/fields.ts';
import type { Entry } from '../../outbox/entry.ts';
import { getLatestNumber, listEntriesOfSubject } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { countFinds, iterateFinds, type StoredFind } from '../../outbox/stored-finds.ts';
import { openContentStore } from '../../store/content-store.ts';
import { writeOutputFile, writeToReader } from '../../store/output-file.ts';
import type { ExportedFind, FormatReference, LabelsOf } from '../../tables/exported-find.ts';
import { EXPORTERS, type ExporterName, type ExportSettings, getRenderer } from './exporters.ts';
import { makeFindAtService } from './remote-state.ts';
import { type FindScope, isChosen } from './select-finds.ts';

type ExportRequest = FindScope &
  ExportSettings & {
    /** Purpose of the file; undefined for one that `pas import` reads again. */
    readonly exporter: ExporterName | undefined;
    readonly finds: readonly StoredFind[] | undefined;
    readonly getLabels: LabelsOf;
    /** Words for references; undefined where identifiers are wanted. */
    readonly formatReference: FormatReference | undefined;
    readonly photosFolder: string;
    readonly nowMs: number;
    readonly onProgress: (doneCount: number, total: number) => void;
  };

/** `changed`: number of finds whose record differs from what was sent. */
type ExportResult = { readonly finds: number; readonly changed: number };

type Destination =
  | { readonly stream: NodeJS.WriteStream }
  | { readonly file: string; readonly overwrite: boolean };

/**
 * Writes finds with identifiers, numbers and photographs; undefined where the reader of a stream
 * closed it early.
 */
export async function exportFinds(
  outbox: Outbox,
  request: ExportRequest,
  to: Destination,
): Promise<ExportResult | undefined> {
  const total = request.finds?.length ?? countFinds(outbox);
  let count = 0;
  let changed = 0;
  const counted = function* (): Generator<ExportedFind> {
    for (const find of makeExportedFinds(outbox, request)) {
      count += 1;
      if (find.changed !== undefined) changed += 1;
      request.onProgress(count, total);
      yield find;
    }
  };
  const { exporter, format, nowMs } = request;
  const source = { ...request, nowIso: new Date(nowMs).toISOString() };
  const pieces = await getRenderer(exporter, format)(counted(), source);
  if ('file' in to) await writeOutputFile(to.file, pieces, to);
  else if (!(await writeToReader(to.stream, pieces))) return undefined;
  return { finds: count, changed };
}

function* makeExportedFinds(
  outbox: Outbox,
  { finds, getLabels, formatReference, exporter, photosFolder, ...choice }: ExportRequest,
): Generator<ExportedFind> {
  const isAtService = exporter !== undefined && EXPORTERS[exporter].isAtService;
  const store = openContentStore(photosFolder);
  for (const find of finds ?? iterateFinds(outbox)) {
    const entries = listEntriesOfSubject(outbox, find.uuid);
    const sent = findImport(entries);
    // An export that is imported again has the stored values.
    const { elements, changes } = isAtService
      ? makeFindAtService(outbox, find)
      : {
          elements: withNumber(find.elements as FindElements, getLatestNumber(entries)),
          changes: [],
        };
    if (!isChosen(choice, find, sent)) continue;
    yield {
      localId: find.localId,
      state: sent?.state,
      getLabels,
      formatReference,
      identCely: sent?.identCely ?? undefined,
      elements,
      changed: changes.length === 0 ? undefined : changes,
      photos: listPhotoNames(entries),
      photoFiles: listPhotoFiles(entries, store),
    };
  }
}

function withNumber(elements: FindElements, number: string | undefined): FindElements {
  return number === undefined ? elements : { ...elements, evidencni_cislo: number };
}

function listPhotoNames(entries: readonly Entry[]): string[] {
  const names = entries.flatMap((entry) =>
    entry.kind === 'photo' && entry.state !== 'dropped' ? [entry.photograph.name] : [],
  );
  return [...new Set(names)];
}

function listPhotoFiles(entries: readonly Entry[], store: ReturnType<typeof openContentStore>) {
  return entries.flatMap((entry) => {
    if (entry.kind !== 'photo' || entry.state === 'dropped') return [];
    const { name, link, sha512 } = entry.photograph;
    return [{ name, path: link ?? store.getPath(sha512) }];
  });
}

function findImport(entries: readonly Entry[]): Entry | undefined {
  return entries.find(({ kind, state }) => kind === 'import' && state !== 'dropped');
}
