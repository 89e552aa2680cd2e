/**
 * Makes the regions, districts and cadastral areas of the demo seed: `node
 * mock-server/seed/make-areas.mjs`.
 *
 * The country's outline is a simplified drawing, and every area is the part of it that lies nearest
 * to the area's place (a Voronoi cell). The areas therefore cover the country without gaps and
 * without overlaps, and a district or a region is the exact union of its areas. Names of places and
 * codes of districts and regions are real; borders and most codes of cadastral areas are not.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const folder = new URL('./demo/', import.meta.url);
const { COUNTRY_OUTLINE, REGIONS } = parseAreas(
  readFileSync(new URL('./areas.txt', import.meta.url), 'utf8'),
);
/** Degrees of longitude shrink with latitude: distances are compared in this scale. */
const LONGITUDE_SCALE = Math.cos((49.8 * Math.PI) / 180);

// --- areas.txt
// ----------------------------------------------------------------------------------------------------

function parseAreas(text) {
  const outline = [];
  const regions = [];
  for (const line of text.split('\n')) {
    const region = /^region (\d+) ([CM]) (.+) \/ ([^[]+?)(?: \[(.+)\])?$/.exec(line);
    const district = /^ {2}(\d+) (\S+) ([^:]+): (.+)$/.exec(line);
    if (region !== null) {
      const [, code, letter, name, nameEn, email] = region;
      regions.push({ code: `ruian-${code}`, letter, name, nameEn, email, districts: [] });
    } else if (district !== null) {
      const [, code, plate, name, places] = district;
      regions.at(-1).districts.push({
        code: `ruian-${code}`,
        plate,
        name,
        places: places.split('; ').map(parsePlace),
      });
    } else if (/^ {2}\d/.test(line)) {
      const points = line.replace(/,$/, '').split(', ');
      outline.push(...points.map((point) => point.trim().split(' ').map(Number)));
    }
  }
  return { COUNTRY_OUTLINE: outline, REGIONS: regions };
}

function parsePlace(text) {
  const [, name, longitude, latitude, code] = /^(.+?) ([\d.]+) ([\d.]+)(?: = (\S+))?$/.exec(text);
  return { name, point: [Number(longitude), Number(latitude)], code };
}

// --- geometry
// ---------------------------------------------------------------------------------------------------

const roundCoordinate = (number) => Math.round(number * 1e6) / 1e6;
const getPointKey = ([x, y]) => `${x} ${y}`;

function computeSignedArea(ring) {
  let twice = 0;
  ring.forEach(([x, y], index) => {
    const [nextX, nextY] = ring[(index + 1) % ring.length];
    twice += x * nextY - nextX * y;
  });
  return twice / 2;
}

function isInside([x, y], ring) {
  let inside = false;
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [xi, yi] = ring[i];
    const [xj, yj] = ring[j];
    if (yi > y !== yj > y && x < ((xj - xi) * (y - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}

/** Positive where a point lies nearer to `place` than to `other`; zero on the line between them. */
function compareNearness([x, y], place, other) {
  const dx = (other[0] - place[0]) * LONGITUDE_SCALE;
  const dy = other[1] - place[1];
  const middle = [((place[0] + other[0]) / 2) * LONGITUDE_SCALE, (place[1] + other[1]) / 2];
  return (middle[0] - x * LONGITUDE_SCALE) * dx + (middle[1] - y) * dy;
}

/**
 * Cuts a ring (which may be concave) by the line between two places and keeps the parts on the
 * first one's side. Crossings are paired along the line, so that a part cut off by a notch becomes
 * a ring of its own.
 */
function cut(ring, place, other) {
  const sides = ring.map((point) => compareNearness(point, place, other));
  if (sides.every((side) => side >= 0)) return [ring];
  if (sides.every((side) => side <= 0)) return [];
  const chains = findChainsOfKeptSide(ring, sides);
  const measureAlong = ([x, y]) =>
    -(x * LONGITUDE_SCALE) * (other[1] - place[1]) + y * (other[0] - place[0]) * LONGITUDE_SCALE;
  const ends = chains
    .flatMap((chain, index) => [
      { index, end: 'first', at: measureAlong(chain[0]) },
      { index, end: 'last', at: measureAlong(chain.at(-1)) },
    ])
    .sort((a, b) => a.at - b.at);
  const partner = new Map();
  for (let i = 0; i < ends.length; i += 2) {
    partner.set(`${ends[i].index}${ends[i].end}`, ends[i + 1]);
    partner.set(`${ends[i + 1].index}${ends[i + 1].end}`, ends[i]);
  }
  const left = new Set(chains.keys());
  const rings = [];
  while (left.size > 0) {
    const [start] = left;
    const closed = [];
    let current = start;
    do {
      closed.push(...chains[current]);
      left.delete(current);
      current = partner.get(`${current}last`).index;
    } while (current !== start);
    rings.push(closed);
  }
  return rings;
}

/**
 * The runs of the ring on the kept side, each from its crossing into the side to its crossing out
 * of it.
 */
function findChainsOfKeptSide(ring, sides) {
  const chains = [];
  const start = ring.findIndex((_, index) => sides[index] < 0);
  let chain;
  for (let step = 1; step <= ring.length; step += 1) {
    const before = (start + step - 1) % ring.length;
    const here = (start + step) % ring.length;
    if (sides[before] < 0 !== sides[here] < 0) {
      const share = sides[before] / (sides[before] - sides[here]);
      const crossing = ring[before].map(
        (value, axis) => value + (ring[here][axis] - value) * share,
      );
      if (sides[here] >= 0) chain = [crossing];
      else chains.push([...chain, crossing]);
    }
    if (sides[here] >= 0) chain.push(ring[here]);
  }
  return chains;
}

function makeCell(place, places) {
  const byDistance = places
    .filter((other) => other !== place)
    .sort((a, b) => measureDistance(place.point, a.point) - measureDistance(place.point, b.point));
  let rings = [COUNTRY_OUTLINE];
  for (const other of byDistance)
    rings = rings.flatMap((ring) => cut(ring, place.point, other.point));
  return rings.map(tidy).filter((ring) => ring.length > 2);
}

function measureDistance(a, b) {
  return Math.hypot((a[0] - b[0]) * LONGITUDE_SCALE, a[1] - b[1]);
}

/** Rounded, without repeated points, counter-clockwise. */
function tidy(ring) {
  const rounded = ring.map(([x, y]) => [roundCoordinate(x), roundCoordinate(y)]);
  const distinct = rounded.filter(
    (point, index) => getPointKey(point) !== getPointKey(rounded.at(index - 1)),
  );
  return computeSignedArea(distinct) < 0 ? distinct.reverse() : distinct;
}

/**
 * The union of cells that share edges exactly: an edge that two cells run in opposite directions
 * disappears.
 */
function uniteCells(cells) {
  const edges = new Map();
  for (const ring of cells.flat()) {
    ring.forEach((point, index) => {
      const next = ring[(index + 1) % ring.length];
      const back = `${getPointKey(next)}|${getPointKey(point)}`;
      if (edges.has(back)) edges.delete(back);
      else edges.set(`${getPointKey(point)}|${getPointKey(next)}`, [point, next]);
    });
  }
  const rings = stitch([...edges.values()]);
  const outer = rings.filter((ring) => computeSignedArea(ring) > 0);
  const holes = rings.filter((ring) => computeSignedArea(ring) < 0);
  return outer.map((ring) => [
    ring,
    ...holes.filter((hole) => isInside(computeMiddleOfEdge(hole), ring)),
  ]);
}

function computeMiddleOfEdge([a, b]) {
  return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
}

function stitch(edges) {
  const byStart = new Map();
  for (const edge of edges)
    byStart.set(getPointKey(edge[0]), [...(byStart.get(getPointKey(edge[0])) ?? []), edge]);
  const rings = [];
  for (const first of edges) {
    if (!byStart.get(getPointKey(first[0])).includes(first)) continue;
    const ring = [];
    let edge = first;
    while (edge !== undefined) {
      ring.push(edge[0]);
      const starting = byStart.get(getPointKey(edge[0]));
      starting.splice(starting.indexOf(edge), 1);
      edge = byStart.get(getPointKey(edge[1]))[0];
    }
    rings.push(ring);
  }
  return rings;
}

function formatWkt(polygons) {
  const text = polygons.map(
    (rings) =>
      `(${rings.map((ring) => `(${[...ring, ring[0]].map(getPointKey).join(', ')})`).join(', ')})`,
  );
  return text.length === 1 ? `POLYGON${text[0]}` : `MULTIPOLYGON(${text.join(', ')})`;
}

const formatPointWkt = ([x, y]) => `POINT(${x} ${y})`;

// --- the three files
// --------------------------------------------------------------------------------------------

const districts = REGIONS.flatMap((region) =>
  region.districts.map((district) => ({ ...district, region })),
);
const places = districts.flatMap((district) =>
  district.places.map((place) => ({ ...place, district })),
);
const outside = places.filter((place) => !isInside(place.point, COUNTRY_OUTLINE));
if (outside.length > 0)
  throw new Error(`outside the outline: ${outside.map((place) => place.name).join(', ')}`);

// Codes that no real area is likely to have, except where the place carries a real one.
places.forEach((place, index) => {
  place.code ??= `ruian-${600101 + index * 37}`;
});
for (const place of places) place.cell = makeCell(place, places);

const makeCells = (some) => uniteCells(some.map((place) => place.cell));
write(
  'regions.json',
  REGIONS.map((region) => ({
    kod: region.code,
    nazev: region.name,
    nazev_en: region.nameEn,
    rada_id: region.letter,
    ...(region.email === undefined ? {} : { email: region.email }),
    point: formatPointWkt(region.districts[0].places[0].point),
    boundary: formatWkt(
      makeCells(places.filter((place) => place.district.region.code === region.code)),
    ),
  })),
);
write(
  'districts.json',
  districts.map((district) => ({
    kod: district.code,
    nazev: district.name,
    nazev_en: district.name,
    spz: district.plate,
    kraj: district.region.code,
    point: formatPointWkt(district.places[0].point),
    boundary: formatWkt(makeCells(places.filter((place) => place.district.code === district.code))),
  })),
);
write(
  'cadastral-areas.json',
  places.map((place) => ({
    kod: place.code,
    nazev: place.name,
    okres: place.district.code,
    point: formatPointWkt(place.point),
    boundary: formatWkt(place.cell.map((ring) => [ring])),
  })),
);

function write(name, rows) {
  writeFileSync(new URL(name, folder), `[\n${rows.map(formatRow).join(',\n')}\n]\n`);
  process.stdout.write(`${name}: ${rows.length}\n`);
}

/** As the formatter would lay it out: one property a line. */
function formatRow(row) {
  const lines = Object.entries(row).map(
    ([key, value]) => `    ${JSON.stringify(key)}: ${JSON.stringify(value)}`,
  );
  return `  {\n${lines.join(',\n')}\n  }`;
}
