import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { ROOT } from './measure.mjs';

const HEADER =
  'local_id,projekt,hloubka,okolnosti,obdobi,druh_nalezu,specifikace,nalezce,datum_nalezu,stav,geom_system,pristupnost,lokalizace,lon,lat,poznamka,photos';

/**
 * A table of finds `B-1`, `B-2`, … of one day with some photographs each, in a folder.
 * @returns the table's path
 */
export function writeSeason(folder, finds, photosEach, day = '2024-06-01') {
  mkdirSync(folder, { recursive: true });
  const rows = Array.from({ length: finds }, (_, index) => {
    const photos = Array.from({ length: photosEach }, (_each, photo) =>
      writePhotograph(folder, index * photosEach + photo),
    );
    const values = [
      'HES-000560',
      'HES-000253',
      'HES-000691',
      'HES-000988',
      'OS-001507',
      day,
      '1',
      '4326',
      'HES-000867',
    ];
    const place = [
      'u cesty',
      (14.42 + (index % 100) / 10_000).toFixed(4),
      '50.08',
      `nález ${index + 1}`,
    ];
    return [
      `B-${index + 1}`,
      'C-202400101',
      String(index % 40),
      ...values,
      ...place,
      photos.join(';'),
    ].join(',');
  });
  const path = join(folder, `season-${finds}-${photosEach}.csv`);
  writeFileSync(path, `${HEADER}\n${rows.join('\n')}\n`);
  return path;
}

const SMALL = readFileSync(join(ROOT, 'examples', 'photos', 'KH24-003.png'));

/** A small picture with a chunk of text that makes it differ from all others. */
function writePhotograph(folder, number) {
  const name = `photo-${number}.png`;
  writeFileSync(join(folder, name), Buffer.concat([SMALL, deflateSync(Buffer.from(`${number}`))]));
  return name;
}
