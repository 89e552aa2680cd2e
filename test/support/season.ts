import { readFileSync, writeFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { expectEnded, type Home, type Run } from './run-pas.ts';

const HEADER = [
  'local_id',
  'projekt',
  'hloubka',
  'okolnosti',
  'obdobi',
  'druh_nalezu',
  'specifikace',
  'nalezce',
  'datum_nalezu',
  'stav',
  'geom_system',
  'pristupnost',
  'lokalizace',
  'lon',
  'lat',
  'poznamka',
  'photos',
];

export type SeasonOptions = {
  readonly photos?: boolean;
  readonly state?: 1 | 2;
  readonly day?: string;
};

/**
 * A table of `count` finds with, if wanted, a photograph each, in the home's folder. Returns the
 * table's path.
 */
export function writeSeason(
  home: Home,
  count: number,
  { photos = false, state = 1, day = '2024-06-01' }: SeasonOptions = {},
): string {
  const rows = Array.from({ length: count }, (_, index) => {
    const photo = `photo-${index + 1}.png`;
    if (photos) home.file(photo, tinyPng(index));
    return [
      `K-${index + 1}`,
      'C-202400101',
      String(index % 40),
      'HES-000560',
      'HES-000253',
      'HES-000691',
      'HES-000988',
      'OS-001507',
      day,
      String(state),
      '4326',
      'HES-000867',
      `pole ${index + 1}`,
      (14.4 + index * 0.0005).toFixed(5),
      '50.08000',
      `nález ${index + 1}`,
      photos ? photo : '',
    ];
  });
  return home.file('season.csv', [HEADER, ...rows].map((row) => row.join(';')).join('\n'));
}

/** A real PNG of one pixel; another colour, and so other bytes, for every index. */
export function tinyPng(index: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const check = Buffer.alloc(4);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  const pixel = Buffer.from([0, index & 255, (index >> 8) & 255, 128]);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixel)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Imports the table of such a season. */
export function importSeason(home: Home, count: number, options?: SeasonOptions): Promise<Run> {
  return home.do('import', writeSeason(home, count, options));
}

/** Imports and pushes such a season. @returns path of its table */
export async function sendSeason(
  home: Home,
  count: number,
  options?: SeasonOptions,
): Promise<string> {
  const table = writeSeason(home, count, options);
  await home.do('import', table);
  await home.do('push');
  return table;
}

/** Imports a find that was then changed here and in its table, so that it waits for an answer. */
export async function importConflict(home: Home): Promise<void> {
  const table = writeSeason(home, 1);
  await home.do('import', table);
  await home.do('edit', 'K-1', '--set', 'poznamka=here');
  writeFileSync(table, readFileSync(table, 'utf8').replace('nález 1', 'there'));
  await expectEnded(home.pas('import', table), 3);
}
