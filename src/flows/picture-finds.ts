import { t } from '../base/language.ts';
import type { MakeThumbnail } from '../find/thumbnail.ts';
import type { Photograph } from '../outbox/entry.ts';
import type { FindWithPictures } from '../report/page.ts';
import type { Picture } from '../report/report.ts';
import type { GatheredFind } from './report-find.ts';

type PictureOptions = {
  /** Undefined where no pictures are wanted. */
  readonly makeThumbnail: MakeThumbnail | undefined;
  /** Where the copy of a queued photograph lies. */
  readonly pathOf: (sha512: Buffer) => string;
  /** A file's name may tell its place. */
  readonly names: 'shown' | 'left-out';
  /** After each find, and each photograph that had no picture. */
  readonly onFind: (done: number) => void;
  readonly onMissing: () => void;
};

/** So many finds' pictures are made ahead of the one that is being written: the processors are busy, the memory stays small. */
const AHEAD = 6;

/** Each find with its pictures, in order. */
export async function* pictureFinds(finds: readonly GatheredFind[], options: PictureOptions): AsyncGenerator<FindWithPictures> {
  const coming: Promise<FindWithPictures>[] = [];
  let next = 0;
  const begin = (): void => {
    const gathered = finds[next++];
    if (gathered === undefined) return;
    const pictured = withPictures(gathered, options);
    // A failure is thrown when its turn comes, not before.
    pictured.catch(() => {});
    coming.push(pictured);
  };
  for (let count = 0; count < AHEAD; count++) begin();
  for (let done = 1, first = coming.shift(); first !== undefined; done++, first = coming.shift()) {
    yield await first;
    options.onFind(done);
    begin();
  }
}

async function withPictures({ find, photographs }: GatheredFind, options: PictureOptions): Promise<FindWithPictures> {
  const { makeThumbnail, names } = options;
  if (makeThumbnail === undefined) return { find, photographs: [] };
  const pictures: FindWithPictures['photographs'][number][] = [];
  for (const photograph of photographs) {
    const picture = await pictureOf(photograph, makeThumbnail, options);
    if (picture.kind === 'none') options.onMissing();
    pictures.push({ name: names === 'shown' ? photograph.name : undefined, picture });
  }
  return { find, photographs: pictures };
}

async function pictureOf(
  { link, sha512, sizeBytes }: Photograph,
  make: MakeThumbnail,
  { pathOf }: PictureOptions,
): Promise<Picture> {
  const picture = await make(link ?? pathOf(sha512), sizeBytes);
  // Of a page one megabyte long for one picture nobody has anything: a camera's own small picture may be any size.
  const isHuge = picture.kind === 'image' && picture.jpeg.length > LARGEST_BYTES;
  return isHuge ? { kind: 'none', why: t`No picture: the one in the photograph is too large.` } : picture;
}

const LARGEST_BYTES = 600_000;
