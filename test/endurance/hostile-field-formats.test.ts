import { describe, expect, test } from 'vitest';
import { makeWorkbook } from '../support/make-workbook.ts';
import { MEASURES_MEMORY, readPeakOfRefusal } from './peak-memory.ts';

/** Limit of memory of `pas` for any file of at most 64 MiB. */
const MAX_BYTES = 400 * 1024 * 1024;

/** Ten million of them stay below the limit of a file. */
const line = (point: string): string => point.repeat(10_000_000);
const TOO_LARGE = /is larger than pas reads/;
const gpx = (inner: string): string =>
  `<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">${inner}</gpx>`;
const waypoint = (note: string): string =>
  `<wpt lat="49" lon="15"><name>A</name><desc>${note}</desc></wpt>`;

describe.skipIf(!MEASURES_MEMORY)(
  'a file built to fill the memory is one clear error with little memory:',
  () => {
    test.each<readonly [string, string, () => Buffer | string, RegExp]>([
      [
        'a line of ten million points in GeoJSON',
        'walk.geojson',
        () => `{"type":"Feature","geometry":{"coordinates":[${line('[1,2],')}[1,2]]}}`,
        TOO_LARGE,
      ],
      [
        'a line of ten million points in well-known text',
        'walk.csv',
        () => `local_id,WKT\nA,"LINESTRING (${line('1 2,')}1 2)"\n`,
        /Line 2 of the file has \d+ characters, which is too much for one find/,
      ],
      [
        'a million waypoints',
        'season.gpx',
        () => gpx('<wpt lat="49" lon="15"><name>A</name></wpt>'.repeat(1_000_000)),
        TOO_LARGE,
      ],
      [
        'waypoints of long notes',
        'season.gpx',
        () => gpx(waypoint('č'.repeat(1_000_000)).repeat(30)),
        /The cell has 1000000 characters/,
      ],
      [
        'a workbook of three hundred thousand rows',
        'season.xlsx',
        () =>
          makeWorkbook([
            {
              name: 'a',
              rows: [['local_id'], ...Array.from({ length: 300_000 }, (_, at) => [`A-${at}`])],
            },
          ]),
        TOO_LARGE,
      ],
    ])('%s', async (_, name, content, message) => {
      const { peakBytes } = await readPeakOfRefusal(name, content(), message);
      expect(peakBytes).toBeLessThan(MAX_BYTES);
    });
  },
);
