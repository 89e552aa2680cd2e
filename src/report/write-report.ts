import { memoize } from '../base/collections.ts';
import { writeOutputFile, writeToStdout } from '../base/disk/output-file.ts';
import { t } from '../base/message.ts';
import { compareCzech } from '../base/names.ts';
import { getPackageVersion } from '../base/own-files.ts';
import type { Vocabulary } from '../finds/vocabulary/term.ts';
import { listAreasTouchingBox, makeAreaLookup } from '../finds/vocabulary/term-lookup.ts';
import { findTermByIdent, listDirectSuperiors } from '../finds/vocabulary/terms.ts';
import { makeContentStore } from '../outbox/changes/content-store.ts';
import type { Photograph } from '../outbox/facts.ts';
import { findKnownAccount } from '../outbox/open-outbox.ts';
import { iterateFinds, type StoredFind } from '../outbox/stored-finds.ts';
import { loadImageLibrary, makeThumbnail, type Thumbnail } from '../photos/photograph.ts';
import { readPageAssets } from './html.ts';
import { planMapSheets } from './map.ts';
import { type FindWithPictures, renderPage } from './page.ts';
import {
  type CollectedFind,
  collectReportFind,
  type FindSources,
  type ReportSources,
} from './report-find.ts';
import {
  countFindsByState,
  type Label,
  type LabelledCount,
  type MappedFind,
  type MapSheet,
  type Report,
  type ReportFind,
  type ReportSettings,
} from './report-model.ts';

type PageRequest = ReportRequest & {
  readonly photosFolder: string;
  readonly onFind: (doneCount: number, total: number) => void;
};

type Destination =
  | { readonly stream: NodeJS.WriteStream }
  | { readonly file: string; readonly overwrite: boolean; readonly signal: AbortSignal };

type WrittenReport = {
  readonly report: Report;
  /** Number of photographs without a picture. */
  readonly missing: number;
  /** Size of the file; 0 for a stream. */
  readonly sizeBytes: number;
};

/**
 * Writes the page to a stream or a file: to a file as a whole or not at all, with access for its
 * user alone where it shows places. The content of all finds is collected first, pictures are made
 * while the page is written; `onFind` is called when those of a find are made. A stream that its
 * reader closes early is no error.
 * @throws UsageError where the file exists, without `overwrite`; FileError where the path is not
 * writable; DatabaseError where the disk is full; the reason of an aborted `signal`
 */
export async function writeReport(request: PageRequest, to: Destination): Promise<WrittenReport> {
  const { report, finds } = collectReport(request);
  let missing = 0;
  const pictured = addPictures(finds, request, await openPictures(request), () => {
    missing += 1;
  });
  const pieces = renderPage(report, pictured, readPageAssets());
  // A page with locations is private to the user who made it.
  const mode = report.places === 'shown' ? 0o600 : 0o644;
  let sizeBytes = 0;
  if ('stream' in to) await writeToStdout(to.stream, pieces);
  else sizeBytes = await writeOutputFile(to.file, pieces, { ...to, mode });
  return { report, missing, sizeBytes };
}

type PictureOf = (photograph: Photograph) => Promise<Thumbnail>;

async function openPictures({ photosFolder }: PageRequest): Promise<PictureOf> {
  const library = await loadImageLibrary();
  const copies = makeContentStore(photosFolder);
  return ({ sha512 }) => makeThumbnail(library, copies.getPath(sha512));
}

/** Finds whose pictures are made at once, a balance of processor use and memory. */
const TOGETHER = 8;

/**
 * Yields each find with its pictures, in order; those of {@link TOGETHER} finds are made at once.
 * @param onMissing called for each photograph without a picture
 */
async function* addPictures(
  finds: readonly CollectedFind[],
  { places, onFind }: PageRequest,
  getPicture: PictureOf,
  onMissing: () => void,
): AsyncGenerator<FindWithPictures> {
  const withPictures = async ({ find, photographs }: CollectedFind): Promise<FindWithPictures> => {
    const pictures: FindWithPictures['photographs'][number][] = [];
    for (const photograph of photographs) {
      const picture = await getPicture(photograph);
      if (picture.kind === 'none') onMissing();
      // A file name may reveal the location.
      pictures.push({ name: places === 'shown' ? photograph.name : undefined, picture });
    }
    return { find, photographs: pictures };
  };
  for (let from = 0; from < finds.length; from += TOGETHER) {
    const group = finds.slice(from, from + TOGETHER);
    for (const [index, pictured] of (await Promise.all(group.map(withPictures))).entries()) {
      onFind(from + index + 1, finds.length);
      yield pictured;
    }
  }
}

type ReportRequest = ReportSources &
  ReportSettings & {
    readonly vocabulary: Vocabulary;
    readonly finds: readonly StoredFind[] | undefined;
  };

type CollectedReport = { readonly report: Report; readonly finds: readonly CollectedFind[] };

/**
 * Collects the content of the page except pictures, which are larger and are made when they are
 * written.
 */
function collectReport(request: ReportRequest): CollectedReport {
  const sources = makeFindSources(request);
  const finds: CollectedFind[] = [];
  for (const stored of request.finds ?? iterateFinds(request.outbox))
    finds.push(collectReportFind(sources, stored, finds.length + 1));
  const reportFinds = finds.map(({ find }) => find);
  const mapped = reportFinds.filter(
    (find): find is ReportFind & MappedFind => find.place !== undefined,
  );
  const { madeMs, profile, places, vocabulary } = request;
  const account = findKnownAccount(request.outbox);
  const report: Report = {
    madeMs,
    profile,
    places,
    version: getPackageVersion(),
    account:
      account === undefined
        ? undefined
        : [account.name, account.organisation].filter((part) => part !== '').join(', '),
    finds: reportFinds.length,
    photographs: finds.reduce((sum, { photographs }) => sum + photographs.length, 0),
    withoutPlace: reportFinds.length - mapped.length,
    byState: countFindsByState(reportFinds),
    byPeriod: countBy(reportFinds, ({ period }) => period),
    byObjectType: countBy(reportFinds, ({ objectType }) => objectType),
    maps: completeSheets(vocabulary, planMapSheets(mapped)),
  };
  return { report, finds };
}

/** Makes the access to the data of finds; a vocabulary that was not harvested gives no labels. */
function makeFindSources({ outbox, recordBase, places, vocabulary }: ReportRequest): FindSources {
  return {
    outbox,
    recordBase,
    places,
    findTerm: memoize((ident: string) => findTermByIdent(vocabulary, ident)),
    findDistrict: memoize(
      (area: string) =>
        listDirectSuperiors(vocabulary, area).find(({ kind }) => kind === 'okres')?.label,
    ),
    lookupArea: makeAreaLookup(vocabulary),
  };
}

/** Counts by label, in the order of labels, finds without one last. */
function countBy<Find>(
  finds: readonly Find[],
  getLabel: (find: Find) => Label | undefined,
): LabelledCount[] {
  const counts = new Map<string, { key: string; label: string; count: number }>();
  for (const find of finds) {
    const label = getLabel(find);
    const key = label?.id ?? '';
    const entry = counts.get(key) ?? { key, label: label?.text ?? t`not given`, count: 0 };
    entry.count += 1;
    counts.set(key, entry);
  }
  return [...counts.values()].sort(
    (a, b) => Number(a.key === '') - Number(b.key === '') || compareCzech(a.label, b.label),
  );
}

/**
 * Areas are drawn at scales up to this many metres per drawing unit, about a millimetre and a half
 * on paper.
 */
const AREAS_BELOW_METRES = 60;
const TITLE_AREAS = 3;

/**
 * Adds titles and boundaries to planned maps: districts, and cadastral areas where the scale is
 * large enough for them; only those that were harvested with a boundary.
 */
function completeSheets(
  vocabulary: Vocabulary,
  planned: ReturnType<typeof planMapSheets>,
): MapSheet[] {
  return planned.map((sheet, index) => {
    const { kind, finds, frame } = sheet;
    const listAreas = (set: string) => listAreasTouchingBox(vocabulary, set, frame.box);
    return {
      ...sheet,
      title: kind === 'overview' ? t`Overview` : makeSheetTitle(finds, index + 1),
      districts: listAreas('ruian_okres'),
      areas: frame.metresPerUnit <= AREAS_BELOW_METRES ? listAreas('ruian_katastr') : [],
    };
  });
}

/** Returns the first areas with finds; the number of the map where none is known. */
function makeSheetTitle(finds: readonly MappedFind[], number: number): string {
  const areas = countBy(
    finds.filter(({ area }) => area !== undefined),
    ({ area = '' }) => ({ id: area, text: area }),
  );
  if (areas.length === 0) return t`Map ${number}`;
  const names = areas.slice(0, TITLE_AREAS).map(({ label }) => label);
  return names.join(', ') + (areas.length > TITLE_AREAS ? ' …' : '');
}
