/**
 * Draws the photographs of the example finds: `node examples/photos/made-by/make-photographs.mjs`.
 * No camera and nobody else's picture was used; the same pictures come out every time.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { draw } from './draw.mjs';
import { addExif, encodeJpeg, encodePng } from './image-files.mjs';
import { KRTINSKO } from './krtinsko.mjs';
import { KUTNOHORSKO } from './kutnohorsko.mjs';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..');
[...KUTNOHORSKO, ...KRTINSKO].forEach((find, index) => {
  const label = find.file.slice(0, 8);
  const isPng = find.file.endsWith('.png');
  const picture = isPng
    ? draw({ ...find, label, seed: index }, 400, 300, { grain: false })
    : draw({ ...find, label, seed: index }, 560, 420, { grain: true });
  // Fewer shades make the lossless files small.
  if (isPng)
    picture.rgb.forEach((value, i) => {
      picture.rgb[i] = value & 0xf8;
    });
  const bytes = isPng ? encodePng(picture) : encodeJpeg(picture, 68);
  writeFileSync(join(folder, find.file), bytes);
  process.stdout.write(`${find.file} ${bytes.length} bytes\n`);
});

/** A camera card of the field tutorial: the day and the place of the find KH24-016. */
const card = join(folder, '..', 'card');
mkdirSync(card, { recursive: true });
const brooch = KUTNOHORSKO.find(({ file }) => file === 'KH24-014.jpg');
[
  { file: 'KH24-016 detail.jpg', taken: '2024:10:12 10:04:00', pixelsPerCm: 90 },
  { file: 'IMG_4127.jpg', taken: '2024:10:12 10:03:20', pixelsPerCm: 60 },
].forEach(({ file, taken, pixelsPerCm }, index) => {
  const shot = { ...brooch, pixelsPerCm, label: 'KH24-016', seed: 100 + index };
  const picture = draw(shot, 560, 420, { grain: true });
  const place = { taken, latitude: 49.84412, longitude: 15.16578 };
  writeFileSync(join(card, file), addExif(encodeJpeg(picture, 68), place));
});
