import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeZip } from '../support/make-zip.ts';
import { setFlags } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';
import { useMock, useVocabularies } from '../support/use-mock.ts';

/** Files of phones and GIS programs, as `pas import` reads them. */

const mock = useMock();
const home = useVocabularies(mock);

const NOTE = 'příliš žluťoučký kůň';
const kml = (note = NOTE, link = ''): string =>
  `<kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark><name>T-1</name><description>${note}${link}</description><Point><coordinates>15.17,49.84</coordinates></Point></Placemark></Document></kml>`;
const gpx = `<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="49.84" lon="15.17"><name>T-1</name><desc>${NOTE}</desc></wpt></gpx>`;
const feature = JSON.stringify({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [15.17, 49.84] },
  properties: { local_id: 'T-1', poznamka: NOTE },
});
const FILES: Readonly<Record<string, Buffer | string>> = {
  'walk.kml': kml(),
  'walk.kmz': makeZip([{ name: 'doc.kml', content: kml() }]),
  'walk.gpx': gpx,
  'walk.geojsonl': `${feature}\n`,
  'walk.geojsons': `\u001e${feature}\n`,
  'walk.csv': `WKT,local_id,poznamka,geom_system\n"POINT Z (15.17 49.84 201)",T-1,${NOTE},4326\n`,
};

const SET = setFlags('projekt=C-202400101', 'stav=1', 'pristupnost=archeolog');

test.each(Object.keys(FILES))(
  '%s has the same content as the others: what one format imported, another repeats',
  async (name) => {
    const homeCopy = home.copy();
    homeCopy.file('first.kml', kml());
    homeCopy.file(name, FILES[name] ?? '');
    expect(await homeCopy.json('import', name, ...SET, '--dry-run')).toMatchObject({
      added: 1,
      invalid: 0,
    });
    expect(await homeCopy.json('import', 'first.kml', ...SET)).toMatchObject({
      added: 1,
    });
    const again = await homeCopy.json('import', name, ...SET);
    expect(again).toMatchObject({ added: 0, updated: 0, unchanged: 1, invalid: 0 });
    expect(again.issues.filter(({ severity }) => severity === 'error')).toEqual([]);
  },
);

describe('photographs in a KML archive', () => {
  test('that are not in it are looked for beside it, and reported if they are missing', async () => {
    const homeCopy = home.copy();
    homeCopy.file(
      'walk.kmz',
      makeZip([{ name: 'doc.kml', content: kml(NOTE, '&lt;img src="files/p 1.png"&gt;') }]),
    );
    const missing = await homeCopy.json('import', 'walk.kmz');
    expect(missing.issues).toContainEqual(expect.objectContaining({ rule: 'photo-missing' }));
    mkdirSync(join(homeCopy.folder, 'files'));
    homeCopy.file('files/p 1.png', tinyPng(7));
    expect(await homeCopy.json('import', 'walk.kmz')).toMatchObject({
      unchanged: 1,
      photos: 1,
    });
  });
});
