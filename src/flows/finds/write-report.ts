import { FileError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import type { Photograph } from '../../outbox/entry.ts';
import { loadImageLibrary, makeThumbnails } from '../../photo/thumbnail.ts';
import { readAssets } from '../../report/assets.ts';
import { type FindWithPictures, GENERATOR, renderPage } from '../../report/page.ts';
import type { Picture } from '../../report/report-model.ts';
import { openContentStore } from '../../store/content-store.ts';
import { readBeginning, writeOutputFile, writeToReader } from '../../store/output-file.ts';
import { gatherReport, type ReportRequest } from './gather-report.ts';
import type { GatheredFind } from './report-find.ts';

type PageRequest = ReportRequest & {
  readonly photosFolder: string;
  readonly photoPx: number;
  readonly onFind: (doneCount: number, total: number) => void;
};

type Destination =
  | { readonly stream: NodeJS.WriteStream }
  | { readonly file: string; readonly overwrite: boolean; readonly signal: AbortSignal };

/**
 * Writes the page find by find, and counts photographs without a picture on it.
 * @throws FileError where the file exists and is no report, unless it may be overwritten
 */
export async function writeReport(request: PageRequest, to: Destination) {
  if ('file' in to) assertReplaceable(to);
  const { report, finds } = gatherReport(request);
  let missing = 0;
  const pictured = addPictures(finds, request, await openPictures(request), () => {
    missing += 1;
  });
  const pieces = renderPage(report, pictured, readAssets());
  // A page with locations is private to the user who made it.
  const mode = report.places === 'shown' ? 0o600 : 0o644;
  let sizeBytes = 0;
  if ('stream' in to) await writeToReader(to.stream, pieces);
  else sizeBytes = await writeOutputFile(to.file, pieces, { overwrite: true, mode, signal: to.signal });
  return { report, missing, sizeBytes };
}

/** Refuses to replace a file that is no report, unless `overwrite` is set. */
function assertReplaceable({ file, overwrite }: { readonly file: string; readonly overwrite: boolean }): void {
  const beginning = readBeginning(file, Buffer.byteLength(GENERATOR));
  if (beginning === undefined || beginning === GENERATOR || overwrite) return;
  throw new FileError(file, t`${file} already exists and is not a report of pas.`, { hint: t`Add --force to replace it.` });
}

type PictureOf = (photograph: Photograph) => Promise<Picture>;

/** Returns undefined where no pictures are requested. */
async function openPictures({ pictures, photoPx, photosFolder }: PageRequest): Promise<PictureOf | undefined> {
  if (pictures === 'left-out') return undefined;
  const make = makeThumbnails({ maxPx: photoPx, library: await loadImageLibrary() });
  const { getPath: getContentPath } = openContentStore(photosFolder);
  return async ({ link, sha512, sizeBytes }) => {
    const picture = await make(link ?? getContentPath(sha512), sizeBytes);
    // An EXIF thumbnail may have any size, so a huge one is left out.
    const isHuge = picture.kind === 'image' && picture.jpeg.length > LARGEST_BYTES;
    return isHuge ? { kind: 'none', why: t`No picture: the picture in the photograph is too large.` } : picture;
  };
}

const LARGEST_BYTES = 600_000;

/** Number of finds whose pictures are made ahead of the current one, a balance of processor use and memory. */
const AHEAD = 6;

/** Yields each find with its pictures, in order. */
async function* addPictures(
  finds: readonly GatheredFind[],
  { places, onFind }: PageRequest,
  getPicture: PictureOf | undefined,
  onMissing: () => void,
): AsyncGenerator<FindWithPictures> {
  const withPictures = async ({ find, photographs }: GatheredFind): Promise<FindWithPictures> => {
    if (getPicture === undefined) return { find, photographs: [] };
    const pictures: FindWithPictures['photographs'][number][] = [];
    for (const photograph of photographs) {
      const picture = await getPicture(photograph);
      if (picture.kind === 'none') onMissing();
      // A file name may reveal the location.
      pictures.push({ name: places === 'shown' ? photograph.name : undefined, picture });
    }
    return { find, photographs: pictures };
  };
  const coming: Promise<FindWithPictures>[] = [];
  let next = 0;
  const begin = (): void => {
    const gathered = finds[next++];
    if (gathered === undefined) return;
    const pictured = withPictures(gathered);
    // An error is thrown when the find is awaited, so this suppresses the earlier unhandled rejection.
    pictured.catch(() => {});
    coming.push(pictured);
  };
  for (let count = 0; count < AHEAD; count++) begin();
  for (let doneCount = 1, first = coming.shift(); first !== undefined; doneCount++, first = coming.shift()) {
    yield await first;
    onFind(doneCount, finds.length);
    begin();
  }
}
