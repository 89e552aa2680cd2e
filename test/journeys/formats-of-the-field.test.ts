import { expect, test } from 'vitest';
import { setFlags } from '../support/run-pas.ts';
import { useMock, useVocabularies } from '../support/use-mock.ts';

/** Files of phones and GIS programs, as `pas import` reads them. */

const mock = useMock();
const home = useVocabularies(mock);

const NOTE = 'příliš žluťoučký kůň';
const gpx = `<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="49.84" lon="15.17"><name>T-1</name><desc>${NOTE}</desc></wpt></gpx>`;
const feature = JSON.stringify({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [15.17, 49.84] },
  properties: { local_id: 'T-1', poznamka: NOTE },
});
const FILES: Readonly<Record<string, Buffer | string>> = {
  'walk.gpx': gpx,
  'walk.geojson': feature,
  'walk.csv': `WKT,local_id,poznamka,geom_system\n"POINT Z (15.17 49.84 201)",T-1,${NOTE},4326\n`,
};

const SET = setFlags('projekt=C-202400101', 'stav=1', 'pristupnost=archeolog');

test.each(Object.keys(FILES))(
  '%s has the same content as the others: what one format imported, another repeats',
  async (name) => {
    const homeCopy = home.copy();
    homeCopy.file('first.gpx', gpx);
    homeCopy.file(name, FILES[name] ?? '');
    expect(await homeCopy.json('import', name, ...SET, '--dry-run')).toMatchObject({
      added: 1,
      invalid: 0,
    });
    expect(await homeCopy.json('import', 'first.gpx', ...SET)).toMatchObject({
      added: 1,
    });
    const again = await homeCopy.json('import', name, ...SET);
    expect(again).toMatchObject({ added: 0, updated: 0, unchanged: 1, invalid: 0 });
    expect(again.issues.filter(({ severity }) => severity === 'error')).toEqual([]);
  },
);
